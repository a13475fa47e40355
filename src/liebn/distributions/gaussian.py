"""Gaussians about any mean: draws, densities and maximum likelihood."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import torch
from torch import Tensor

from liebn.distributions.law import Law, NoLawError
from liebn.distributions.laws import law_of
from liebn.groups import Gyrogroup


@dataclass(frozen=True)
class Gaussian:
    """N(M, σ²): p(x) = k(σ) exp(-d²(x, M) / 2σ²) against the Riemannian volume.

    Exact on vector spaces and their pullbacks, affine-invariant spaces, rotations, rigid motions,
    spheres, balls, lines among Grassmann manifolds, and products of these. On compact spaces d is
    cut off at the cut locus of M.

    Args:
        space: where.
        mean: M, one point.
        sigma: σ > 0; on a flat space of dimension m the Fréchet variance is m σ².
    """

    space: Gyrogroup
    mean: Tensor
    sigma: float
    law: Law = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.mean.shape != self.space.point_shape:
            raise ValueError(
                f"expected a mean of shape {tuple(self.space.point_shape)}, one point of "
                f"{self.space}, got {tuple(self.mean.shape)}"
            )
        if not 0 < self.sigma < math.inf:
            raise ValueError(f"expected a finite sigma > 0, got {self.sigma}")
        object.__setattr__(self, "law", law_of(self.space))

    @property
    def log_normalizer(self) -> float:
        """Log k(σ)."""
        return -self.law.log_partition(self.sigma)

    @property
    def variance(self) -> float:
        """The Fréchet variance E d²(x, M)."""
        return self.law.variance(self.sigma)

    def log_density(self, x: Tensor) -> Tensor:
        """Log p(x), of the batch shape."""
        square = self.space.squared_distance(self.mean, x)
        return self.log_normalizer - square / (2 * self.sigma**2)

    @torch.no_grad()
    def sample(self, n: int, generator: torch.Generator | None = None) -> Tensor:
        """Independent draws, (n, *point), in the dtype and on the device of the mean."""
        if n < 0:
            raise ValueError(f"expected a number of samples n ≥ 0, got {n}")
        model = self.space.model
        v = self.law.tangents(self.sigma, n, generator).to(self.mean.device)
        centre = self.space.to_model(self.mean.to(v.dtype))
        x: Tensor = self.space.from_model(model.compose(centre, model.exp(v)))
        return x.to(self.mean.dtype)


def sample_gaussian(
    space: Gyrogroup,
    mean: Tensor,
    sigma: float,
    n: int,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Draw n independent points of N(mean, σ²) on a space, (n, *point)."""
    return Gaussian(space, mean, sigma).sample(n, generator)


def fit(space: Gyrogroup, x: Tensor) -> Gaussian:
    """The Gaussian of maximum likelihood of points (N, *point), N ≥ 2.

    Its mean is the Fréchet mean, and its σ the one whose Fréchet variance is that of the points:
    (log p)' = 0 in σ says σ³ (log Z)'(σ) = v². On a flat space σ² = v²/m.
    """
    if x.dim() != 1 + len(space.point_shape) or len(x) < 2:
        raise ValueError(
            f"expected at least two points, (N, {', '.join(map(str, space.point_shape))}), got a "
            f"tensor of shape {tuple(x.shape)}"
        )
    law = law_of(space)
    with torch.no_grad():
        mean = space.mean(x)
        variance = float(space.squared_distance(mean, x).mean())
    if not variance > 0:
        raise NoLawError("expected points that differ, got a variance of 0, for which σ would be 0")
    return Gaussian(space, mean, sigma_of(law, variance))


def sigma_of(law: Law, variance: float) -> float:
    """The σ with a given Fréchet variance, which grows with σ, by bisection."""
    low = high = math.sqrt(variance / law.dimension)
    while law.variance(low) > variance:
        low /= 2
    while law.variance(high) < variance:
        high *= 2
        if high > 1e4 * low:
            raise NoLawError(
                f"expected points more concentrated than uniform ones, got a variance of "
                f"{variance:.4g}, which no σ gives on this compact space"
            )
    while high / low > 1 + 1e-13:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if law.variance(middle) < variance else (low, middle)
    return math.sqrt(low * high)
