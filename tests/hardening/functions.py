"""Every public function and class, and how to call it; what is missing here fails a test."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from liebn import diffeos, groups, optim
from liebn.linalg import cholesky, correlation, numerics, positive, rotation, spectral
from liebn.linalg.rotation import vee
from tests.hardening.attack import Recipe
from tests.hardening.inputs import Case

PACKAGES = (
    "liebn",
    "liebn.linalg",
    "liebn.linalg.cholesky",
    "liebn.linalg.correlation",
    "liebn.linalg.numerics",
    "liebn.linalg.positive",
    "liebn.linalg.rotation",
    "liebn.linalg.spectral",
    "liebn.diffeos",
    "liebn.groups",
    "liebn.nn",
    "liebn.nn.baselines",
    "liebn.models",
    "liebn.optim",
    "liebn.plots",
    "liebn.estimators",
    "liebn.datasets",
)


CORRELATION = groups.catalog["correlation-ecm"](3)


def public(package: str) -> list[str]:
    """What a package offers: its `__all__`, or what is defined in it without an underscore."""
    module = importlib.import_module(package)
    if hasattr(module, "__all__"):
        return list(module.__all__)
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (inspect.isfunction(value) or inspect.isclass(value))
        and value.__module__ == module.__name__
    ]


def rotations(case: Case, n: int = 3) -> Tensor:
    """Rotation matrices."""
    return case.points(groups.SO(n))


def skew(case: Case, n: int = 3) -> Tensor:
    """Skew matrices."""
    return case.draw(
        lambda: rotation.skew(
            torch.randn(*case.batch, n, n, generator=case.generator, dtype=torch.float64)
        )
    )


def _diffeo(map_: diffeos.Diffeo) -> Recipe:
    """Both directions and their derivatives, of a map of positive definite matrices."""

    def recipe(case: Case) -> list[Tensor]:
        x, v = case.spd(), case.symmetric()
        y = map_(x)
        back = map_.inverse(y)
        w = map_.differential(x, v)
        return [y, back, w, map_.inverse_differential(y.detach(), w.detach()), map_.project(x)]

    return recipe


def _there_and_back(map_: diffeos.Diffeo) -> Recipe:
    """Both directions of a map of correlation matrices."""

    def recipe(case: Case) -> list[Tensor]:
        y = map_(case.points(CORRELATION))
        return [y, map_.inverse(y)]

    return recipe


def _scalar_function(function: spectral.ScalarFunction) -> Recipe:
    def recipe(case: Case) -> list[Tensor]:
        a = case.draw(
            lambda: (
                torch.rand(*case.batch, 3, generator=case.generator, dtype=torch.float64)
                .add(0.1)
                .sort(-1)
                .values
            )
        ).detach()
        first, second = function.divided_difference(a), function.second_divided_difference(a)
        return [function.value(a), first, second, function.taylor(a, 2)]

    return recipe


def _cube(a: Tensor) -> Tensor:
    return a**3


LINALG: dict[str, Recipe] = {
    "cholesky.factor": lambda c: cholesky.factor(c.spd()),
    "cholesky.inverse": lambda c: cholesky.inverse(c.draw(lambda: _lower(c))),
    "correlation.normalise": lambda c: correlation.normalise(c.spd()),
    "correlation.differential": lambda c: correlation.differential(c.spd(), c.symmetric()),
    "correlation.hollow": lambda c: correlation.hollow(c.symmetric()),
    "correlation.centred": lambda c: correlation.centred(c.symmetric()),
    "correlation.project": lambda c: correlation.project(c.points(CORRELATION)),
    "correlation.violation": lambda c: correlation.violation(c.points(CORRELATION)),
    "cholesky.half_lower": lambda c: cholesky.half_lower(c.spd()),
    "numerics.eps": lambda c: numerics.eps(c.spd().dtype),
    "numerics.finite": lambda c: numerics.finite(c.spd()),
    "numerics.non_finite": lambda c: numerics.non_finite(c.spd(), 2),
    "numerics.raise_where": lambda c: numerics.raise_where(c.spd() > 1e3, "is large"),
    "numerics.require_finite": lambda c: numerics.require_finite(c.spd(), 2),
    "numerics.require_positive": lambda c: _required(c.matrices(3)),
    "numerics.raise_first": lambda c: _raised(c.spd()),
    "positive.project": lambda c: positive.project(c.spd()),
    "positive.asymmetry": lambda c: positive.asymmetry(c.spd()),
    "positive.rough_violation": lambda c: positive.rough_violation(c.spd()),
    "positive.well_conditioned": lambda c: positive.well_conditioned(c.spd()),
    "positive.violation": lambda c: positive.violation(c.spd()),
    "rotation.exp": lambda c: rotation.exp(skew(c)),
    "rotation.hat": lambda c: rotation.hat(c.matrices(3)),
    "rotation.vee": lambda c: vee(skew(c)),
    "rotation.skew": lambda c: rotation.skew(skew(c)),
    "rotation.log": lambda c: [rotation.log(rotations(c)), rotation.log(rotations(c, 4))],
    "rotation.log3": lambda c: rotation.log3(rotations(c)),
    "rotation.project": lambda c: rotation.project(rotations(c)),
    "rotation.without_drift": lambda c: rotation.without_drift(rotations(c)),
    "rotation.rotation_vector": lambda c: rotation.rotation_vector(rotations(c).detach()),
    "rotation.half_angle_cotangent": lambda c: rotation.half_angle_cotangent(
        c.draw(lambda: 3 * torch.rand(c.batch, generator=c.generator, dtype=torch.float64))
    ),
    "spectral.apply": lambda c: spectral.apply(c.spd(), spectral.Smooth(_cube)),
    "spectral.diagonalise": lambda c: spectral.diagonalise(c.spd()),
    "spectral.differential": lambda c: spectral.differential(
        c.spd(), c.symmetric(), spectral.Log()
    ),
    "spectral.eigh": lambda c: spectral.eigh(c.spd().detach()),
    "spectral.exp": lambda c: spectral.exp(c.symmetric()),
    "spectral.log": lambda c: spectral.log(c.spd()),
    "spectral.power": lambda c: [spectral.power(c.spd(), p) for p in (-1.5, 0.0, 0.3, 2.0)],
    "spectral.sqrt": lambda c: spectral.sqrt(c.spd()),
    "spectral.symmetrise": lambda c: spectral.symmetrise(c.spd()),
    "spectral.Exp": _scalar_function(spectral.Exp()),
    "spectral.Floor": _scalar_function(spectral.Floor(0.3)),
    "spectral.Hypotenuse": _scalar_function(spectral.Hypotenuse()),
    "spectral.UpToRounding": _scalar_function(spectral.UpToRounding(spectral.Log())),
    "spectral.Log": _scalar_function(spectral.Log()),
    "spectral.Power": _scalar_function(spectral.Power(-0.7)),
    "spectral.Smooth": _scalar_function(spectral.Smooth(torch.log, origin=0.0)),
}

DIFFEOS: dict[str, Recipe] = {
    "diffeos.AdaptiveLog": _diffeo(diffeos.AdaptiveLog()),
    "diffeos.LogScaling": _there_and_back(diffeos.LogScaling()),
    "diffeos.OffLog": _there_and_back(diffeos.OffLog()),
    "diffeos.UnitCholesky": _there_and_back(diffeos.UnitCholesky()),
    "diffeos.UnipotentLog": _there_and_back(diffeos.UnipotentLog() @ diffeos.UnitCholesky()),
    "diffeos.Chain": _diffeo(diffeos.LogCholesky() @ diffeos.Power(0.5)),
    "diffeos.Inverse": lambda c: diffeos.Inverse(diffeos.Log())(c.symmetric()),
    "diffeos.Log": _diffeo(diffeos.Log()),
    "diffeos.LogCholesky": _diffeo(diffeos.LogCholesky()),
    "diffeos.Power": _diffeo(diffeos.Power(-0.5)),
}

OPTIM: dict[str, Recipe] = {
    "optim.SpecialOrthogonal": lambda c: optim.SpecialOrthogonal().projx(rotations(c)),
    "optim.parameter_groups": lambda c: _groups_of(c.spd()),
    "optim.register_orthonormal": lambda c: _orthonormal(c.points(groups.SO(3)).detach()),
}

FUNCTIONS = LINALG | DIFFEOS | OPTIM

TRUSTING = {
    # Steps of a computation, whose callers have checked what they hand on.
    *("cholesky.inverse", "rotation.without_drift", "rotation.half_angle_cotangent"),
    *("spectral.Exp", "spectral.Floor", "spectral.Log", "spectral.Power", "spectral.Smooth"),
    *("rotation.rotation_vector", "spectral.Hypotenuse", "spectral.UpToRounding"),
    *("correlation.normalise", "correlation.differential", "correlation.centred"),
}
"""Functions that need not notice an invalid input."""

SWALLOWING = {
    # They look at one triangle, or make a mask or nothing of what they see.
    *(
        "correlation.hollow",
        "cholesky.half_lower",
        "numerics.eps",
        "numerics.finite",
        "numerics.non_finite",
        "numerics.raise_where",
    ),
    *("numerics.require_finite", "positive.well_conditioned", "numerics.require_positive"),
    *("optim.parameter_groups", "positive.rough_violation", "rotation.vee"),
}
"""Functions whose result need not show an entry that is not finite."""

ELSEWHERE = {
    # Attacked through every space of the catalog and every layer, or in files of their own.
    "liebn": "layers",
    "liebn.linalg": "the modules themselves",
    "liebn.groups": "spaces",
    "liebn.nn": "layers",
    "liebn.nn.baselines": "layers",
    "liebn.models": "networks",
    "liebn.plots": "networks",
    "liebn.estimators": "networks",
    "liebn.datasets": "networks",
}

PLAIN = {
    "numerics.InvalidPointError": "an error",
    "diffeos.Diffeo": "an interface",
    "diffeos.PositiveDefiniteMap": "an interface",
    "diffeos.CorrelationMap": "an interface",
    "spectral.ScalarFunction": "an interface",
}
"""Public names that compute nothing."""


def names() -> Iterator[str]:
    """All names that this table has to know, by the last part of their module."""
    for package in PACKAGES:
        if package not in ELSEWHERE:
            for name in public(package):
                yield f"{package.rpartition('.')[2]}.{name}"


def _lower(case: Case) -> Tensor:
    x = torch.randn(*case.batch, 3, 3, generator=case.generator, dtype=torch.float64)
    return 0.3 * x.tril(-1) + torch.eye(3, dtype=torch.float64)


def _required(smallest: Tensor) -> None:
    numerics.require_positive(smallest, ~(smallest > -1e9))


def _raised(x: Tensor) -> Any:
    try:
        numerics.raise_first(torch.ones(x.shape[:-2], dtype=torch.bool), "is here")
    except numerics.InvalidPointError as error:
        return [x.sum() * 0 + len(error.index)]


def _groups_of(x: Tensor) -> list[Tensor]:
    layer = torch.nn.Linear(2, 2)
    layer.bias_tangent = torch.nn.Parameter(torch.zeros(2))
    found = optim.parameter_groups(layer, 0.1)
    assert [len(group["params"]) for group in found] == [2, 1]
    return [x]


def _orthonormal(start: Tensor) -> Tensor:
    module = torch.nn.Module()
    optim.register_orthonormal(module, "weight", start, form="parametrized", rotations=True)
    return module.weight
