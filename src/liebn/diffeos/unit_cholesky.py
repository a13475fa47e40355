"""The Cholesky factor of correlation matrices with a unit diagonal."""

from __future__ import annotations

import torch
from torch import Tensor

from liebn.diffeos.base import CorrelationMap
from liebn.linalg import cholesky


class UnitCholesky(CorrelationMap):
    """C = L Lᵀ ↦ diag(L)⁻¹ L - I, correlation to strictly lower triangular matrices, (..., n, n).

    Its inverse gives the rows of I + N unit length and multiplies them by each other: the chart of
    the Euclidean-Cholesky metric of Thanwerdas and Pennec (2022).
    """

    def forward(self, x: Tensor) -> Tensor:
        return _unit_factor(cholesky.factor(x)).tril(-1)

    def inverse(self, y: Tensor) -> Tensor:
        rows, _ = _unit_rows(y)
        return rows @ rows.mT

    def differential(self, x: Tensor, v: Tensor) -> Tensor:
        lower = cholesky.factor(x)
        inverse = cholesky.inverse(lower)
        half = cholesky.half_lower(inverse @ v @ inverse.mT)
        unit = _unit_factor(lower)
        return (unit @ half - half.diagonal(dim1=-2, dim2=-1).unsqueeze(-1) * unit).tril(-1)

    def inverse_differential(self, y: Tensor, w: Tensor) -> Tensor:
        rows, length = _unit_rows(y)
        w = w.tril(-1)
        along = torch.linalg.vecdot(rows, w).unsqueeze(-1)
        product = ((w - along * rows) / length) @ rows.mT
        return product + product.mT


def _unit_factor(lower: Tensor) -> Tensor:
    return lower / lower.diagonal(dim1=-2, dim2=-1).unsqueeze(-1)


def _unit_rows(y: Tensor) -> tuple[Tensor, Tensor]:
    """The rows of I + N at unit length, and what their lengths were, (..., n, 1)."""
    unit = y.tril(-1) + torch.eye(y.shape[-1], dtype=y.dtype, device=y.device)
    length = torch.linalg.vector_norm(unit, dim=-1, keepdim=True)
    return unit / length, length
