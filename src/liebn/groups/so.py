"""The rotation group of each dimension."""

from __future__ import annotations

from liebn.groups.rotation import Rotations
from liebn.groups.space_rotation import SpaceRotations


def SO(n: int) -> Rotations:  # noqa: N802
    """Rotations of Rⁿ, n×n matrices, with the bi-invariant metric d(R, S) = ‖log RᵀS‖_F."""
    return SpaceRotations() if n == 3 else Rotations(n)
