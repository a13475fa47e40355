"""What Riemannian optimisation needs beside geoopt.

`SpecialOrthogonal` is geoopt's missing manifold of rotations, `register_orthonormal` makes a weight
that stays on its manifold, and `parameter_groups` keeps weight decay away from such weights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from liebn.optim.orthonormal import register_orthonormal
from liebn.optim.parameter_groups import parameter_groups

if TYPE_CHECKING:
    from liebn.optim.special_orthogonal import SpecialOrthogonal

__all__ = ["SpecialOrthogonal", "parameter_groups", "register_orthonormal"]


def __getattr__(name: str) -> Any:
    # The manifold is a subclass of geoopt's, and geoopt is slow to import.
    if name == "SpecialOrthogonal":
        from liebn.optim.special_orthogonal import SpecialOrthogonal

        return SpecialOrthogonal
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
