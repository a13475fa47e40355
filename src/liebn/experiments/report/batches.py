"""Pictures of what the layer does, computed by the library from a simulated batch."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from liebn.experiments.report.blocks import Figure, Panel, Section
from liebn.experiments.report.svg import style, svg
from liebn.groups import SO, spd
from liebn.groups.base import Gyrogroup
from liebn.plots import draw_ellipses, draw_geodesics, draw_rotations, draw_spd, steps

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

SEED = 0
SAMPLES = 60
SCALE = 0.3
COLORS = ("#d9741a", "#2f7ed8", "#2a9d62", "#8b62cf")
"""Of the steps."""
ENDS = torch.tensor([[[6.0, 0.4], [0.4, 0.2]], [[0.9, -1.6], [-1.6, 3.2]]], dtype=torch.float64)
"""Two covariances of different shapes."""
THETAS = (1.0, 0.5, 0.25, 0.0)


def batch(space: Gyrogroup, generator: torch.Generator) -> Tensor:
    """Points scattered about a point away from the identity, (SAMPLES, *point_shape)."""
    shape = space.model.point_shape
    tangents = torch.randn(SAMPLES + 1, *shape, generator=generator, dtype=torch.float64)
    return space.compose(space.exp(0.6 * tangents[0]), space.exp(0.35 * tangents[1:]))


def blank(size: float, projection: str | None = None) -> tuple[Drawing, Any]:
    """A square figure of that many inches, and its axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(size, size), layout="constrained")
    return figure, figure.add_subplot(projection=projection)


@functools.cache
def layer() -> Section:
    """A batch before, centred, scaled and biased, in the cone, as ellipses, and on the sphere."""
    generator = torch.Generator().manual_seed(SEED)
    found = []
    for name, space, kinds in (
        ("2×2 covariances", spd(2, "aim"), ("cone", "ellipses")),
        ("rotations of space", SO(3), ("sphere",)),
    ):
        points = batch(space, generator)
        tangent = torch.randn(space.model.point_shape, generator=generator, dtype=points.dtype)
        done = steps(space, points, SCALE, space.exp(0.4 * tangent))
        largest = max(float(torch.linalg.matrix_norm(after, "nuc").max()) for _, after in done)
        for kind in kinds:
            for (step, after), color in zip(done, COLORS, strict=True):
                with style():
                    drawing, axes = blank(2.8, None if kind == "ellipses" else "3d")
                    if kind == "cone":
                        draw_spd(axes, after, color, top=largest)
                    elif kind == "ellipses":
                        draw_ellipses(axes, after, color)
                        ends = (-(largest**0.5), largest**0.5)
                        axes.set(xlim=ends, ylim=ends)
                    else:
                        draw_rotations(axes, after, color)
                    axes.set_title(f"{name}, {step}")
                found.append(Panel(f"layer-{kind}-{step}", svg(drawing), f"{name}, {step}."))
    caption = (
        f"What the layer does to a batch of {SAMPLES} points, simulated from seed {SEED} and "
        "computed by the library for this page: moved so that its mean is the identity (star, or "
        f"dashed circle), scaled to a standard deviation of {SCALE}, moved by the bias."
    )
    return Section("What the layer does to a batch", [Figure(caption, found, least=9)])


@functools.cache
def morphing() -> Section:
    """Geodesics as θ goes to 0."""
    found = []
    for metric in ("aim", "lcm"):
        spaces: dict[str, Gyrogroup] = {f"θ = {t:g}": spd(2, metric, theta=t) for t in THETAS}
        with style():
            drawing, axes = blank(4.4)
            draw_geodesics(axes, spaces, *ENDS)
            axes.set_title(metric.upper())
        alt = f"Geodesics under {metric.upper()} as θ goes to 0."
        found.append(Panel(f"morphing-{metric}", svg(drawing), alt))
    caption = (
        "Geodesics between two covariances as θ goes to 0: AIM becomes LEM, and LCM becomes LEM "
        "with another inner product, whose geodesics are the same. A point of the disc is a matrix "
        "up to its size, (2b, a − c) / (a + c) of [[a, b], [b, c]]; the star is the identity."
    )
    return Section("What θ does", [Figure(caption, found)])
