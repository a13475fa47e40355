"""Products of spaces."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import add
from typing import cast

import torch
from torch import Tensor, nn

from liebn.groups.base import Centred, Gyrogroup, Ray
from liebn.groups.mean import EXACT, LOCAL, Average, Rule, Total


class ProductRay:
    """The rays of the factors."""

    def __init__(self, space: Product, rays: list[Ray]) -> None:
        self.space, self.rays = space, rays

    def squared_norm(self) -> Tensor:
        """The sum over factors."""
        return reduce(add, (ray.squared_norm() for ray in self.rays))

    def at(self, t: Tensor, onto: Tensor | None = None) -> Tensor:
        """Each factor's own."""
        starts = [None] * len(self.rays) if onto is None else self.space.unpack(onto)
        return self.space.pack(r.at(t, p) for r, p in zip(self.rays, starts, strict=True))


class Product(Gyrogroup):
    """The product of spaces, its points the factors' points flattened and concatenated.

    Squared distances add up; one variance is shared by all factors.
    """

    def __init__(self, *factors: Gyrogroup) -> None:
        super().__init__()
        if not factors:
            raise ValueError("Product needs at least one factor")
        self.factors = nn.ModuleList(factors)
        self.point_shape = torch.Size((sum(f.point_shape.numel() for f in factors),))
        self.associative = all(f.associative for f in factors)
        self.injectivity_radius = min(f.injectivity_radius for f in factors)

    @property
    def parts(self) -> list[Gyrogroup]:
        """The factors, as a list."""
        return cast(list[Gyrogroup], list(self.factors))

    def pack(self, points: Iterable[Tensor]) -> Tensor:
        """One point from a point of each factor."""
        flat = [
            p.reshape(*p.shape[: p.dim() - len(f.point_shape)], f.point_shape.numel())
            for f, p in zip(self.parts, points, strict=True)
        ]
        batch = torch.broadcast_shapes(*(p.shape[:-1] for p in flat))
        return torch.cat([p.expand(*batch, p.shape[-1]) for p in flat], -1)

    def unpack(self, x: Tensor) -> list[Tensor]:
        """The point of each factor."""
        split = x.split([f.point_shape.numel() for f in self.parts], -1)
        return [
            p.reshape(*x.shape[:-1], *f.point_shape) for f, p in zip(self.parts, split, strict=True)
        ]

    def _with(self, x: Tensor) -> Iterable[tuple[Gyrogroup, Tensor]]:
        return zip(self.parts, self.unpack(x), strict=True)

    def _with_tangent(self, v: Tensor) -> Iterable[tuple[Gyrogroup, Tensor]]:
        return zip(self.parts, self._packed_models.unpack(v), strict=True)

    @property
    def _packed_models(self) -> Product:
        models = [f.model for f in self.parts]
        own = all(m is f for m, f in zip(models, self.parts, strict=True))
        return self if own else Product(*models)

    @property
    def model(self) -> Gyrogroup:
        return self._packed_models

    def to_model(self, x: Tensor) -> Tensor:
        return self._packed_models.pack(f.to_model(p) for f, p in self._with(x))

    def from_model(self, y: Tensor) -> Tensor:
        return self.pack(f.from_model(p) for f, p in self._with_tangent(y))

    def identity(
        self,
        *batch: int,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> Tensor:
        return self.pack(f.identity(*batch, dtype=dtype, device=device) for f in self.parts)

    def compose(self, x: Tensor, y: Tensor) -> Tensor:
        pairs = zip(self._with(x), self.unpack(y), strict=True)
        return self.pack(f.compose(p, q) for (f, p), q in pairs)

    def inverse(self, x: Tensor) -> Tensor:
        return self.pack(f.inverse(p) for f, p in self._with(x))

    def exp(self, v: Tensor) -> Tensor:
        return self.pack(f.exp(p) for f, p in self._with_tangent(v))

    def log(self, x: Tensor) -> Tensor:
        return self._packed_models.pack(f.log(p) for f, p in self._with(x))

    def squared_norm(self, v: Tensor) -> Tensor:
        return reduce(add, (f.squared_norm(p) for f, p in self._with_tangent(v)))

    def log_at(self, p: Tensor, x: Tensor) -> Tensor:
        pairs = zip(self._with(p), self.unpack(x), strict=True)
        return self.pack(f.log_at(q, y) for (f, q), y in pairs)

    def exp_at(self, p: Tensor, v: Tensor) -> Tensor:
        pairs = zip(self._with(p), self.unpack(v), strict=True)
        return self.pack(f.exp_at(q, w) for (f, q), w in pairs)

    def inner_at(self, p: Tensor, u: Tensor, v: Tensor) -> Tensor:
        triples = zip(self._with(p), self.unpack(u), self.unpack(v), strict=True)
        return reduce(add, (f.inner_at(q, a, b) for (f, q), a, b in triples))

    def project(self, x: Tensor) -> Tensor:
        return self.pack(f.project(p) for f, p in self._with(x))

    def violation(self, x: Tensor) -> Tensor:
        return reduce(torch.maximum, (f.violation(p) for f, p in self._with(x)))

    def rough_violation(self, x: Tensor) -> Tensor:
        return reduce(torch.maximum, (f.rough_violation(p) for f, p in self._with(x)))

    def random(
        self,
        *batch: int,
        generator: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> Tensor:
        return self.pack(
            f.random(*batch, generator=generator, dtype=dtype, device=device) for f in self.parts
        )

    def ray(self, x: Tensor) -> Ray:
        return ProductRay(self, [f.ray(p) for f, p in self._with(x)])

    def centre(
        self,
        x: Tensor,
        weights: Tensor | None = None,
        *,
        rule: Rule = EXACT,
        total: Total = LOCAL,
    ) -> Centred:
        parts = [f.centre(p, weights, rule=rule, total=total) for f, p in self._with(x)]
        mean = self.pack(part.mean for part in parts)
        ray = ProductRay(self, [part.ray for part in parts])
        return Centred(mean, ray, reduce(add, (part.variance for part in parts)))

    def _mean(self, x: Tensor, average: Average, rule: Rule) -> Tensor:
        return self.pack(f._mean(p, average, rule) for f, p in self._with(x))
