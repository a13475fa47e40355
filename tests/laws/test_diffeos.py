"""Maps between spaces: inverses, differentials and what is made of maps."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from liebn.diffeos import (
    Chain,
    Diffeo,
    Inverse,
    Log,
    LogCholesky,
    LogScaling,
    OffLog,
    Power,
    UnipotentLog,
    UnitCholesky,
)
from liebn.groups import (
    SE,
    SO,
    Ball,
    Euclidean,
    Grassmann,
    Hollow,
    Pullback,
    Sphere,
    StrictlyLower,
    Symmetric,
    Transvection,
    correlation,
    spd,
)
from liebn.groups.pullback import Inversion
from tests.cases import alem, relative_error
from tests.tolerances import tolerance


class Cubes(Diffeo):
    """x ↦ x + x³ of numbers, with nothing but what a map must define."""

    def forward(self, x: Tensor) -> Tensor:
        return x + x**3

    def inverse(self, y: Tensor) -> Tensor:
        return 2 / 3**0.5 * torch.sinh(torch.asinh(0.75 * 3**0.5 * 2 * y) / 3)

    def differential(self, x: Tensor, v: Tensor) -> Tensor:
        return (1 + 3 * x**2) * v

    def inverse_differential(self, y: Tensor, w: Tensor) -> Tensor:
        return w / (1 + 3 * self.inverse(y) ** 2)


POSITIVE = {
    "log": Log(),
    "power": Power(-0.7),
    "log-cholesky": LogCholesky(),
    "adaptive log": alem(3, 0.6, 1.7).diffeo,
    "chain": LogCholesky() @ Power(0.5),
    "inversion": Inversion(spd(3)),
    "and back": Power(0.5) @ Inverse(Log()) @ Log(),
}
CORRELATION = {
    "unit cholesky": UnitCholesky(),
    "log unit cholesky": UnipotentLog() @ UnitCholesky(),
    "off-log": OffLog(),
    "log-scaling": LogScaling(),
}
MAPS = {
    **{name: (diffeo, spd(3), Symmetric(3)) for name, diffeo in POSITIVE.items()},
    **{name: (diffeo, correlation(3), Hollow(3)) for name, diffeo in CORRELATION.items()},
    "unipotent log": (UnipotentLog(), StrictlyLower(3), StrictlyLower(3)),
    "unipotent log in 4 dimensions": (UnipotentLog(), StrictlyLower(4), StrictlyLower(4)),
}
"""A map, a space with the points of its domain, and the directions in which they move."""

maps = pytest.mark.parametrize("diffeo, space, directions", MAPS.values(), ids=MAPS.keys())


def agree(actual: Tensor, expected: Tensor, law: str = "formula") -> None:
    assert relative_error(actual, expected, 2) <= tolerance(law, torch.float64, 20.0)


def symmetric(*shape: int, generator: torch.Generator) -> Tensor:
    return Symmetric(3).random(*shape, generator=generator, dtype=torch.float64)


@maps
def test_a_map_is_undone(diffeo, space, directions, generator):
    x = space.random(4, generator=generator, dtype=torch.float64)
    agree(diffeo.inverse(diffeo(x)), x)
    agree(Inverse(diffeo)(diffeo(x)), x)
    agree(Inverse(diffeo).inverse(x), diffeo(x))


@maps
def test_the_differential_is_the_slope(diffeo, space, directions, generator):
    x = space.random(4, generator=generator, dtype=torch.float64)
    v, h = directions.random(4, generator=generator, dtype=torch.float64), 1e-4
    # The third derivative is left, h² times it, and eps / h of rounding.
    slope = (diffeo(x + h * v) - diffeo(x - h * v)) / (2 * h)
    found = diffeo.differential(x, v)
    assert relative_error(found, slope, 2) <= 1e-6
    agree(diffeo.inverse_differential(diffeo(x), found), v)
    agree(Inverse(diffeo).differential(diffeo(x), found), v)
    agree(Inverse(diffeo).inverse_differential(x, v), found)


@pytest.mark.parametrize("diffeo", POSITIVE.values(), ids=POSITIVE.keys())
def test_the_domain_is_the_cone(diffeo, generator):
    x = symmetric(4, generator=generator)
    projected = diffeo.project(x)
    assert bool((diffeo.violation(projected, 2) <= tolerance("violation", torch.float64)).all())
    assert bool((diffeo.violation(-projected, 2) >= 1).all())
    assert "SymmetricPositiveDefinite" in type(diffeo.manifold()).__name__


@pytest.mark.parametrize("diffeo", CORRELATION.values(), ids=CORRELATION.keys())
def test_the_domain_is_the_correlation_matrices(diffeo, generator):
    x = symmetric(4, generator=generator)
    projected = diffeo.project(x)
    assert bool((diffeo.violation(projected, 2) <= tolerance("violation", torch.float64)).all())
    assert bool((diffeo.violation(2 * projected, 2) >= 0.99).all())
    assert bool((diffeo.violation(-projected, 2) >= 1).all())
    assert diffeo.manifold() is None


def test_the_domain_is_the_strictly_lower_triangular_matrices(generator):
    x = symmetric(4, generator=generator)
    diffeo, x[3, 0, 2] = UnipotentLog(), torch.nan
    assert not bool(diffeo.violation(diffeo.project(x[:3]), 2).any())
    assert bool((diffeo.violation(x, 2) >= x.triu().nan_to_num().abs().amax((-2, -1))).all())
    assert diffeo.violation(x, 2)[3] == torch.inf


def test_a_chain_applies_the_inner_map_first(generator):
    x = spd(3).random(4, generator=generator, dtype=torch.float64)
    chain = Log() @ Power(2.0)
    assert isinstance(chain, Chain)
    agree(chain(x), 2 * Log()(x))


def test_a_map_of_a_vector_space_needs_no_more():
    """The line seen through x + x³: distances are differences of images."""
    space = Pullback(Cubes(), Euclidean())
    x = torch.linspace(-2, 2, 5, dtype=torch.float64)
    assert torch.equal(space.project(x), x)
    broken = torch.tensor([0.0, torch.nan, -torch.inf], dtype=torch.float64)
    assert space.violation(broken).tolist() == [0, torch.inf, torch.inf]
    assert space.manifold() is None
    image = x + x**3
    torch.testing.assert_close(space.distance(x[0], x), image - image[0])
    torch.testing.assert_close(space.mean(x[1:] + 1), Cubes().inverse((Cubes()(x[1:] + 1)).mean(0)))
    torch.testing.assert_close(space.exp_at(x, space.log_at(x, x.flip(0))), x.flip(0))
    torch.testing.assert_close(Cubes().inverse(image), x)


@pytest.mark.parametrize(
    "space",
    [
        Euclidean(3),
        *(spd(3, metric) for metric in ("aim", "lem", "alem", "crim")),
        spd(3, "lcm", theta=0.5),
        SO(3),
        SO(4),
        Transvection(SO(3)),
        Sphere(3),
        Ball(3, curvature=-0.3),
    ],
    ids=str,
)
def test_the_manifold_for_optimisers_has_the_points(space, generator):
    x = space.random(4, generator=generator, dtype=torch.float64)
    manifold = space.manifold()
    assert manifold.check_point_on_manifold(x)


def test_some_spaces_have_no_manifold_for_optimisers():
    assert Symmetric(3).manifold() is None
    assert SE(3).manifold() is None  # geoopt's products are of vectors
    assert Grassmann(3, 1).manifold() is None
