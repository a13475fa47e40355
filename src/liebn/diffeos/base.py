"""The interface of an invertible map, and the two ways to make one of others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import torch
from torch import Tensor, nn

from liebn.linalg import correlation, numerics, positive


class Diffeo(nn.Module, ABC):
    """An invertible smooth map f of matrices or vectors, acting on any batch of them."""

    @abstractmethod
    def forward(self, x: Tensor) -> Tensor:
        """f(x)."""

    @abstractmethod
    def inverse(self, y: Tensor) -> Tensor:
        """f⁻¹(y)."""

    @abstractmethod
    def differential(self, x: Tensor, v: Tensor) -> Tensor:
        """Df(x)[v]: the derivative of f at x along v."""

    @abstractmethod
    def inverse_differential(self, y: Tensor, w: Tensor) -> Tensor:
        """Df⁻¹(y)[w]: the derivative of the inverse at y along w."""

    def project(self, x: Tensor) -> Tensor:
        """The nearest point of the domain of f, by default a whole vector space."""
        return x

    def violation(self, x: Tensor, point_dims: int) -> Tensor:
        """How far points of `point_dims` dimensions are from the domain, of the batch shape."""
        bad = numerics.non_finite(x, point_dims)
        return torch.zeros_like(bad, dtype=x.dtype).masked_fill(bad, torch.inf)

    def rough_violation(self, x: Tensor, point_dims: int) -> Tensor:
        """A part of `violation` that is cheap to find."""
        return self.violation(x, point_dims)

    def manifold(self) -> Any:
        """geoopt's manifold with the points of the domain; None where there is none."""
        return None

    def __matmul__(self, other: Diffeo) -> Diffeo:
        """The composition f ∘ g, which applies g first."""
        return Chain(self, other)


class PositiveDefiniteMap(Diffeo):
    """A diffeomorphism whose domain is the positive definite matrices, (..., n, n)."""

    def project(self, x: Tensor) -> Tensor:
        return positive.project(x)

    def violation(self, x: Tensor, point_dims: int) -> Tensor:
        return positive.violation(x)

    def rough_violation(self, x: Tensor, point_dims: int) -> Tensor:
        return positive.rough_violation(x)

    def manifold(self) -> Any:
        import geoopt

        return geoopt.SymmetricPositiveDefinite()


class CorrelationMap(Diffeo):
    """A diffeomorphism whose domain is the full-rank correlation matrices, (..., n, n)."""

    def project(self, x: Tensor) -> Tensor:
        return correlation.project(x)

    def violation(self, x: Tensor, point_dims: int) -> Tensor:
        return correlation.violation(x)


class Chain(Diffeo):
    """f ∘ g."""

    def __init__(self, outer: Diffeo, inner: Diffeo) -> None:
        super().__init__()
        self.outer = outer
        self.inner = inner

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.outer(self.inner(x))
        return y

    def inverse(self, y: Tensor) -> Tensor:
        return self.inner.inverse(self.outer.inverse(y))

    def differential(self, x: Tensor, v: Tensor) -> Tensor:
        return self.outer.differential(self.inner(x), self.inner.differential(x, v))

    def inverse_differential(self, y: Tensor, w: Tensor) -> Tensor:
        middle = self.outer.inverse(y)
        return self.inner.inverse_differential(middle, self.outer.inverse_differential(y, w))

    def project(self, x: Tensor) -> Tensor:
        return self.inner.project(x)

    def violation(self, x: Tensor, point_dims: int) -> Tensor:
        return self.inner.violation(x, point_dims)

    def rough_violation(self, x: Tensor, point_dims: int) -> Tensor:
        return self.inner.rough_violation(x, point_dims)

    def manifold(self) -> Any:
        return self.inner.manifold()


class Inverse(Diffeo):
    """f⁻¹ as a map of its own."""

    def __init__(self, diffeo: Diffeo) -> None:
        super().__init__()
        self.diffeo = diffeo

    def forward(self, x: Tensor) -> Tensor:
        return self.diffeo.inverse(x)

    def inverse(self, y: Tensor) -> Tensor:
        x: Tensor = self.diffeo(y)
        return x

    def differential(self, x: Tensor, v: Tensor) -> Tensor:
        return self.diffeo.inverse_differential(x, v)

    def inverse_differential(self, y: Tensor, w: Tensor) -> Tensor:
        return self.diffeo.differential(y, w)
