"""The power deformation of positive definite matrices."""

from __future__ import annotations

from torch import Tensor

from liebn.diffeos.base import PositiveDefiniteMap
from liebn.linalg import spectral


class Power(PositiveDefiniteMap):
    """P ↦ P^θ on positive definite matrices, (..., n, n), for a real θ ≠ 0."""

    def __init__(self, theta: float) -> None:
        super().__init__()
        if theta == 0:
            raise ValueError("P^θ is not invertible at θ = 0; the limit of its metrics is LEM-like")
        self.theta = float(theta)

    def forward(self, x: Tensor) -> Tensor:
        return spectral.power(x, self.theta)

    def inverse(self, y: Tensor) -> Tensor:
        # What comes from a model is a product, and may be singular as far as its dtype can tell.
        return spectral.apply(y, spectral.UpToRounding(spectral.Power(1 / self.theta)))

    def differential(self, x: Tensor, v: Tensor) -> Tensor:
        return spectral.differential(x, v, spectral.Power(self.theta))

    def inverse_differential(self, y: Tensor, w: Tensor) -> Tensor:
        return spectral.differential(y, w, spectral.Power(1 / self.theta))

    def extra_repr(self) -> str:
        return f"θ={self.theta:g}"
