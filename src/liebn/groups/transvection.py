"""Groups with a bi-invariant metric, translated along geodesics."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from liebn.groups.base import Gyrogroup, LieGroup
from liebn.groups.mean import Average, Rule


class Transvection(Gyrogroup):
    """The gyrogroup x ⊕ y = x^½ y x^½ on a group with a bi-invariant metric.

    Left translation by x is the transvection that carries the identity to x in parallel along their
    geodesic. Distances, geodesics and means are those of the group.
    """

    def __init__(self, group: LieGroup) -> None:
        super().__init__()
        self.group = group
        self.point_shape = group.point_shape
        self.injectivity_radius = group.injectivity_radius
        self.published_start = group.published_start

    def identity(
        self,
        *batch: int,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> Tensor:
        return self.group.identity(*batch, dtype=dtype, device=device)

    def compose(self, x: Tensor, y: Tensor) -> Tensor:
        half = self.group.exp(0.5 * self.group.log(x))
        return self.group.compose(self.group.compose(half, y), half)

    def inverse(self, x: Tensor) -> Tensor:
        return self.group.inverse(x)

    def exp(self, v: Tensor) -> Tensor:
        return self.group.exp(v)

    def log(self, x: Tensor) -> Tensor:
        return self.group.log(x)

    def squared_norm(self, v: Tensor) -> Tensor:
        return self.group.squared_norm(v)

    def project(self, x: Tensor) -> Tensor:
        return self.group.project(x)

    def violation(self, x: Tensor) -> Tensor:
        return self.group.violation(x)

    def rough_violation(self, x: Tensor) -> Tensor:
        return self.group.rough_violation(x)

    def random(
        self,
        *batch: int,
        generator: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> Tensor:
        return self.group.random(*batch, generator=generator, dtype=dtype, device=device)

    def manifold(self) -> Any:
        return self.group.manifold()

    def _mean(self, x: Tensor, average: Average, rule: Rule) -> Tensor:
        return self.group._mean(x, average, rule)
