"""Algorithms 1 and 2 of the paper on positive definite matrices, written out plainly.

Everything goes through torch.linalg.eigh and cholesky and their own derivatives; the mean under the
affine-invariant metric is an unrolled Karcher flow. Slow, undefined at repeated eigenvalues, and
independent of the library.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

STEPS = 60
"""Of the Karcher flow; on batches of moderate spread it gains a digit in one or two."""


def function(x: Tensor, f: Callable[[Tensor], Tensor]) -> Tensor:
    """U f(Λ) Uᵀ."""
    values, vectors = torch.linalg.eigh(0.5 * (x + x.mT))
    return (vectors * f(values).unsqueeze(-2)) @ vectors.mT


def power(x: Tensor, exponent: Tensor | float) -> Tensor:
    """X^p."""
    return function(x, lambda values: values**exponent)


def log_cholesky(x: Tensor) -> Tensor:
    """The strict lower part of the Cholesky factor, and the logarithm of its diagonal."""
    lower = torch.linalg.cholesky(x)
    return lower.tril(-1) + torch.diag_embed(lower.diagonal(dim1=-2, dim2=-1).log())


def from_log_cholesky(y: Tensor) -> Tensor:
    """The matrix with that factor."""
    lower = y.tril(-1) + torch.diag_embed(y.diagonal(dim1=-2, dim2=-1).exp())
    return lower @ lower.mT


def squares(v: Tensor, alpha: float, beta: float) -> Tensor:
    """α ‖V‖² + β (tr V)²."""
    trace = v.diagonal(dim1=-2, dim2=-1).sum(-1)
    return alpha * v.square().sum((-2, -1)) + beta * trace.square()


@dataclass
class AffineInvariant:
    """(θ, α, β)-AIM: the codomain is the positive definite matrices under K P Kᵀ, K = chol Q."""

    theta: float = 1.0
    alpha: float = 1.0
    beta: float = 0.0

    def into(self, x: Tensor) -> Tensor:
        return power(x, self.theta)

    def out_of(self, y: Tensor) -> Tensor:
        return power(y, 1 / self.theta)

    def neutral(self, n: int) -> Tensor:
        return torch.eye(n, dtype=torch.float64)

    def move(self, q: Tensor, p: Tensor) -> Tensor:
        k = torch.linalg.cholesky(q)
        return k @ p @ k.mT

    def move_back(self, q: Tensor, p: Tensor) -> Tensor:
        k = torch.linalg.inv(torch.linalg.cholesky(q))
        return k @ p @ k.mT

    def from_tangent(self, v: Tensor) -> Tensor:
        return function(0.5 * (v + v.mT), torch.exp)

    def mean(self, p: Tensor) -> Tensor:
        m = p.mean(0)
        for _ in range(STEPS):
            root, inverse = power(m, 0.5), power(m, -0.5)
            step = function(inverse @ p @ inverse, torch.log).mean(0)
            m = root @ function(step, torch.exp) @ root
        return m

    def variance(self, centred: Tensor) -> Tensor:
        norms = squares(function(centred, torch.log), self.alpha, self.beta)
        return norms.mean() / self.theta**2

    def scale(self, centred: Tensor, factor: Tensor) -> Tensor:
        return power(centred, factor)

    def between(self, p: Tensor, q: Tensor, share: float) -> Tensor:
        root, inverse = power(p, 0.5), power(p, -0.5)
        return root @ power(inverse @ q @ inverse, share) @ root


@dataclass
class Flat:
    """A codomain that is a vector space: LEM through the logarithm, θ-LCM through log-Cholesky."""

    into: Callable[[Tensor], Tensor]
    out_of: Callable[[Tensor], Tensor]
    project: Callable[[Tensor], Tensor]
    norm: Callable[[Tensor], Tensor]

    def neutral(self, n: int) -> Tensor:
        return torch.zeros(n, n, dtype=torch.float64)

    def move(self, q: Tensor, p: Tensor) -> Tensor:
        return p + q

    def move_back(self, q: Tensor, p: Tensor) -> Tensor:
        return p - q

    def from_tangent(self, v: Tensor) -> Tensor:
        return self.project(v)

    def mean(self, p: Tensor) -> Tensor:
        return p.mean(0)

    def variance(self, centred: Tensor) -> Tensor:
        return self.norm(centred).mean()

    def scale(self, centred: Tensor, factor: Tensor) -> Tensor:
        return factor * centred

    def between(self, p: Tensor, q: Tensor, share: float) -> Tensor:
        return (1 - share) * p + share * q


def log_euclidean(alpha: float = 1.0, beta: float = 0.0) -> Flat:
    """(α, β)-LEM."""
    return Flat(
        lambda x: function(x, torch.log),
        lambda y: function(y, torch.exp),
        lambda v: 0.5 * (v + v.mT),
        lambda v: squares(v, alpha, beta),
    )


def deformed_log_cholesky(theta: float = 1.0) -> Flat:
    """θ-LCM: the power first, then the Cholesky factor."""
    return Flat(
        lambda x: log_cholesky(power(x, theta)),
        lambda y: power(from_log_cholesky(y), 1 / theta),
        torch.tril,
        lambda v: squares(v, 1.0, 0.0) / theta**2,
    )


Codomain = AffineInvariant | Flat


@dataclass
class Statistics:
    """A running mean, in the codomain, and a running variance."""

    mean: Tensor
    var: Tensor = field(default_factory=lambda: torch.ones((), dtype=torch.float64))

    def updated(self, space: Codomain, mean: Tensor, var: Tensor, share: float) -> Statistics:
        """Both moved by a share towards those of a batch."""
        moved = space.between(self.mean, mean, share)
        return Statistics(moved, (1 - share) * self.var + share * var)

    def detached(self) -> Statistics:
        return Statistics(self.mean.detach(), self.var.detach())


def normalise(
    space: Codomain, p: Tensor, statistics: Statistics, b: Tensor, s: Tensor, eps: float
) -> Tensor:
    """Centring, scaling and biasing in the codomain; b is the tangent vector of B."""
    centred = space.move_back(statistics.mean, p)
    scaled = space.scale(centred, s / (statistics.var + eps).sqrt())
    return space.move(space.from_tangent(b), scaled)


def batch_statistics(space: Codomain, p: Tensor) -> Statistics:
    """Mean and variance of a batch."""
    mean = space.mean(p)
    return Statistics(mean, space.variance(space.move_back(mean, p)))


def algorithm_1(
    space: Codomain,
    x: Tensor,
    running: Statistics,
    b: Tensor,
    s: Tensor,
    *,
    training: bool,
    eps: float = 1e-5,
    gamma: float = 0.1,
) -> tuple[Tensor, Statistics]:
    """Normalized matrices, and the running statistics afterwards."""
    p = space.into(x)
    used = running
    if training:
        used = batch_statistics(space, p)
        running = running.updated(space, used.mean, used.var, gamma).detached()
    return space.out_of(normalise(space, p, used, b, s, eps)), running


def algorithm_2(
    space: Codomain,
    x: Tensor,
    running: tuple[Statistics, Statistics],
    b: Tensor,
    s: Tensor,
    *,
    training: bool,
    gamma_train: float,
    gamma: float = 0.1,
    eps: float = 1e-5,
) -> tuple[Tensor, tuple[Statistics, Statistics]]:
    """The same with momentum; `running` is the pair for training and the pair for testing."""
    p = space.into(x)
    for_training, for_testing = running
    used = for_testing
    if training:
        batch = batch_statistics(space, p)
        used = for_training.updated(space, batch.mean, batch.var, gamma_train)
        for_testing = for_testing.updated(space, batch.mean, batch.var, gamma).detached()
        for_training = used.detached()
    return space.out_of(normalise(space, p, used, b, s, eps)), (for_training, for_testing)


def gamma_train(epoch: int, last: int, rho: float) -> float:
    """The paper's schedule, 1 - ρ^{max(K - k, 0) / (K - 1)} + ρ."""
    return 1 - rho ** (max(last - epoch, 0) / (last - 1)) + rho
