"""The one table of cases: which spaces the laws run on, and the points that they run with.

A case is a space; a setting is a case, a dtype and a kind of sample. Every space of the catalog is
a case in both dtypes, and of another size in float64, without being named here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import pytest
import torch
from torch import Tensor

from liebn.diffeos import Power
from liebn.groups import (
    SE,
    SO,
    Euclidean,
    Grassmann,
    Gyrogroup,
    Product,
    Pullback,
    catalog,
    right,
    spd,
)
from tests.laws.samples import KINDS, condition, draw, kinds
from tests.tolerances import tolerance

DTYPES = (torch.float64, torch.float32)
WORST = {torch.float64: 1e12, torch.float32: 1e5}
"""The condition number, in the deformed space, up to which precision is promised."""


class Case(NamedTuple):
    """A space with a name, and the dtypes in which it meets the laws."""

    name: str
    space: Gyrogroup
    dtypes: tuple[torch.dtype, ...] = (torch.float64,)


def cases_of(factories: Mapping[str, Callable[[int], Gyrogroup]]) -> list[Case]:
    """Every entry of a catalog: in both dtypes at size 3, in float64 at size 4.

    A law is one of points: what a space learns is held fixed.
    """
    return [
        Case(f"{name}({n})", make(n).requires_grad_(False), dtypes)
        for name, make in factories.items()
        for n, dtypes in ((3, DTYPES), (4, DTYPES[:1]))
    ]


def alem(n: int, *slopes: float) -> Gyrogroup:
    """ALEM as training may leave it."""
    space = spd(n, "alem").requires_grad_(False)
    space.diffeo.log_slopes.copy_(torch.tensor(slopes).log())
    return space


COMBINED = [
    # The closed forms of SO(3) leave the general algorithm to the other dimensions.
    Case("so(2)", SO(2), DTYPES),
    Case("so(4)", SO(4), DTYPES[1:]),
    Case("line", Euclidean()),
    Case("matrices", Euclidean(2, 3)),
    Case("aim(-1)", spd(3, "aim", theta=-1.0)),
    Case("aim(1,2,-0.5)", spd(3, "aim", alpha=2.0, beta=-0.5)),
    Case("aim(0.5,0.5,0.3)", spd(3, "aim", theta=0.5, alpha=0.5, beta=0.3)),
    Case("gyro-aim(-1,2,-0.5)", spd(3, "gyro-aim", theta=-1.0, alpha=2.0, beta=-0.5)),
    Case("crim(0.5)", spd(3, "crim", theta=0.5)),
    Case("lem(0.5,2,-0.5)", spd(3, "lem", theta=0.5, alpha=2.0, beta=-0.5)),
    Case("alem(0.6,1.7)", alem(3, 0.6, 1.7), DTYPES),
    *(Case(f"lcm({t})", spd(3, "lcm", theta=t)) for t in (0.5, -0.5, 0.0)),
    Case("right(so(3))", right(SO(3))),
    Case("se(2)", SE(2), DTYPES),
    Case("right(se(3))", right(SE(3))),
    Case("grassmann(5,3)", Grassmann(5, 3)),
    Case("power∘lem", Pullback(Power(0.5), spd(3, "lem"))),
    Case("so×lcm×matrices", Product(SO(3), spd(3, "lcm", theta=0.5), Euclidean(2, 2))),
    Case("gyro×so(2)×right", Product(spd(2, "gyro-aim"), SO(2), right(spd(2, "aim")))),
]
"""Combinators, and parameters other than the default."""

CASES = [*cases_of(catalog), *COMBINED]


@dataclass(frozen=True)
class Setting:
    """A space, a dtype and a kind of sample: what a law is checked with."""

    case: Case
    dtype: torch.dtype
    kind: str = "ordinary"

    def __str__(self) -> str:
        return f"{self.case.name}-{str(self.dtype)[-7:]}-{self.kind}"

    @property
    def space(self) -> Gyrogroup:
        return self.case.space

    @property
    def radius(self) -> float:
        """How far from the identity exp is one-to-one."""
        return self.space.injectivity_radius

    @property
    def inside(self) -> Setting:
        """The same setting in the model of the space."""
        return replace(self, case=Case(self.case.name, self.space.model))

    def identity(self) -> Tensor:
        return self.space.identity(dtype=self.dtype)

    def points(self, number: int, count: int = 6, share: int | None = None) -> Iterator[Tensor]:
        """As many batches of points, whose condition numbers multiply to the worst promised.

        Near the cut locus of a compact space, each batch is at the cut locus of the one before. The
        translations of a compact gyrogroup jump at the cut locus: its points share the radius.

        Args:
            number: how many batches.
            count: how many points in each.
            share: how many condition numbers the law multiplies, if more than `number`.
        """
        generator = torch.Generator().manual_seed(number)
        target = WORST[self.dtype] ** (1 / (share or number))
        previous = None
        for _ in range(number):
            x = draw(self.space, self.kind, count, target, generator)
            if self.kind == "cut" and previous is not None:
                x = self.space.compose(previous, x)
            if self.radius < torch.inf and not self.space.associative:
                v = self._shorten(self.space.log(x), self.radius / (1 + (share or number)))
                x = self.space.exp(v)
            previous = x
            yield x.to(self.dtype)

    def tangents(
        self, number: int, count: int = 6, share: int | None = None, reach: float = 0.9
    ) -> list[Tensor]:
        """Tangent vectors at the identity, shorter than `reach` times the injectivity radius."""
        vectors = [self.space.log(x) for x in self.points(number, count, share)]
        return [self._shorten(v, reach * self.radius) for v in vectors]

    def cluster(self, count: int = 8) -> Tensor:
        """Points near each other where the space is compact, so that they have one mean."""
        if self.radius == torch.inf:
            (x,) = self.points(1, count, share=2)
            return x
        centre, x = self.points(2, count, share=3)
        v = self._shorten(self.space.log(x), self.radius / 4)
        return self.space.compose(centre[:1], self.space.exp(v))

    def _shorten(self, v: Tensor, longest: float) -> Tensor:
        if longest == torch.inf:
            return v
        return v * self.space.expand((longest / self.space.squared_norm(v).sqrt()).clamp_max(1))

    def kappa(self, *points: Tensor) -> float:
        """The product of the condition numbers."""
        product = 1.0
        for x in points:
            product *= condition(self.space, x)
        return product

    def close(
        self,
        actual: Tensor,
        expected: Tensor,
        law: str,
        *points: Tensor,
        dims: int | None = None,
    ) -> None:
        """Assert that two batches of points or tangent vectors agree, given their origins."""
        dims = len(self.space.point_shape) if dims is None else dims
        error, largest = relative_error(actual, expected, dims), tolerance(law, self.dtype)
        if not error <= largest:  # κ ≥ 1 is worth computing
            assert error <= largest * self.kappa(*points), (
                f"{law}: error {error:.2e}, {error / largest:.3g} times the largest at κ = 1, "
                f"with κ = {self.kappa(*points):.3g}"
            )

    def close_scalars(
        self, actual: Tensor, expected: Tensor | float, law: str, *points: Tensor
    ) -> None:
        """The same for numbers."""
        expected = torch.as_tensor(expected, dtype=self.dtype)
        self.close(actual, expected, law, *points, dims=0)


def relative_error(actual: Tensor, expected: Tensor, dims: int) -> float:
    """The largest error of a point, relative to the largest entry expected of it, or to 1."""
    actual, expected = torch.broadcast_tensors(actual.detach(), expected.detach())
    off = (actual - expected).abs()
    size = expected.abs().clamp_min(1)
    if dims:
        last = tuple(range(-dims, 0))
        off, size = off.amax(last), size.amax(last)
    return float((off / size).max()) if off.numel() else 0.0


def settings(
    cases: Iterable[Case] = CASES,
    only: Iterable[str] = KINDS,
    dtypes: Iterable[torch.dtype] = DTYPES,
) -> list[Setting]:
    """All cases in those of the dtypes that they name, with all of these kinds of sample."""
    chosen = tuple(only)
    return [
        Setting(case, dtype, kind)
        for case in cases
        for dtype in dtypes
        if dtype in case.dtypes
        for kind in kinds(case.space)
        if kind in chosen
    ]


def on(chosen: Iterable[Setting]) -> pytest.MarkDecorator:
    """Parametrise a test over settings."""
    return pytest.mark.parametrize("setting", list(chosen), ids=str)
