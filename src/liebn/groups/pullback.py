"""Spaces seen through a diffeomorphism."""

from __future__ import annotations

from typing import Any, final

import torch
from torch import Tensor

from liebn.diffeos import Diffeo
from liebn.groups.base import Centred, Gyrogroup, Ray, derivative_along
from liebn.groups.mean import EXACT, LOCAL, Average, Rule, Total


class PulledRay:
    """The image of a ray of the model."""

    def __init__(self, space: Pullback, ray: Ray) -> None:
        self.space, self.ray = space, ray

    def squared_norm(self) -> Tensor:
        """‖log x‖²."""
        return self.ray.squared_norm()

    def at(self, t: Tensor, onto: Tensor | None = None) -> Tensor:
        """Onto ⊕ exp(t log x)."""
        onto = None if onto is None else self.space.to_model(onto)
        return self.space.from_model(self.ray.at(t, onto))


@final
class Pullback(Gyrogroup):
    """The space that f carries to `base`: x ⊕ y = f⁻¹(f(x) ⊕ f(y)), and f is an isometry.

    Tangent vectors at the identity are those of the model, the innermost base; tangent vectors at
    other points (`log_at`, `exp_at`, `inner_at`) are in the coordinates of this space.
    """

    def __init__(self, diffeo: Diffeo, base: Gyrogroup) -> None:
        super().__init__()
        self.diffeo = diffeo
        self.base = base
        self.associative = base.associative
        self.injectivity_radius = base.injectivity_radius
        # The diffeos of this library keep the shape of a point, except where they say otherwise.
        self.point_shape = getattr(diffeo, "domain_shape", base.point_shape)

    @property
    def model(self) -> Gyrogroup:
        return self.base.model

    def to_model(self, x: Tensor) -> Tensor:
        return self.base.to_model(self.diffeo(x))

    def from_model(self, y: Tensor) -> Tensor:
        return self.diffeo.inverse(self.base.from_model(y))

    def identity(
        self,
        *batch: int,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> Tensor:
        return self.from_model(self.model.identity(*batch, dtype=dtype, device=device))

    def compose(self, x: Tensor, y: Tensor) -> Tensor:
        return self.from_model(self.model.compose(self.to_model(x), self.to_model(y)))

    def inverse(self, x: Tensor) -> Tensor:
        return self.from_model(self.model.inverse(self.to_model(x)))

    def exp(self, v: Tensor) -> Tensor:
        return self.from_model(self.model.exp(v))

    def log(self, x: Tensor) -> Tensor:
        return self.model.log(self.to_model(x))

    def squared_norm(self, v: Tensor) -> Tensor:
        return self.model.squared_norm(v)

    def project(self, x: Tensor) -> Tensor:
        return self.diffeo.project(x)

    def violation(self, x: Tensor) -> Tensor:
        return self.diffeo.violation(x, len(self.point_shape))

    def rough_violation(self, x: Tensor) -> Tensor:
        return self.diffeo.rough_violation(x, len(self.point_shape))

    def random(
        self,
        *batch: int,
        generator: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> Tensor:
        return self.from_model(
            self.model.random(*batch, generator=generator, dtype=dtype, device=device)
        )

    def ray(self, x: Tensor) -> Ray:
        return PulledRay(self, self.model.ray(self.to_model(x)))

    def centre(
        self,
        x: Tensor,
        weights: Tensor | None = None,
        *,
        rule: Rule = EXACT,
        total: Total = LOCAL,
    ) -> Centred:
        centred = self.model.centre(self.to_model(x), weights, rule=rule, total=total)
        mean = self.from_model(centred.mean)
        if rule.detach:  # the map may have parameters
            mean = mean.detach()
        return Centred(mean, PulledRay(self, centred.ray), centred.variance)

    def _mean(self, x: Tensor, average: Average, rule: Rule) -> Tensor:
        return self.from_model(self.model._mean(self.to_model(x), average, rule))

    def manifold(self) -> Any:
        return self.diffeo.manifold()

    def log_at(self, p: Tensor, x: Tensor) -> Tensor:
        q = self.diffeo(p)
        return self.diffeo.inverse_differential(q, self.base.log_at(q, self.diffeo(x)))

    def exp_at(self, p: Tensor, v: Tensor) -> Tensor:
        return self.diffeo.inverse(self.base.exp_at(self.diffeo(p), self.diffeo.differential(p, v)))

    def inner_at(self, p: Tensor, u: Tensor, v: Tensor) -> Tensor:
        push = self.diffeo.differential
        return self.base.inner_at(self.diffeo(p), push(p, u), push(p, v))


class Inversion(Diffeo):
    """X ↦ ⊖x in a group, its own inverse."""

    def __init__(self, group: Gyrogroup) -> None:
        super().__init__()
        self.group = group

    def forward(self, x: Tensor) -> Tensor:
        return self.group.inverse(x)

    def inverse(self, y: Tensor) -> Tensor:
        return self.group.inverse(y)

    def differential(self, x: Tensor, v: Tensor) -> Tensor:
        return derivative_along(self.group.inverse, *torch.broadcast_tensors(x, v))

    def inverse_differential(self, y: Tensor, w: Tensor) -> Tensor:
        return self.differential(y, w)

    def project(self, x: Tensor) -> Tensor:
        return self.group.project(x)

    def violation(self, x: Tensor, point_dims: int) -> Tensor:
        return self.group.violation(x)

    def rough_violation(self, x: Tensor, point_dims: int) -> Tensor:
        return self.group.rough_violation(x)

    def manifold(self) -> Any:
        return self.group.manifold()


def right(group: Gyrogroup) -> Pullback:
    """The group with the opposite operation and a right-invariant metric, by inversion."""
    if not group.associative:
        raise ValueError(
            "right(...) needs a group: a gyrogroup has no opposite with these properties"
        )
    return Pullback(Inversion(group), group)
