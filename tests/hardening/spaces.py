"""Every operation of a space, and how to call it; the members of the base class say which."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from liebn.groups import (
    SO,
    AffineInvariant,
    Euclidean,
    GyroAffineInvariant,
    Gyrogroup,
    LieGroup,
    LowerTriangular,
    Product,
    Symmetric,
    catalog,
    right,
    spd,
)
from tests.hardening.inputs import Case

SPACES: dict[str, Gyrogroup] = {name: make(3) for name, make in catalog.items()} | {
    "line": Euclidean(),
    "so(4)": SO(4),
    "aim(-0.5)": spd(3, "aim", theta=-0.5, alpha=2.0, beta=-0.5),
    "lcm(1.5)": spd(3, "lcm", theta=1.5),
    "symmetric": Symmetric(3),
    "lower triangular": LowerTriangular(3),
    "right(so)": right(SO(3)),
    "so×lcm": Product(SO(3), spd(2, "lcm")),
}

Operation = Callable[[Gyrogroup, Case], Any]


def _vectors(space: Gyrogroup, case: Case) -> Tensor:
    """Tangent vectors at the identity, in the algebra of the model."""
    return case.draw(
        lambda: (
            0.3
            * space.log(space.random(*case.batch, generator=case.generator, dtype=torch.float64))
        )
    )


def _ambient(space: Gyrogroup, case: Case, p: Tensor) -> Tensor:
    """Tangent vectors at p, as velocities of geodesics."""
    clean = p.detach().double()
    try:
        towards = space.log_at(clean, space.identity(dtype=torch.float64).expand_as(clean))
    except ValueError:  # p is no point: any vector will do
        towards = torch.zeros_like(clean)
    return case.draw(lambda: towards)


def _mean(space: Gyrogroup, case: Case) -> Tensor:
    return space.mean(case.points(space, *(case.batch or (3,))))


def _residual(space: Gyrogroup, case: Case) -> Tensor:
    x = case.points(space, *(case.batch or (3,)))
    return space.residual(space.identity(dtype=x.dtype), x)


def _centre(space: Gyrogroup, case: Case) -> list[Tensor]:
    x = case.points(space.model, *(case.batch or (3,)))
    mean, ray, variance = space.model.centre(x)
    return [mean, variance, ray.squared_norm(), ray.at(torch.full_like(variance.detach(), 0.5))]


def _ray(space: Gyrogroup, case: Case) -> list[Tensor]:
    x = case.points(space)
    ray = space.ray(x)
    return [ray.squared_norm(), ray.at(torch.tensor(0.5, dtype=x.dtype))]


def _at(space: Gyrogroup, case: Case) -> list[Tensor]:
    p = case.points(space)
    v = _ambient(space, case, p)
    return [space.exp_at(p, v), space.inner_at(p, v, v)]


OPERATIONS: dict[str, Operation] = {
    "compose": lambda s, c: s.compose(c.points(s), c.points(s)),
    "inverse": lambda s, c: s.inverse(c.points(s)),
    "untranslate": lambda s, c: s.untranslate(c.points(s), c.points(s)),
    "exp": lambda s, c: s.exp(_vectors(s, c)),
    "log": lambda s, c: s.log(c.points(s)),
    "squared_norm": lambda s, c: s.squared_norm(_vectors(s, c)),
    "project": lambda s, c: s.project(c.points(s)),
    "violation": lambda s, c: s.violation(c.points(s)),
    "rough_violation": lambda s, c: s.rough_violation(c.points(s)),
    "ray": _ray,
    "centre": _centre,
    "to_model": lambda s, c: s.to_model(c.points(s)),
    "from_model": lambda s, c: s.from_model(c.points(s.model)),
    "expand": lambda s, c: s.expand(c.tensor(*c.batch)),
    "squared_distance": lambda s, c: s.squared_distance(c.points(s), c.points(s)),
    "distance": lambda s, c: s.distance(c.points(s), c.points(s)),
    "geodesic": lambda s, c: s.geodesic(c.points(s), c.points(s), 0.3),
    "mean": _mean,
    "residual": _residual,
    "log_at": lambda s, c: s.log_at(c.points(s), c.points(s)),
    "exp_at": _at,
}

WITHOUT_POINTS = {
    "identity",
    "random",
    "manifold",
    "model",
    "inner_at",  # with exp_at
    "right_translate",  # compose, the other way round
}
"""Members that take no tensors, or are attacked under another name."""


def members() -> Iterator[str]:
    """The public methods and properties of a space."""
    for name in {*vars(Gyrogroup), *vars(LieGroup)} - set(vars(nn.Module)):
        value = getattr(Gyrogroup, name, getattr(LieGroup, name, None))
        if not name.startswith("_") and (callable(value) or isinstance(value, property)):
            yield name


MADE_HERE = (AffineInvariant, GyroAffineInvariant, Symmetric, LowerTriangular)
"""Spaces of `groups` that are in the table, or behind one that is."""
