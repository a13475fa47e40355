"""A logarithm of positive definite matrices that learns its bases."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from liebn.diffeos.base import PositiveDefiniteMap
from liebn.linalg import spectral


class AdaptiveLog(PositiveDefiniteMap):
    """P ↦ g(log P) with a learnable increasing g, positive definite to symmetric, (..., n, n).

        g(a) = ½ (p + q) a + ½ (q - p) (√(1 + a²) - 1),    p, q > 0

    is the branch of a hyperbola through 0 with slopes p towards -∞ and q towards ∞: small
    eigenvalues λ become p log λ and large ones q log λ, up to a constant, with a smooth passage
    about λ = 1. At the start p = q = 1 and g(a) = a. The inverse of g is a hyperbola too.

    It extends the adaptive log-Euclidean metrics of Chen et al. (IEEE TIP 2024), which learn a base
    of the logarithm for each place in the order of the eigenvalues. There equal eigenvalues may get
    different images, which then depend on the choice of eigenvectors, and images may lose their
    order, in which the inverse would have to find them. Here one function serves all eigenvalues:
    the map is a function of the matrix, smooth at equal eigenvalues, and its inverse inverts it.

    Attributes:
        log_slopes: (log p, log q), zero at the start.
    """

    def __init__(self) -> None:
        super().__init__()
        self.log_slopes = nn.Parameter(torch.zeros(2))

    def _line(self, like: Tensor) -> tuple[Tensor, Tensor]:
        """The mean slope m = ½ (p + q), and k = ½ (q - p), so that pq = m² - k²."""
        p, q = self.log_slopes.to(like).exp().unbind()
        return 0.5 * (p + q), 0.5 * (q - p)

    def forward(self, x: Tensor) -> Tensor:
        a = spectral.log(x)
        m, k = self._line(a)
        return m * a + k * (spectral.apply(a, spectral.Hypotenuse()) - _eye(a))

    def inverse(self, y: Tensor) -> Tensor:
        return spectral.exp(self._solve(y))

    def differential(self, x: Tensor, v: Tensor) -> Tensor:
        a, b = spectral.log(x), spectral.differential(x, v, spectral.Log())
        m, k = self._line(a)
        return m * b + k * spectral.differential(a, b, spectral.Hypotenuse())

    def inverse_differential(self, y: Tensor, w: Tensor) -> Tensor:
        (m, k), (z, root) = self._line(y), self._centred(y)
        b = (m * w - k * spectral.differential(z, w, spectral.Hypotenuse())) / root.square()
        return spectral.differential(self._solve(y), b, spectral.Exp())

    def _solve(self, y: Tensor) -> Tensor:
        """A = g⁻¹(Y): with z as in `_centred`, a = (m z - k √(1 + z²)) / √(pq)."""
        (m, k), (z, root) = self._line(y), self._centred(y)
        return (m * z - k * spectral.apply(z, spectral.Hypotenuse())) / root

    def _centred(self, y: Tensor) -> tuple[Tensor, Tensor]:
        """Z = (Y + k) / √(pq), and √(pq): where Y = g(A), it is (m A + k √(1 + A²)) / √(pq)."""
        _, k = self._line(y)
        root = (0.5 * self.log_slopes.to(y).sum()).exp()
        return (y + k * _eye(y)) / root, root


def _eye(like: Tensor) -> Tensor:
    return torch.eye(like.shape[-1], dtype=like.dtype, device=like.device)
