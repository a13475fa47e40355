"""Scenes: the cone of 2×2 matrices, their ellipses, and the sphere of directions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from torch import Tensor

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = npt.NDArray[np.float64]
Draw = Callable[[Any, Tensor, str], None]

QUIET: dict[str, Any] = {"color": "0.6", "linewidth": 0.5}
COLORS = ("tab:orange", "tab:blue", "tab:green", "tab:purple")


def _mark(axes: Any, points: Array, identity: Array, color: str) -> None:
    axes.scatter(*points.T, depthshade=False, color=color, s=14, zorder=2)
    axes.scatter(*identity, depthshade=False, color="black", marker="*", s=120, zorder=3)
    axes.computed_zorder = False
    axes.set_axis_off()


def draw_spd(axes: Any, points: Tensor, color: str, top: float | None = None) -> None:
    """Draw positive definite matrices, (N, 2, 2), in the cone they fill, and the identity.

    The coordinates (2b, a - c, a + c) of [[a, b], [b, c]] make it the round cone whose height
    exceeds the distance from its axis. It is drawn up to the trace `top`, or to the largest.
    """
    places = cone_coordinates(points)
    top = float(places[:, 2].max()) if top is None else top
    angle = np.linspace(0, 2 * np.pi, 73)
    for height in np.linspace(top / 4, top, 4):
        axes.plot(height * np.cos(angle), height * np.sin(angle), height, **QUIET)
    for side in angle[::6]:
        axes.plot([0, top * np.cos(side)], [0, top * np.sin(side)], [0, top], **QUIET)
    _mark(axes, places, np.array([0.0, 0.0, 2.0]), color)
    axes.set_box_aspect((1, 1, 0.6), zoom=1.25)
    axes.view_init(elev=15)


def cone_coordinates(points: Tensor) -> Array:
    """(2b, a - c, a + c) of each [[a, b], [b, c]], from (N, 2, 2) to (N, 3)."""
    a, b, c = (v.detach().numpy() for v in (points[:, 0, 0], points[:, 0, 1], points[:, 1, 1]))
    return np.stack([2 * b, a - c, a + c], 1)


def draw_ellipses(axes: Any, points: Tensor, color: str) -> None:
    """Draw positive definite matrices P, (N, 2, 2), as ellipses xᵀP⁻¹x = 1, and the identity's."""
    values, vectors = np.linalg.eigh(points.detach().numpy())
    angle = np.linspace(0, 2 * np.pi, 73)
    circle = np.stack([np.cos(angle), np.sin(angle)])
    for outline in vectors @ (np.sqrt(values)[:, :, None] * circle):
        axes.plot(*outline, color=color, linewidth=0.7, alpha=0.5)
    axes.plot(*circle, color="black", linewidth=1.5, linestyle="--")
    axes.set_aspect("equal")
    axes.set_axis_off()


def draw_rotations(axes: Any, points: Tensor, color: str) -> None:
    """Draw rotations of space, (N, 3, 3), by where they carry (1, 1, 1) / √3, and the identity."""
    start = np.full(3, 3**-0.5)
    angle = np.linspace(0, 2 * np.pi, 73)
    for height in np.linspace(-0.8, 0.8, 5):
        radius = (1 - height**2) ** 0.5
        axes.plot(radius * np.cos(angle), radius * np.sin(angle), height, **QUIET)
    for side in angle[::6]:
        arc = np.linspace(-np.pi / 2, np.pi / 2, 37)
        x, y = np.cos(arc) * np.cos(side), np.cos(arc) * np.sin(side)
        axes.plot(x, y, np.sin(arc), **QUIET)
    _mark(axes, points.detach().numpy() @ start, start, color)
    axes.set_box_aspect((1, 1, 1), zoom=1.25)
    axes.view_init(elev=30, azim=35)


def projection(draw: Draw) -> str | None:
    """The kind of axes that a drawing function needs, for `Figure.add_subplot`."""
    return None if draw is draw_ellipses else "3d"


def pair(rows: list[tuple[str, Draw, Tensor, Tensor]]) -> Figure:
    """A figure with one row for each (title, drawing function, before, after)."""
    return panels([(title, draw, [("before", before), ("after", after)])
                   for title, draw, before, after in rows])  # fmt: skip


def panels(rows: Sequence[tuple[str, Draw, Sequence[tuple[str, Tensor]]]]) -> Figure:
    """A figure with one row for each (title, drawing function, batches with their names)."""
    from matplotlib.figure import Figure

    columns = max(len(batches) for _, _, batches in rows)
    figure = Figure(figsize=(4 * columns, 4 * len(rows)), layout="constrained")
    for row, (title, draw, batches) in enumerate(rows):
        for column, (name, points) in enumerate(batches):
            place = row * columns + column + 1
            axes = figure.add_subplot(len(rows), columns, place, projection=projection(draw))
            draw(axes, points, COLORS[column % len(COLORS)])
            axes.set_title(f"{title}, {name}")
    return figure
