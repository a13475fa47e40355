"""What there is to know of the Gaussians at the identity of a space."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import final

import torch
from torch import Tensor

from liebn.distributions.basis import orthonormal_basis
from liebn.groups import Gyrogroup

WORTHWHILE = 1e-6
"""The smallest share of proposals that it makes sense to keep."""


class NoLawError(ValueError):
    """No Gaussian can be drawn or normalized here."""


class Law(ABC):
    """The Gaussians N(E, σ²), with density exp(-‖log x‖² / 2σ²) / Z(σ), of all σ > 0.

    Translations are isometries, so these are the Gaussians about every mean.
    """

    dimension: int

    @abstractmethod
    def log_partition(self, sigma: float) -> float:
        """log Z(σ), where Z(σ) = ∫ exp(-‖log x‖² / 2σ²) dx = 1/k(σ)."""

    @abstractmethod
    def variance(self, sigma: float) -> float:
        """E ‖log x‖² = σ³ (log Z)'(σ), which grows with σ: the Fréchet variance."""

    @abstractmethod
    def tangents(self, sigma: float, n: int, generator: torch.Generator | None) -> Tensor:
        """The logarithms of n draws, (n, *model point), in float64."""

    @final
    def flat_log_partition(self, sigma: float) -> float:
        """log Z(σ) on a vector space of this dimension, (m/2) log 2πσ²."""
        return 0.5 * self.dimension * math.log(2 * math.pi * sigma**2)


class Flat(Law):
    """A vector space: log x = σ Σ z_i e_i with independent normal z_i."""

    def __init__(self, space: Gyrogroup) -> None:
        self.basis = orthonormal_basis(space)
        self.dimension = len(self.basis)

    def log_partition(self, sigma: float) -> float:
        """(m/2) log 2πσ²."""
        return self.flat_log_partition(sigma)

    def variance(self, sigma: float) -> float:
        """m σ²."""
        return self.dimension * sigma**2

    def tangents(self, sigma: float, n: int, generator: torch.Generator | None) -> Tensor:
        """Normal coordinates in an orthonormal basis."""
        return sigma * torch.tensordot(
            normal(n, self.dimension, generator=generator), self.basis, 1
        )


def normal(*shape: int, generator: torch.Generator | None) -> Tensor:
    """Standard normal numbers in float64."""
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def rejection(
    propose: Callable[[int], tuple[Tensor, Tensor]],
    acceptance: float,
    n: int,
    generator: torch.Generator | None,
) -> Tensor:
    """Exact draws: a proposal with log weight w ≤ 0 is kept with probability exp(w).

    Args:
        propose: from a count to as many proposals and their log weights.
        acceptance: the share of proposals that are kept.
        n: how many draws are wanted.
        generator: for the decisions.
    """
    if acceptance < WORTHWHILE:
        raise NoLawError(
            f"expected a Gaussian of which at least {WORTHWHILE:g} of the proposals are kept, "
            f"got {acceptance:.1e}: take a smaller space, or a σ nearer to 0"
        )
    kept: list[Tensor] = []
    missing = n
    while missing > 0:
        most = 1 << 18
        count = min(most, math.ceil(1.1 * missing / acceptance) + 16)
        points, weights = propose(count)
        uniform = torch.rand(count, generator=generator, dtype=torch.float64)
        chosen = points[uniform.log() < weights][:missing]
        kept.append(chosen)
        missing -= len(chosen)
    return torch.cat(kept) if kept else propose(1)[0][:0]
