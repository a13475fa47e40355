"""Scenes in three dimensions: the cone of 2×2 matrices and the sphere of directions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from torch import Tensor

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = npt.NDArray[np.float64]
Draw = Callable[[Any, Tensor, str], None]

QUIET: dict[str, Any] = {"color": "0.75", "linewidth": 0.5}


def _mark(axes: Any, points: Array, identity: Array, color: str) -> None:
    axes.scatter(*points.T, depthshade=False, color=color, s=14, zorder=2)
    axes.scatter(*identity, depthshade=False, color="black", marker="*", s=120, zorder=3)
    axes.computed_zorder = False
    axes.set_axis_off()


def draw_spd(axes: Any, points: Tensor, color: str) -> None:
    """Draw positive definite matrices, (N, 2, 2), in the cone they fill, and the identity.

    The coordinates (2b, a - c, a + c) of [[a, b], [b, c]] make it the round cone whose height
    exceeds the distance from its axis.
    """
    a, b, c = (v.detach().numpy() for v in (points[:, 0, 0], points[:, 0, 1], points[:, 1, 1]))
    top = float(np.max(a + c))
    angle = np.linspace(0, 2 * np.pi, 73)
    for height in np.linspace(top / 4, top, 4):
        axes.plot(height * np.cos(angle), height * np.sin(angle), height, **QUIET)
    for side in angle[::6]:
        axes.plot([0, top * np.cos(side)], [0, top * np.sin(side)], [0, top], **QUIET)
    _mark(axes, np.stack([2 * b, a - c, a + c], 1), np.array([0.0, 0.0, 2.0]), color)


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
    axes.set_box_aspect((1, 1, 1))
    axes.view_init(elev=30, azim=35)


def pair(rows: list[tuple[str, Draw, Tensor, Tensor]]) -> Figure:
    """A figure with one row for each (title, drawing function, before, after)."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4 * len(rows)), layout="constrained")
    for row, (title, draw, before, after) in enumerate(rows):
        for column, (when, points) in enumerate([("before", before), ("after", after)]):
            axes = figure.add_subplot(len(rows), 2, 2 * row + column + 1, projection="3d")
            draw(axes, points, "tab:blue" if column else "tab:orange")
            axes.set_title(f"{title}, {when}")
    return figure
