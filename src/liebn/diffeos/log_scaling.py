"""The logarithm of correlation matrices scaled to unit row sums."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from liebn.diffeos.base import CorrelationMap
from liebn.linalg import cholesky, correlation, newton, numerics, spectral
from liebn.linalg.autograd import Function

FAILURE = (
    "needs a scaling D with unit row sums of D C D that Newton's method did not find: it is too "
    "ill-conditioned; try float64"
)


LOG = spectral.UpToRounding(spectral.Log())
"""D C D is a product, and may be singular as far as its dtype can tell."""


class LogScaling(CorrelationMap):
    """C ↦ log(D C D), where D C D has unit row sums; onto symmetric matrices of row sums zero.

    The positive diagonal D is unique (Marshall and Olkin 1968; Thanwerdas 2024): it minimises
    ½ d·Cd - Σ log d_i, which is strictly convex and self-concordant, so that Newton's method,
    damped by a formula, ends from anywhere. D is differentiated implicitly, to second order. The
    inverse is the correlation matrix of exp(S).
    """

    def forward(self, x: Tensor) -> Tensor:
        return correlation.centred(spectral.apply(_scale(x, _Scaling.apply(x)), LOG))

    def inverse(self, y: Tensor) -> Tensor:
        return correlation.normalise(spectral.exp(y))

    def differential(self, x: Tensor, v: Tensor) -> Tensor:
        d = _Scaling.apply(x)
        scaled, moved = _scale(x, d), _scale(v, d)
        # With r = dD / D: (D C D + I) r = - (D V D) 1.
        r = _solve(scaled, -moved.sum(-1))
        moved = moved + (r.unsqueeze(-1) + r.unsqueeze(-2)) * scaled
        return correlation.centred(spectral.differential(scaled, moved, LOG))

    def inverse_differential(self, y: Tensor, w: Tensor) -> Tensor:
        moved = spectral.differential(y, w, spectral.Exp())
        return correlation.differential(spectral.exp(y), moved)


def _scale(x: Tensor, d: Tensor) -> Tensor:
    """D X D."""
    return d.unsqueeze(-1) * x * d.unsqueeze(-2)


def _solve(scaled: Tensor, right: Tensor) -> Tensor:
    """(D C D + I)⁻¹ b, of a matrix with no eigenvalue below 1."""
    eye = torch.eye(scaled.shape[-1], dtype=scaled.dtype, device=scaled.device)
    return torch.linalg.solve(scaled + eye, right.unsqueeze(-1)).squeeze(-1)


def _trial(x: Tensor, d: Tensor) -> newton.Trial:
    """Row sums less one, and the Newton step: d ∘ q with (D C D + I) q = 1 - (D C D) 1."""
    scaled = _scale(x, d)
    missing = 1 - scaled.sum(-1)
    q = _solve(scaled, missing)
    # The minimum lies farther along the line than 1 / (1 + ‖q₋‖): by -log(1 + x) ≤ x²/2 - x where
    # q is positive, and by self-concordance in its negative part q₋.
    shrinking = torch.linalg.vector_norm(q.clamp_max(0), dim=-1, keepdim=True)
    floor = numerics.SLACK * numerics.eps(x.dtype) * scaled.abs().sum(-1)
    residual = (missing.abs() / floor).amax(-1)
    return newton.Trial(residual, torch.zeros_like(residual), d * q / (1 + shrinking))


class _Scaling(Function):
    """The d of C, the root of Cd = 1/d: (C + diag d⁻²) dd = - dC d."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        cholesky.factor(x)  # refuses what is not positive definite, by name
        # The best multiple of (1, ..., 1); rounding may leave a sum of zero.
        total = x.sum((-2, -1)).clamp_min(numerics.eps(x.dtype))
        start = (x.shape[-1] / total).sqrt().unsqueeze(-1).expand(x.shape[:-1])
        d = newton.solve(lambda d: _trial(x, d), start, FAILURE)
        ctx.save_for_backward(x, d)
        return d

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        x, d = ctx.saved_tensors
        z = d * _solve(_scale(x, d), d * grad)
        return -spectral.symmetrise(z.unsqueeze(-1) * d.unsqueeze(-2))
