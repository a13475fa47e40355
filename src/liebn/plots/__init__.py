"""Pictures of points before, within and after normalization.

Positive definite 2×2 matrices are drawn in their cone, as ellipses, or as shapes in a disc;
rotations by where they carry an arrow.
"""

from liebn.plots.disc import disc_coordinates, draw_geodesics
from liebn.plots.scenes import (
    cone_coordinates,
    draw_ellipses,
    draw_rotations,
    draw_spd,
    pair,
    panels,
)
from liebn.plots.steps import steps

__all__ = [
    "cone_coordinates",
    "disc_coordinates",
    "draw_ellipses",
    "draw_geodesics",
    "draw_rotations",
    "draw_spd",
    "pair",
    "panels",
    "steps",
]
