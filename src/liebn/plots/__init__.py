"""Pictures of points before and after normalization.

Positive definite 2×2 matrices are drawn in their cone, rotations by where they carry an arrow.
"""

from liebn.plots.scenes import draw_rotations, draw_spd, pair

__all__ = ["draw_rotations", "draw_spd", "pair"]
