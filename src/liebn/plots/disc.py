"""The disc of shapes: 2×2 covariances up to their size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from liebn.groups.base import Gyrogroup
from liebn.plots.scenes import QUIET, Array, cone_coordinates


def disc_coordinates(points: Tensor) -> Array:
    """(2b, a - c) / (a + c) of each [[a, b], [b, c]], from (N, 2, 2) to (N, 2).

    It is where the ray of the cone through a point meets the disc at height 1. The disc is Klein's
    model of the hyperbolic plane, so that geodesics of the affine-invariant metric are straight.
    """
    places = cone_coordinates(points)
    return places[:, :2] / places[:, 2:]


def draw_geodesics(axes: Any, spaces: Mapping[str, Gyrogroup], start: Tensor, end: Tensor) -> None:
    """Draw the geodesic between two 2×2 matrices in each space, from light to dark.

    Args:
        axes: flat ones.
        spaces: by the name that the legend shall give; the last is drawn in black, dashed.
        start: a matrix.
        end: another.
    """
    from matplotlib import colormaps

    angle = np.linspace(0, 2 * np.pi, 145)
    axes.plot(np.cos(angle), np.sin(angle), **QUIET)
    t = torch.linspace(0, 1, 61, dtype=start.dtype)
    shades = colormaps["viridis"](np.linspace(0.85, 0.15, len(spaces)))
    for place, (name, space) in enumerate(spaces.items()):
        line = disc_coordinates(space.geodesic(start, end, t))
        last = place == len(spaces) - 1
        axes.plot(*line.T, label=name, color="black" if last else shades[place],
                  linestyle="--" if last else "-", linewidth=1.5)  # fmt: skip
    axes.plot(*disc_coordinates(torch.stack([start, end])).T, "o", color="black", markersize=4)
    axes.plot(0, 0, "*", color="black", markersize=10)
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.legend(loc="lower left")
