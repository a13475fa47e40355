"""What a space is: the few operations it must define, and everything that follows from them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, final, runtime_checkable

import torch
from torch import Tensor, nn

from liebn.groups.mean import EXACT, LOCAL, Average, Rule, Total, frechet_mean


@runtime_checkable
class Ray(Protocol):
    """The geodesics from the identity to a batch of points x, from one shared decomposition."""

    def squared_norm(self) -> Tensor:
        """‖log x‖², of the batch shape: the squared distance to the identity."""

    def at(self, t: Tensor, onto: Tensor | None = None) -> Tensor:
        """onto ⊕ exp(t log x), with t broadcast over the batch shape."""


class Centred(NamedTuple):
    """A batch with its mean moved to the identity.

    Attributes:
        mean: the Fréchet mean of the batch, (*channels, *point).
        ray: the geodesics from the identity to the centred points.
        variance: Σ w d²(mean, x), (*channels).
    """

    mean: Tensor
    ray: Ray
    variance: Tensor


class LogRay:
    """The plain ray, which holds log x."""

    def __init__(self, space: Gyrogroup, log: Tensor) -> None:
        self.space = space
        self.log = log

    def squared_norm(self) -> Tensor:
        """‖log x‖²."""
        return self.space.squared_norm(self.log)

    def at(self, t: Tensor, onto: Tensor | None = None) -> Tensor:
        """Onto ⊕ exp(t log x)."""
        point = self.space.exp(self.space.expand(t) * self.log)
        return point if onto is None else self.space.compose(onto, point)


class Gyrogroup(nn.Module, ABC):
    """A manifold with an operation whose left translations are isometries.

    Points are tensors (*batch, *point_shape). Tangent vectors at the identity have that shape too
    (for a pullback, the shape of the points of its model). A group is the case of an associative
    operation; in general (a ⊕ b) ⊕ c differs from a ⊕ (b ⊕ c) by an isometry that fixes the
    identity.

    A subclass defines `point_shape`, `identity`, `compose`, `inverse`, `exp`, `log`,
    `squared_norm`, `project`, `violation` and `random`. Everything else follows.

    Attributes:
        point_shape: the shape of one point.
        associative: whether the operation is that of a group.
        injectivity_radius: how far from the identity exp is one-to-one.
        published_start: where the published experiments began the search for a mean.
    """

    point_shape: torch.Size
    associative: bool = False
    injectivity_radius: float = torch.inf
    published_start: str = "average"

    # What a space defines.

    @abstractmethod
    def identity(
        self,
        *batch: int,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> Tensor:
        """The neutral element, repeated to (*batch, *point_shape)."""

    @abstractmethod
    def compose(self, x: Tensor, y: Tensor) -> Tensor:
        """x ⊕ y, with batch shapes broadcast."""

    @abstractmethod
    def inverse(self, x: Tensor) -> Tensor:
        """⊖x, with ⊖x ⊕ x the identity."""

    @abstractmethod
    def exp(self, v: Tensor) -> Tensor:
        """The end of the geodesic from the identity with velocity v, projected to the algebra."""

    @abstractmethod
    def log(self, x: Tensor) -> Tensor:
        """The velocity at the identity of the shortest geodesic to x."""

    @abstractmethod
    def squared_norm(self, v: Tensor) -> Tensor:
        """‖v‖² of tangent vectors at the identity, of the batch shape."""

    @abstractmethod
    def project(self, x: Tensor) -> Tensor:
        """A nearby point of the space, differentiable."""

    @abstractmethod
    def violation(self, x: Tensor) -> Tensor:
        """How far each x is from being a point, zero up to rounding if it is; the batch shape."""

    def rough_violation(self, x: Tensor) -> Tensor:
        """A part of `violation` that is cheap to find; layers look at it in every batch."""
        return self.violation(x)

    @abstractmethod
    def random(
        self,
        *batch: int,
        generator: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> Tensor:
        """Random points, (*batch, *point_shape), from no distribution in particular."""

    # What a space may do faster; each is pinned to its default by a law.

    def untranslate(self, p: Tensor, x: Tensor) -> Tensor:
        """⊖p ⊕ x, which moves p to the identity."""
        return self.compose(self.inverse(p), x)

    def ray(self, x: Tensor) -> Ray:
        """The geodesics from the identity to x."""
        return LogRay(self, self.log(x))

    def centre(
        self,
        x: Tensor,
        weights: Tensor | None = None,
        *,
        rule: Rule = EXACT,
        total: Total = LOCAL,
    ) -> Centred:
        """All that a normalization asks of a batch.

        Args:
            x: points, (N, *channels, *point).
            weights: nonnegative, (N,) or (N, *channels); equal by default.
            rule: how the mean is sought.
            total: sums over samples, then over processes.
        """
        average = Average(x, weights, total)
        mean = self._mean(x, average, rule)
        ray = self.ray(self.untranslate(mean, x))
        variance = average(ray.squared_norm())
        return Centred(mean, ray, variance.detach() if rule.detach else variance)

    def _geodesic(self, x: Tensor, y: Tensor, t: Tensor) -> Tensor:
        return self.ray(self.untranslate(x, y)).at(t, onto=x)

    def _mean(self, x: Tensor, average: Average, rule: Rule) -> Tensor:
        return frechet_mean(self, x, average, rule)

    def _estimate(self, x: Tensor, average: Average) -> Tensor:
        """A point near the mean, from which to search for it."""
        return self._arithmetic_mean(x, average)

    def _arithmetic_mean(self, x: Tensor, average: Average) -> Tensor:
        """The average of the entries, projected into the space."""
        return self.project(average(x))

    # The space in which a layer computes: itself, unless it is a pullback.

    @property
    def model(self) -> Gyrogroup:
        """The simplest space isomorphic to this one, in whose algebra tangent vectors are given."""
        return self

    def to_model(self, x: Tensor) -> Tensor:
        """The isomorphism to `model`."""
        return x

    def from_model(self, y: Tensor) -> Tensor:
        """The isomorphism from `model`."""
        return y

    def manifold(self) -> Any:
        """geoopt's manifold of these points, for Riemannian optimisers; None if there is none."""
        return None

    # What follows.

    def expand(self, scalars: Tensor) -> Tensor:
        """Give scalars, one per point, the trailing ones that let them multiply tangent vectors."""
        return scalars.reshape(scalars.shape + (1,) * len(self.model.point_shape))

    @final
    def squared_distance(self, x: Tensor, y: Tensor) -> Tensor:
        """d(x, y)², smooth where the points coincide."""
        model = self.model
        return model.ray(model.untranslate(self.to_model(x), self.to_model(y))).squared_norm()

    @final
    def distance(self, x: Tensor, y: Tensor) -> Tensor:
        """The length of the shortest geodesic from x to y; its gradient is zero at x = y."""
        square = self.squared_distance(x, y)
        apart = square > 0
        return torch.where(apart, torch.where(apart, square, 1.0).sqrt(), 0.0)

    @final
    def geodesic(self, x: Tensor, y: Tensor, t: Tensor | float) -> Tensor:
        """x ⊕ exp(t log(⊖x ⊕ y)): x at t = 0, y at t = 1, at constant speed."""
        t = torch.as_tensor(t, dtype=x.dtype, device=x.device)
        model = self.model
        return self.from_model(model._geodesic(self.to_model(x), self.to_model(y), t))

    @final
    def mean(self, x: Tensor, dim: int = 0, weights: Tensor | None = None) -> Tensor:
        """The Fréchet mean, argmin_m Σ w_i d²(m, x_i), over one batch dimension.

        Args:
            x: points, (*batch, *point).
            dim: which dimension of the batch shape to average over.
            weights: (N,) or of the batch shape; nonnegative.
        """
        samples, weights = self._samples_first(x, dim, weights)
        model = self.model
        y = self.to_model(samples)
        return self.from_model(model._mean(y, Average(y, weights, LOCAL), EXACT))

    @final
    def residual(
        self, mean: Tensor, x: Tensor, dim: int = 0, weights: Tensor | None = None
    ) -> Tensor:
        """‖Σ w_i log(⊖m ⊕ x_i)‖ / Σ w_i: how far m is from the mean, to first order.

        `mean` stops where this is 1e-10 of the standard deviation, or as small as rounding lets it.
        """
        samples, weights = self._samples_first(x, dim, weights)
        model, y = self.model, self.to_model(samples)
        logs = model.log(model.untranslate(self.to_model(mean), y))
        return model.squared_norm(Average(y, weights, LOCAL)(logs)).sqrt()

    def _samples_first(
        self, x: Tensor, dim: int, weights: Tensor | None
    ) -> tuple[Tensor, Tensor | None]:
        batch = x.dim() - len(self.point_shape)
        if not -batch <= dim < batch:
            raise IndexError(
                f"dim {dim} is not one of the {batch} batch dimensions of {tuple(x.shape)}"
            )
        dim = dim % batch
        if weights is not None and weights.dim() > 1:
            weights = weights.movedim(dim, 0)
        x = x.movedim(dim, 0)
        if x.shape[0] == 0:
            raise ValueError("the mean of no points is not defined")
        return x, weights

    def log_at(self, p: Tensor, x: Tensor) -> Tensor:
        """Log_p x: the velocity at p, in ambient coordinates, of the shortest geodesic to x."""
        v = self.log(self.untranslate(p, x))
        e = self.identity(dtype=p.dtype, device=p.device).expand_as(v)
        return derivative_along(lambda y: self.compose(p, y), e, v)

    def exp_at(self, p: Tensor, v: Tensor) -> Tensor:
        """Exp_p v: the end of the geodesic from p with velocity v in ambient coordinates."""
        return self.compose(p, self.exp(self._to_identity(p, v)))

    def inner_at(self, p: Tensor, u: Tensor, v: Tensor) -> Tensor:
        """The Riemannian metric at p, of two tangent vectors in ambient coordinates."""
        u, v = self._to_identity(p, u), self._to_identity(p, v)
        return 0.25 * (self.squared_norm(u + v) - self.squared_norm(u - v))

    def _to_identity(self, p: Tensor, v: Tensor) -> Tensor:
        q = self.inverse(p)
        p, v = torch.broadcast_tensors(p, v)
        return derivative_along(lambda y: self.compose(q, y), p, v)


class LieGroup(Gyrogroup):
    """A Lie group with a left-invariant metric: a gyrogroup whose operation is associative."""

    associative = True

    @final
    def right_translate(self, p: Tensor, x: Tensor) -> Tensor:
        """x ⊕ p, an isometry where the metric is bi-invariant."""
        return self.compose(x, p)


def derivative_along(function: Callable[[Tensor], Tensor], x: Tensor, v: Tensor) -> Tensor:
    """Df(x)[v], as the derivative in u of the backward pass <u, Df(x)[v]>, which is linear in u."""
    wanted = torch.is_grad_enabled()
    if wanted and not (x.requires_grad or v.requires_grad):
        wanted = function(x).requires_grad  # a constant derivative carries no graph
    with torch.enable_grad():
        # An alias, so that what else `function` made of the same tensor stays constant.
        x = x.view_as(x) if x.requires_grad else x.detach().requires_grad_()
        y = function(x)
        u = torch.zeros_like(y, requires_grad=True)
        (pulled,) = torch.autograd.grad(y, x, u, create_graph=True)
        (along,) = torch.autograd.grad(pulled, u, v, create_graph=wanted, materialize_grads=True)
    return along
