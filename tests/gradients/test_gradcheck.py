"""Gradients of every operation against finite differences.

Points move as p ⊕ exp(v), with v the variable, so that every direction of the space is tried and
none that leaves it. On a compact space the points lie within the injectivity radius of each other.
"""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.autograd import gradcheck

from liebn.groups import Gyrogroup, Rule
from liebn.linalg import cholesky, rotation, spectral
from tests.cases import Setting
from tests.laws.collection import Laws

LAWS = Laws()
SMOOTH = {"besides": ["bad", "cut"], "dtypes": (torch.float64,)}
ORDINARY = {"only": ["ordinary"], "dtypes": (torch.float64,)}
EXACT = Rule(tolerance=0.0)


def check(function: Callable, *inputs: Tensor) -> None:
    inputs = tuple(x.detach().requires_grad_() for x in inputs)
    assert gradcheck(function, inputs, eps=1e-6, atol=2e-6, rtol=1e-5, fast_mode=True)


def moving(space: Gyrogroup, p: Tensor) -> tuple[Callable[[Tensor], Tensor], Tensor]:
    """v ↦ p ⊕ exp(v), and v = 0."""
    start = torch.zeros_like(space.log(p))
    return lambda v: space.compose(p, space.exp(v)), start


def two(setting: Setting) -> tuple[Gyrogroup, Tensor, Tensor]:
    x = setting.cluster(4)
    return setting.space, x[:2], x[2:]


@LAWS.add(**SMOOTH)
def operations_have_their_gradients(setting: Setting) -> None:
    space, x, y = two(setting)
    at_x, v = moving(space, x)
    at_y, w = moving(space, y)
    check(lambda v: space.log(at_x(v)), v)
    check(lambda v: space.inverse(at_x(v)), v)
    check(lambda v, w: space.compose(at_x(v), at_y(w)), v, w)
    check(lambda v: space.exp(v), space.log(x) + 0.1 * torch.randn_like(v))
    check(lambda v: space.project(at_x(v)), v)


@LAWS.add(**SMOOTH)
def distances_and_geodesics_have_their_gradients(setting: Setting) -> None:
    space, x, y = two(setting)
    at_x, v = moving(space, x)
    at_y, w = moving(space, y)
    t = torch.tensor([0.3, 0.8], dtype=torch.float64)
    check(lambda v, w: space.squared_distance(at_x(v), at_y(w)), v, w)
    if bool((space.distance(x, y) > 1e-2).all()):  # the distance has a corner at zero
        check(lambda v, w: space.distance(at_x(v), at_y(w)), v, w)
    check(lambda v, w, t: space.geodesic(at_x(v), at_y(w), t), v, w, t)
    check(lambda v, w, t: space.ray(at_x(v)).at(t, onto=at_y(w)), v, w, t)


@LAWS.add(**SMOOTH)
def mean_and_centre_have_their_gradients(setting: Setting) -> None:
    space, x = setting.space, setting.cluster(5)
    at, v = moving(space, x)
    weights = torch.tensor([1.0, 2.0, 0.5, 1.0, 3.0], dtype=torch.float64)
    check(lambda v: space.mean(at(v), weights=weights), v)

    def centred(v: Tensor, t: Tensor) -> tuple[Tensor, ...]:
        mean, ray, variance = space.centre(at(v), weights, rule=EXACT)
        return mean, variance, ray.squared_norm(), ray.at(t, onto=mean)

    check(centred, v, torch.tensor(0.8, dtype=torch.float64))


@LAWS.add(**ORDINARY)
def projection_from_outside_has_its_gradient(setting: Setting) -> None:
    (x,) = setting.points(1, 3)
    check(setting.space.project, x + 0.05 * torch.randn_like(x))


@LAWS.add(**ORDINARY)
def operators_at_any_point_have_their_gradients(setting: Setting) -> None:
    space, x, y = two(setting)
    at_x, v = moving(space, x)
    at_y, w = moving(space, y)
    u = space.log_at(x, y)
    check(lambda v, w: space.log_at(at_x(v), at_y(w)), v, w)
    check(lambda v, u: space.exp_at(at_x(v), u), v, u)
    check(lambda v, u: space.inner_at(at_x(v), u, u), v, u)


@LAWS.add(**ORDINARY)
def rays_onto_any_batch_of_points_have_their_gradients(setting: Setting) -> None:
    """One bias for all samples, one for each, and a table of both."""
    space, x, y = two(setting)
    at_x, v = moving(space, x)
    t = torch.tensor(0.7, dtype=torch.float64)
    for bias in (y[0], y, y.unsqueeze(1)):
        at_y, w = moving(space, bias)
        check(lambda v, w, at_y=at_y: space.ray(at_x(v)).at(t, onto=at_y(w)), v, w)


@LAWS.everywhere
def test_gradients(law, setting):
    law(setting)


SYMMETRIC = {
    "distinct": torch.diag(torch.tensor([0.5, 1.0, 3.0])),
    "identity": torch.eye(3),
    "two equal": torch.diag(torch.tensor([2.0, 2.0, 0.3])),
    "nearly equal": torch.diag(torch.tensor([1.0, 1.0 + 1e-9, 1.0 - 1e-13])),
}
symmetric = pytest.mark.parametrize("x", SYMMETRIC.values(), ids=SYMMETRIC.keys())


def positive(x: Tensor) -> Tensor:
    basis = rotation.exp(torch.arange(9.0).reshape(3, 3).double())
    return basis @ x.double() @ basis.mT


@symmetric
@pytest.mark.parametrize("p", [0.5, -1.0, 2.0, -0.3, 0.0])
def test_power_with_one_exponent(x, p):
    check(lambda x: spectral.power(spectral.symmetrise(x), p), positive(x))


@symmetric
def test_power_with_one_exponent_per_matrix(x):
    x = positive(x).repeat(4, 1, 1)
    p = torch.tensor([0.5, -1.0, 0.0, 1.7], dtype=torch.float64)
    check(lambda x, p: spectral.power(spectral.symmetrise(x), p), x, p)
    found = spectral.power(x, p)
    alone = torch.stack([spectral.power(m, float(e)) for m, e in zip(x, p, strict=True)])
    torch.testing.assert_close(found, alone, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", [(4,), (1,), ()])
def test_power_with_exponents_that_broadcast(shape):
    x = positive(SYMMETRIC["distinct"]).repeat(4, 1, 1)
    p = torch.full(shape, 0.7, dtype=torch.float64)
    check(lambda x, p: spectral.power(spectral.symmetrise(x), p), x, p)


def softplus(a: Tensor) -> Tensor:
    return torch.nn.functional.softplus(a)


@symmetric
@pytest.mark.parametrize(
    "function",
    [
        spectral.Log(),
        spectral.Exp(),
        spectral.Hypotenuse(),
        spectral.Smooth(softplus),
        spectral.Smooth(torch.log, 0.0),
    ],
    ids=["log", "exp", "hypotenuse", "softplus", "smooth log"],
)
def test_general_functions(x, function):
    check(lambda x: spectral.apply(spectral.symmetrise(x), function), positive(x))


def test_floor_away_from_its_corner():
    x = positive(torch.diag(torch.tensor([-1.0, 0.2, 2.0])))
    check(lambda x: spectral.apply(spectral.symmetrise(x), spectral.Floor(0.5)), x)


def test_cholesky():
    x = positive(SYMMETRIC["two equal"])
    check(lambda x: cholesky.factor(spectral.symmetrise(x)), x)
