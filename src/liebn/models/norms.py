"""Normalization for a network, as recipes: callables size -> layer that can be saved."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from torch import nn

from liebn.groups import SO, spd
from liebn.nn import DomainLieBatchNorm, LieBatchNorm

Norm = Callable[[int], nn.Module]
"""What a network takes: makes the layer for a given size."""


@dataclass(frozen=True)
class Recipe(ABC):
    """A norm that is plain data."""

    @abstractmethod
    def __call__(self, size: int) -> nn.Module:
        """The layer for this size."""


@dataclass(frozen=True)
class SPDNorm(Recipe):
    """`LieBatchNorm` on positive definite matrices; the size is that of the matrices.

    Attributes:
        metric: as in `groups.spd`, and so are theta, alpha and beta.
        momentum: share of a batch in the running statistics.
        statistics: "exact", "fast" or "reference".
        mean_only: translate and do not scale.
        bias: "tangent", for any optimiser, or "manifold", for those of geoopt.
    """

    metric: str = "aim"
    theta: float = 1.0
    alpha: float = 1.0
    beta: float = 0.0
    momentum: float = 0.1
    statistics: str = "exact"
    mean_only: bool = False
    bias: str = "tangent"

    def __call__(self, size: int) -> nn.Module:  # noqa: D102
        return LieBatchNorm(
            spd(size, self.metric, self.theta, self.alpha, self.beta),
            momentum=self.momentum,
            statistics=self.statistics,
            mean_only=self.mean_only,
            bias=self.bias,
        )


@dataclass(frozen=True)
class DomainNorm(Recipe):
    """`DomainLieBatchNorm` on positive definite matrices; the size is that of the matrices.

    Attributes:
        domains: how many domains there are at the start, named 0, 1, ...
        metric: as in `groups.spd`, and so are theta, alpha and beta.
        gamma: share of a batch in the running statistics for evaluation.
        schedule: (K, ρ), how their share in training falls, from 1 to ρ in epoch K.
        statistics: "exact", "fast" or "reference".
    """

    domains: int
    metric: str = "aim"
    theta: float = 1.0
    alpha: float = 1.0
    beta: float = 0.0
    gamma: float = 0.1
    schedule: tuple[int, float] | None = None
    statistics: str = "exact"

    def __call__(self, size: int) -> nn.Module:  # noqa: D102
        return DomainLieBatchNorm(
            spd(size, self.metric, self.theta, self.alpha, self.beta),
            self.domains,
            gamma=self.gamma,
            schedule=self.schedule,
            statistics=self.statistics,
        )


@dataclass(frozen=True)
class RotationNorm(Recipe):
    """`LieBatchNorm` on rotations of space; the size is the number of locations.

    Each location has a mean, a scale and a bias of its own.

    Attributes:
        momentum: share of a batch in the running statistics.
        statistics: "exact", "fast" or "reference".
        bias: "tangent", for any optimiser, or "manifold", for those of geoopt.
    """

    momentum: float = 0.1
    statistics: str = "exact"
    bias: str = "tangent"

    def __call__(self, size: int) -> nn.Module:  # noqa: D102
        return LieBatchNorm(
            SO(3), size, momentum=self.momentum, statistics=self.statistics, bias=self.bias
        )


RECIPES: dict[str, type[Recipe]] = {
    recipe.__name__: recipe for recipe in (SPDNorm, DomainNorm, RotationNorm)
}
"""What a saved network may name."""
