"""The logarithm of unipotent triangular matrices."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from liebn.diffeos.base import Diffeo
from liebn.linalg import cholesky


class UnipotentLog(Diffeo):
    """N ↦ log(I + N), from strictly lower triangular matrices to themselves, (..., n, n).

    N is nilpotent, so the integrand of log(I + N) = ∫ N (I + tN)⁻¹ dt over [0, 1] is a polynomial
    in t of degree n - 2, and Gauss's rule with n // 2 nodes is exact, for the derivatives too. It
    does the work of the alternating series in N without its cancellations. The exponential is its
    finite series.
    """

    def forward(self, x: Tensor) -> Tensor:
        nodes, weights = _gauss(x)
        x = x.tril(-1)
        return x @ (weights * _resolvents(x, nodes)).sum(-3)

    def inverse(self, y: Tensor) -> Tensor:
        return _exponential(y.tril(-1))

    def differential(self, x: Tensor, v: Tensor) -> Tensor:
        """∫ (I + tN)⁻¹ V (I + tN)⁻¹ dt."""
        nodes, weights = _gauss(x)
        resolvents = _resolvents(x.tril(-1), nodes)
        return (weights * (resolvents @ v.tril(-1).unsqueeze(-3) @ resolvents)).sum(-3)

    def inverse_differential(self, y: Tensor, w: Tensor) -> Tensor:
        """∫ exp(tY) W exp((1 - t)Y) dt, of degree n - 2 in t again; t ↦ 1 - t swaps the nodes."""
        nodes, weights = _gauss(y)
        powers = _exponential(nodes * y.tril(-1).unsqueeze(-3))
        powers = powers + torch.eye(y.shape[-1], dtype=y.dtype, device=y.device)
        return (weights * (powers @ w.tril(-1).unsqueeze(-3) @ powers.flip(-3))).sum(-3)

    def project(self, x: Tensor) -> Tensor:
        return x.tril(-1)

    def violation(self, x: Tensor, point_dims: int) -> Tensor:
        finite = super().violation(x, point_dims)
        return torch.maximum(finite, torch.nan_to_num(x.triu()).abs().amax((-2, -1)))


def _gauss(x: Tensor) -> tuple[Tensor, Tensor]:
    """Nodes and weights on [0, 1] that integrate degree n - 1, each (n // 2, 1, 1)."""
    nodes, weights = np.polynomial.legendre.leggauss(x.shape[-1] // 2)
    columns = x.new_tensor(np.stack([0.5 + 0.5 * nodes, 0.5 * weights]))
    return columns[0, :, None, None], columns[1, :, None, None]


def _resolvents(x: Tensor, nodes: Tensor) -> Tensor:
    """(I + tN)⁻¹ for every node t, (..., nodes, n, n)."""
    identity = torch.eye(x.shape[-1], dtype=x.dtype, device=x.device)
    return cholesky.inverse(identity + nodes * x.unsqueeze(-3))


def _exponential(y: Tensor) -> Tensor:
    """exp(Y) - I of strictly lower triangular Y."""
    total = torch.zeros_like(y)
    for k in range(y.shape[-1] - 1, 0, -1):
        total = (y + y @ total) / k
    return total
