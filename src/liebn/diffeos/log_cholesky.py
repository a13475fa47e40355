"""The log-Cholesky map of positive definite matrices."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from liebn.diffeos.base import PositiveDefiniteMap
from liebn.linalg import cholesky, numerics, spectral
from liebn.linalg.autograd import Function, first_order


def _diagonal(x: Tensor) -> Tensor:
    return x.diagonal(dim1=-2, dim2=-1)


class LogCholesky(PositiveDefiniteMap):
    """P = L Lᵀ ↦ ⌊L⌋ + log diag L, positive definite to lower triangular, (..., n, n)."""

    def forward(self, x: Tensor) -> Tensor:
        return _Forward.apply(x)

    def inverse(self, y: Tensor) -> Tensor:
        if y.requires_grad and torch.is_grad_enabled():
            product: Tensor = _Inverse.apply(y)
            return product
        lower = _factor(y)
        return lower @ lower.mT

    def differential(self, x: Tensor, v: Tensor) -> Tensor:
        lower = cholesky.factor(x)
        inverse = cholesky.inverse(lower)
        change = lower @ cholesky.half_lower(inverse @ v @ inverse.mT)
        return change.tril(-1) + (_diagonal(change) / _diagonal(lower)).diag_embed()

    def inverse_differential(self, y: Tensor, w: Tensor) -> Tensor:
        lower = _factor(y)
        change = w.tril(-1) + (_diagonal(w) * _diagonal(lower)).diag_embed()
        product = change @ lower.mT
        return product + product.mT


def _factor(y: Tensor) -> Tensor:
    lower = y.clone().tril_()
    _diagonal(lower).exp_()
    numerics.require_finite(lower, 2, numerics.TOO_FAR)  # infinity times zero would be no number
    return lower


class _Forward(Function):
    """With L the factor and S = Φ(Lᵀ ∂L), the gradient is the symmetric part of L⁻ᵀ S L⁻¹."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        lower = cholesky.factor(x)
        ctx.save_for_backward(lower)
        y = lower.clone(memory_format=torch.contiguous_format)  # LAPACK's factor is transposed
        _diagonal(y).log_()
        return y

    @staticmethod
    @first_order
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        (lower,) = ctx.saved_tensors
        along = grad.clone()  # whose upper triangle does not enter the lower one of Lᵀ ∂L
        _diagonal(along).div_(_diagonal(lower))
        along = (lower.mT @ along).tril_()
        _diagonal(along).mul_(0.5)
        along = torch.linalg.solve_triangular(lower.mT, along, upper=True)
        along = torch.linalg.solve_triangular(lower, along, upper=False, left=False)
        return spectral.symmetrise(along)


class _Inverse(Function):
    """L Lᵀ, with gradient (∂ + ∂ᵀ) L in L."""

    @staticmethod
    def forward(ctx: Any, y: Tensor) -> Tensor:
        lower = _factor(y)
        ctx.save_for_backward(lower)
        return lower @ lower.mT

    @staticmethod
    @first_order
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        (lower,) = ctx.saved_tensors
        along = ((grad + grad.mT) @ lower).tril_()
        _diagonal(along).mul_(_diagonal(lower))
        return along
