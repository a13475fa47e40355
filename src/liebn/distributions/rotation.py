"""Gaussians on rotation groups.

In R = exp(V) with angles θ, the volume of the group is that of the algebra times the squares of
sinc(a/2) = sin(a/2)/(a/2) over the roots a = θ_i ± θ_j, and θ_i where n is odd. All angles are
below π: there lies the cut locus, at which the density is truncated.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from liebn.distributions.law import Flat, Law, rejection
from liebn.groups import SO

NODES = 200


class RotationLaw(Law):
    """The Gaussians of SO(n), exact for every n, with d² = 2 Σ θ²."""

    def __init__(self, n: int) -> None:
        self.n, self.space = n, SO(n)
        self.algebra = Flat(self.space)
        self.dimension = n * (n - 1) // 2

    def log_partition(self, sigma: float) -> float:
        """The logarithm of the volume of SO(n) and of the mean of exp(-d²/2σ²) over it."""
        whole, part = angles(self.n, math.inf), angles(self.n, sigma)
        return self.log_volume + part.log_determinant - whole.log_determinant

    def variance(self, sigma: float) -> float:
        """Less than m σ², since the space closes."""
        return angles(self.n, sigma).variance

    @property
    def log_volume(self) -> float:
        """Log vol SO(n): the spheres S¹, …, S^{n-1}, and √2 in each dimension for ‖·‖_F."""
        spheres = sum(
            math.log(2) + k / 2 * math.log(math.pi) - math.lgamma(k / 2)
            for k in range(2, self.n + 1)
        )
        return spheres + 0.5 * self.dimension * math.log(2)

    def tangents(self, sigma: float, n: int, generator: torch.Generator | None) -> Tensor:
        """By rejection, from the algebra or from uniform rotations, whichever wastes less."""
        mass = self.log_partition(sigma)
        algebra, uniform = mass - self.flat_log_partition(sigma), mass - self.log_volume

        def from_algebra(count: int) -> tuple[Tensor, Tensor]:
            v = self.algebra.tangents(sigma, count, generator)
            return v, log_volume_factor(v)

        def from_group(count: int) -> tuple[Tensor, Tensor]:
            x = self.space.random(count, generator=generator, dtype=torch.float64)
            v = self.space.log(x)
            return v, -self.space.squared_norm(v) / (2 * sigma**2)

        propose = from_algebra if algebra >= uniform else from_group
        return rejection(propose, math.exp(max(algebra, uniform)), n, generator)


def log_volume_factor(v: Tensor) -> Tensor:
    """Log of Π sinc² over the roots, -∞ beyond the cut locus, for skew matrices (..., n, n).

    The eigenvalues of i·v are ±θ, so their sums of pairs are ± the roots, and zeros.
    """
    eigenvalues = torch.linalg.eigvalsh(1j * v)
    i, j = torch.triu_indices(v.shape[-1], v.shape[-1], 1)
    halves = 0.5 * (eigenvalues[..., i] + eigenvalues[..., j])
    inside = eigenvalues.abs().amax(-1) < torch.pi
    weights = torch.sinc(halves / torch.pi).abs().log().sum(-1)
    return weights.masked_fill(~inside, -torch.inf)


class Angles(NamedTuple):
    """The angles of a Gaussian rotation: a determinantal process, like those of a uniform one.

    Attributes:
        log_determinant: log det ∫ p_j p_k w exp(-θ²/σ²) dθ, p_j = (1 - cos θ)^j, over [0, π].
        variance: E 2 Σ θ².
    """

    log_determinant: float
    variance: float


@lru_cache(maxsize=256)
def angles(n: int, sigma: float) -> Angles:
    """By Weyl's integration formula, with Gauss-Legendre nodes.

    The density Π (cos θ_i - cos θ_j)² Π w(θ_i) exp(-θ_i²/σ²) is the square of a Vandermonde
    determinant; w = 1 - cos θ where n is odd, else 1.
    """
    end = min(math.pi, 12 * sigma)
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    theta, weights = 0.5 * end * (nodes + 1), 0.5 * end * weights
    versine = 2 * np.sin(0.5 * theta) ** 2
    density = weights * np.exp(-((theta / sigma) ** 2)) * (versine if n % 2 else 1.0)
    powers = versine[:, None] ** np.arange(n // 2)
    # The determinant of a Gram matrix without forming it.
    q, r = np.linalg.qr(np.sqrt(density)[:, None] * powers)
    log_determinant = 2 * np.log(np.abs(np.diag(r))).sum()
    return Angles(float(log_determinant), float(2 * (theta[:, None] ** 2 * q**2).sum()))
