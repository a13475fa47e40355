"""The off-diagonal part of the logarithm of correlation matrices."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from liebn.diffeos.base import CorrelationMap
from liebn.linalg import correlation, newton, numerics, spectral
from liebn.linalg.autograd import Function

FAILURE = (
    "needs a diagonal D with diag exp(S + D) = 1 that Newton's method did not find: its "
    "correlation matrix would be too ill-conditioned; try float64, or vectors that are shorter"
)


class OffLog(CorrelationMap):
    """C ↦ log C without its diagonal, correlation to hollow symmetric matrices, (..., n, n).

    Its inverse is exp(S + D) with the one diagonal D for which that has a unit diagonal (Archakov
    and Hansen 2021; Thanwerdas 2024). D is sought by Newton's method on log diag exp(S + D) = 0,
    whose Jacobian is regular everywhere, and differentiated implicitly, to second order.
    """

    def forward(self, x: Tensor) -> Tensor:
        return correlation.hollow(spectral.log(x))

    def inverse(self, y: Tensor) -> Tensor:
        # Normalising changes nothing but what rounding, and the end of the search, leave.
        return correlation.normalise(spectral.exp(_completed(y)))

    def differential(self, x: Tensor, v: Tensor) -> Tensor:
        return correlation.hollow(spectral.differential(x, v, spectral.Log()))

    def inverse_differential(self, y: Tensor, w: Tensor) -> Tensor:
        x = _completed(y)
        moved = _diagonal(spectral.differential(x, w, spectral.Exp()))
        answer = _response(x, moved).diag_embed()
        return correlation.hollow(spectral.differential(x, w - answer, spectral.Exp()))


def _diagonal(x: Tensor) -> Tensor:
    return x.diagonal(dim1=-2, dim2=-1)


def _completed(y: Tensor) -> Tensor:
    """S + D."""
    return y + _Diagonal.apply(y).diag_embed()


def _trial(s: Tensor, d: Tensor) -> newton.Trial:
    """Log diag exp(S + D), and the step -H⁻¹ (e ∘ log e) with e = diag exp(S + D), H = ∂e/∂D."""
    eigenvalues, vectors = spectral.eigh(s + d.diag_embed())
    e = torch.linalg.vecdot(vectors.square(), eigenvalues.exp().unsqueeze(-2))
    # H_ij = Σ_kl U_ik U_jk exp[λ_k, λ_l] U_il U_jl
    pairs = vectors.unsqueeze(-2) * vectors.unsqueeze(-3)
    differences = spectral.Exp().divided_difference(eigenvalues)
    h = torch.linalg.vecdot(pairs @ differences.unsqueeze(-3), pairs)
    logs = e.log()
    step, _ = torch.linalg.solve_ex(h, (e * logs).unsqueeze(-1))
    floor = numerics.SLACK * numerics.eps(s.dtype) * (1 + eigenvalues.abs().amax(-1))
    merit = torch.linalg.vector_norm(logs, dim=-1)
    return newton.Trial(logs.abs().amax(-1) / floor, merit, -step.squeeze(-1))


def _response(x: Tensor, change: Tensor) -> Tensor:
    """H⁻¹ change, with H = ∂ diag exp(X + D) / ∂D; differentiable as `spectral.differential` is."""
    basis = torch.eye(x.shape[-1], dtype=x.dtype, device=x.device).diag_embed()
    h = _diagonal(spectral.differential(x.unsqueeze(-3), basis, spectral.Exp()))
    return torch.linalg.solve(h, change.unsqueeze(-1)).squeeze(-1)


class _Diagonal(Function):
    """The D of S, as a vector. At X = S + D, diag Dexp(X)[dS] + H dD = 0."""

    @staticmethod
    def forward(ctx: Any, s: Tensor) -> Tensor:
        d = newton.solve(lambda d: _trial(s, d), torch.zeros_like(_diagonal(s)), FAILURE)
        ctx.save_for_backward(s, d)
        return d

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        s, d = ctx.saved_tensors
        x = s + d.diag_embed()
        return -spectral.differential(x, _response(x, grad).diag_embed(), spectral.Exp())
