"""The logarithm of positive definite matrices."""

from __future__ import annotations

from torch import Tensor

from liebn.diffeos.base import PositiveDefiniteMap
from liebn.linalg import spectral


class Log(PositiveDefiniteMap):
    """P ↦ log P, from positive definite to symmetric matrices, (..., n, n)."""

    def forward(self, x: Tensor) -> Tensor:
        return spectral.log(x)

    def inverse(self, y: Tensor) -> Tensor:
        return spectral.exp(y)

    def differential(self, x: Tensor, v: Tensor) -> Tensor:
        return spectral.differential(x, v, spectral.Log())

    def inverse_differential(self, y: Tensor, w: Tensor) -> Tensor:
        return spectral.differential(y, w, spectral.Exp())
