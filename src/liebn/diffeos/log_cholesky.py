"""The log-Cholesky map of positive definite matrices."""

from __future__ import annotations

from torch import Tensor

from liebn.diffeos.base import PositiveDefiniteMap
from liebn.linalg import cholesky


def _diagonal(x: Tensor) -> Tensor:
    return x.diagonal(dim1=-2, dim2=-1)


class LogCholesky(PositiveDefiniteMap):
    """P = L Lᵀ ↦ ⌊L⌋ + log diag L, positive definite to lower triangular, (..., n, n)."""

    def forward(self, x: Tensor) -> Tensor:
        lower = cholesky.factor(x)
        return lower.tril(-1) + _diagonal(lower).log().diag_embed()

    def inverse(self, y: Tensor) -> Tensor:
        lower = self._factor(y)
        return lower @ lower.mT

    def differential(self, x: Tensor, v: Tensor) -> Tensor:
        lower = cholesky.factor(x)
        inverse = cholesky.inverse(lower)
        change = lower @ cholesky.half_lower(inverse @ v @ inverse.mT)
        return change.tril(-1) + (_diagonal(change) / _diagonal(lower)).diag_embed()

    def inverse_differential(self, y: Tensor, w: Tensor) -> Tensor:
        lower = self._factor(y)
        change = w.tril(-1) + (_diagonal(w) * _diagonal(lower)).diag_embed()
        product = change @ lower.mT
        return product + product.mT

    @staticmethod
    def _factor(y: Tensor) -> Tensor:
        return y.tril(-1) + _diagonal(y).exp().diag_embed()
