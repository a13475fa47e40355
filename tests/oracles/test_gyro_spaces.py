"""Sphere and ball against geoopt, subspaces against SciPy, and far-out points against mpmath."""

import geoopt
import mpmath
import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
import torch

from liebn.groups import Ball, Grassmann, Sphere
from tests.cases import DTYPES, WORST, relative_error
from tests.laws.samples import condition, draw
from tests.tolerances import tolerance

curvatures = pytest.mark.parametrize("curvature", [-1.0, -0.3, -5.0])
sizes = pytest.mark.parametrize("n, p", [(2, 1), (4, 2), (5, 3), (6, 2)])


def agree(actual, expected, law="oracle", dims=0, kappa=1.0):
    expected = torch.as_tensor(np.asarray(expected))
    assert relative_error(actual, expected, dims) <= tolerance(law, torch.float64, kappa)


@curvatures
def test_ball(curvature, generator):
    ours = Ball(4, curvature)
    theirs = ours.manifold()
    x, y = ours.random(2, 9, generator=generator, dtype=torch.float64)
    kappa = condition(ours, x) * condition(ours, y)
    agree(ours.compose(x, y), theirs.mobius_add(x, y), dims=1, kappa=kappa)
    agree(ours.distance(x, y), theirs.dist(x, y), kappa=kappa)
    u = theirs.logmap(x, y)
    agree(ours.log_at(x, y), u, dims=1, kappa=kappa)
    agree(ours.exp_at(x, u), theirs.expmap(x, u), dims=1, kappa=kappa)
    agree(ours.inner_at(x, u, u), theirs.norm(x, u).square(), kappa=kappa)
    a, b, c = (ours.exp(0.3 * ours.log(p)) for p in (x, y, y.flip(0)))
    turned = ours.untranslate(ours.compose(a, b), ours.compose(a, ours.compose(b, c)))
    agree(turned, theirs.gyration(a, b, c), dims=1, kappa=10.0)


def exact_distance(x, y, curvature) -> float:
    """(2/√c) artanh(√c |⊖x ⊕ y|), in enough digits."""
    with mpmath.workdps(60):
        c = mpmath.mpf(-curvature)
        x, y = ([mpmath.mpf(float(t)) for t in p] for p in (x, y))
        dot = lambda a, b: mpmath.fsum(s * t for s, t in zip(a, b, strict=True))  # noqa: E731
        apart = dot(*[[s - t for s, t in zip(x, y, strict=True)]] * 2)
        room = (1 - c * dot(x, x)) * (1 - c * dot(y, y))
        return float(2 * mpmath.asinh(mpmath.sqrt(c * apart / room)) / mpmath.sqrt(c))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("worst", [1e2, 1e4, None])
def test_distances_far_out_are_good_to_the_condition_number(worst, dtype, generator):
    space = Ball(3, -0.5)
    target = (worst or WORST[dtype]) ** 0.5
    x, y = (draw(space, "bad", 8, target, generator).to(dtype) for _ in range(2))
    found = space.distance(x, y)
    for d, a, b in zip(found, x, y, strict=True):
        kappa = condition(space, a) * condition(space, b)
        expected = exact_distance(a, b, space.curvature)
        assert abs(float(d) - expected) <= tolerance("matrix-function", dtype, kappa)


def test_sphere(generator):
    ours, theirs = Sphere(4), geoopt.Sphere()
    x, y = ours.random(2, 9, generator=generator, dtype=torch.float64)
    agree(ours.distance(x, y), theirs.dist(x, y))
    u = theirs.logmap(x, y)
    agree(ours.log_at(x, y), u, dims=1, kappa=10.0)
    agree(ours.exp_at(x, u), theirs.expmap(x, u), dims=1)
    agree(ours.inner_at(x, u, u), u.square().sum(-1))
    agree(ours.inverse(x), theirs.expmap(ours.identity().double(), -ours.log(x)), dims=1)


def test_translation_of_the_sphere_is_the_rotation_of_a_plane(generator):
    space = Sphere(4)
    x, y = space.random(2, 9, generator=generator, dtype=torch.float64)
    e = space.identity(dtype=torch.float64).numpy()
    expected = []
    for p, q in zip(x.numpy(), y.numpy(), strict=True):
        across = p - (p @ e) * e
        angle = np.arccos(p @ e) / np.linalg.norm(across)
        generating = angle * (np.outer(across, e) - np.outer(e, across))
        expected.append(scipy.linalg.expm(generating) @ q)
    agree(space.compose(x, y), expected, dims=1)


def basis_of(projector, p):
    return np.linalg.eigh(projector)[1][:, -p:]


@sizes
def test_distances_of_subspaces_are_by_principal_angles(n, p, generator):
    space = Grassmann(n, p)
    x, y = space.random(2, 9, generator=generator, dtype=torch.float64)
    expected = [
        np.linalg.norm(scipy.linalg.subspace_angles(basis_of(a, p), basis_of(b, p)))
        for a, b in zip(x.numpy(), y.numpy(), strict=True)
    ]
    agree(space.distance(x, y), expected)


@sizes
def test_operations_on_subspaces(n, p, generator):
    """Through the logarithm of the product of two reflections, and exponentials of commutators."""
    space = Grassmann(n, p)
    x, y = space.random(2, 9, generator=generator, dtype=torch.float64)
    e = space.identity(dtype=torch.float64).numpy()
    logs, products, ends = [], [], []
    for a, b in zip(x.numpy(), y.numpy(), strict=True):
        both = (2 * a - np.eye(n)) @ (2 * e - np.eye(n))
        generating = 0.5 * np.real(scipy.linalg.logm(both))
        v = generating @ e - e @ generating
        t = scipy.linalg.expm(v @ e - e @ v)
        logs.append(v)
        products.append(t @ b @ t.T)
        half = scipy.linalg.expm(0.5 * generating)
        ends.append(half @ e @ half.T)
    agree(space.log(x), logs, dims=2, kappa=10.0)
    agree(space.compose(x, y), products, dims=2, kappa=10.0)
    agree(space.exp(0.5 * space.log(x)), ends, dims=2, kappa=10.0)


@pytest.mark.parametrize("space", [Sphere(3), Grassmann(4, 2), Ball(3)], ids=str)
def test_means_minimise_the_dispersion(space, generator):
    """No descent by SciPy from the mean, or from a sample, goes lower."""
    x = space.exp(0.4 * space.log(space.random(7, generator=generator, dtype=torch.float64)))
    mean = space.mean(x)

    def dispersion(v, start):
        moved = space.compose(start, space.exp(torch.as_tensor(v).reshape(space.point_shape)))
        return float(space.squared_distance(moved, x).mean())

    zero = np.zeros(space.point_shape.numel())
    least = dispersion(zero, mean)
    found = scipy.optimize.minimize(dispersion, zero, args=(x[0],), method="BFGS")
    assert found.fun >= least - 1e-12
    assert found.fun == pytest.approx(least, abs=1e-8)
