"""The manifold of rotations passes the checks that geoopt makes of its own manifolds, and more."""

import copy
import pickle
import subprocess
import sys

import geoopt
import pytest
import torch

import liebn.optim
from liebn.linalg import rotation
from liebn.optim import SpecialOrthogonal

DOUBLE = torch.float64
SIZES = [2, 3, 4, 5]


@pytest.fixture
def manifold():
    return SpecialOrthogonal()


@pytest.fixture(params=SIZES, ids=lambda n: f"n={n}")
def point(request, manifold):
    return manifold.random(6, request.param, request.param, dtype=DOUBLE).as_subclass(torch.Tensor)


@pytest.fixture
def vectors(manifold, point, generator):
    normal = torch.randn(2, *point.shape, dtype=DOUBLE, generator=generator)
    # Shorter than the injectivity radius, so that log is the inverse of exp.
    return [0.7 * manifold.proju(point, v) / v[0].norm() for v in normal]


def close(actual, expected):
    torch.testing.assert_close(actual, expected, rtol=1e-10, atol=1e-12)


def test_random_points_and_origin_are_on_the_manifold(manifold, point):
    manifold.assert_check_point_on_manifold(point, atol=1e-12, rtol=1e-12)
    origin = manifold.origin(*point.shape, dtype=DOUBLE)
    assert isinstance(origin, geoopt.ManifoldTensor)
    assert torch.equal(origin, torch.eye(point.shape[-1], dtype=DOUBLE).expand_as(point))


def test_random_points_are_uniform_enough_to_have_mean_zero(manifold):
    points = manifold.random(20_000, 3, 3).as_subclass(torch.Tensor)
    # Each entry has variance 1/3; its mean over 20 000 points is within five standard deviations.
    assert float(points.mean(0).abs().max()) < 5 * (1 / 3 / 20_000) ** 0.5


def test_projection_of_a_point(manifold, point, generator):
    noisy = point + 0.1 * torch.randn(point.shape, dtype=DOUBLE, generator=generator)
    assert not manifold.check_point_on_manifold(noisy)
    manifold.assert_check_point_on_manifold(manifold.projx(noisy), atol=1e-12, rtol=1e-12)
    close(manifold.projx(point), point)


def test_projection_of_a_reflection_is_a_rotation(manifold, point):
    reflection = point.clone()
    reflection[..., 0] *= -1
    ok, reason = manifold.check_point_on_manifold(reflection, explain=True)
    assert not ok
    assert "reflection" in reason
    close(torch.linalg.det(manifold.projx(reflection)), torch.ones(6, dtype=DOUBLE))


def test_projection_of_a_vector(manifold, point, generator):
    u = torch.randn(point.shape, dtype=DOUBLE, generator=generator)
    assert not manifold.check_vector_on_tangent(point, u)
    tangent = manifold.proju(point, u)
    manifold.assert_check_vector_on_tangent(point, tangent, atol=1e-12, rtol=1e-12)
    close(manifold.proju(point, tangent), tangent)
    # What is taken away is orthogonal to every tangent vector.
    other = manifold.proju(point, torch.randn(point.shape, dtype=DOUBLE, generator=generator))
    close(manifold.inner(point, u - tangent, other), torch.zeros(6, dtype=DOUBLE))


def test_riemannian_gradient_gives_directional_derivatives(manifold, point, vectors):
    target = torch.randn_like(point)
    x = point.clone().requires_grad_()
    (x * target).sin().sum().backward()
    gradient = manifold.egrad2rgrad(point, x.grad)
    manifold.assert_check_vector_on_tangent(point, gradient, atol=1e-12, rtol=1e-12)
    step = 1e-5
    ends = [manifold.expmap(point, sign * step * vectors[0]) for sign in (1, -1)]
    values = [(end * target).sin().sum((-2, -1)) for end in ends]
    numeric = (values[0] - values[1]) / (2 * step)
    torch.testing.assert_close(
        manifold.inner(point, gradient, vectors[0]), numeric, rtol=1e-7, atol=1e-8
    )


def test_inner_product_and_norm(manifold, point, vectors):
    u, v = vectors
    close(manifold.inner(point, u, v), manifold.inner(point, v, u))
    close(manifold.inner(point, u), manifold.norm(point, u) ** 2)
    assert manifold.inner(point, u, v, keepdim=True).shape == (6, 1, 1)
    assert manifold.component_inner(point, u).shape == (6, 1, 1)


def test_exponential_map_is_that_of_the_embedding(manifold, point, vectors):
    u = vectors[0]
    y = manifold.expmap(point, u)
    manifold.assert_check_point_on_manifold(y, atol=1e-12, rtol=1e-12)
    close(y, torch.matrix_exp(u @ point.mT) @ point)
    assert manifold.retr(point, u).equal(y)


def test_logarithm_inverts_the_exponential(manifold, point, vectors):
    u = vectors[0]
    y = manifold.expmap(point, u)
    close(manifold.logmap(point, y), u)
    close(manifold.dist(point, y), manifold.norm(point, u))
    close(manifold.dist(y, point), manifold.norm(point, u))
    assert manifold.dist(point, y, keepdim=True).shape == (6, 1, 1)


def test_transport_is_an_isometry_between_tangent_spaces(manifold, point, vectors):
    u, v = vectors
    y = manifold.expmap(point, u)
    moved_u, moved_v = manifold.transp(point, y, u), manifold.transp(point, y, v)
    manifold.assert_check_vector_on_tangent(y, moved_v, atol=1e-12, rtol=1e-12)
    close(manifold.inner(y, moved_u, moved_v), manifold.inner(point, u, v))
    close(manifold.transp(y, point, moved_v), v)


def test_transport_carries_the_velocity_of_a_geodesic_along(manifold, point, vectors):
    u = vectors[0]
    y = manifold.expmap(point, u)
    close(manifold.transp(point, y, u), -manifold.logmap(y, point))


def test_transport_solves_the_equation_of_parallel_transport(manifold, point, vectors):
    """dV/dt = -X sym(dXᵀ/dt V) along t ↦ X exp(tA), integrated by the Runge-Kutta method."""
    u, v = vectors
    a = point.mT @ u

    def slope(t, w):
        x = point @ torch.matrix_exp(t * a)
        inner = (x @ a).mT @ w
        return -x @ (0.5 * (inner + inner.mT))

    steps = 200
    h = 1 / steps
    for k in range(steps):
        k1 = slope(k * h, v)
        k2 = slope(k * h + h / 2, v + h / 2 * k1)
        k3 = slope(k * h + h / 2, v + h / 2 * k2)
        k4 = slope(k * h + h, v + h * k3)
        v = v + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    torch.testing.assert_close(
        manifold.transp_follow_expmap(point, u, vectors[1]), v, rtol=1e-9, atol=1e-9
    )


def test_steps_with_transport_agree_with_their_parts(manifold, point, vectors):
    u, v = vectors
    y, moved = manifold.expmap_transp(point, u, v)
    close(y, manifold.expmap(point, u))
    close(moved, manifold.transp(point, y, v))
    for other in (manifold.retr_transp, manifold.expmap_transp):
        close(other(point, u, v)[0], y)
    close(manifold.transp_follow_retr(point, u, v), moved)


def test_shapes_are_checked(manifold):
    with pytest.raises(ValueError, match="square"):
        manifold.random(4, 3)
    with pytest.raises(ValueError, match="square"):
        manifold.assert_check_point(torch.zeros(3, 2))
    with pytest.raises(ValueError, match="not lying on SpecialOrthogonal"):
        manifold.assert_check_point_on_manifold(torch.zeros(3, 3))


def test_the_manifold_and_its_parameters_are_copied_and_pickled(manifold):
    parameter = geoopt.ManifoldParameter(manifold.random(2, 3, 3))
    for other in (copy.deepcopy(parameter), pickle.loads(pickle.dumps(parameter))):  # noqa: S301
        assert isinstance(other.manifold, SpecialOrthogonal)
        assert torch.equal(other, parameter)


def test_many_short_steps_leave_no_drift(manifold):
    """2000 products of float32 rotations end as near to the manifold as one of them."""
    generator = torch.Generator().manual_seed(0)
    x = torch.eye(3).repeat(4, 1, 1)
    plain = x
    for _ in range(2000):
        u = x @ rotation.hat(0.1 * torch.randn(4, 3, generator=generator))
        plain = plain @ rotation.exp(x.mT @ u)
        x = manifold.expmap(x, u)
    eye = torch.eye(3)
    drift = float((x.mT @ x - eye).abs().max())
    assert drift < 5e-7  # four units in the last place
    assert float((plain.mT @ plain - eye).abs().max()) > 4 * drift


def test_geoopt_is_not_imported_before_it_is_asked_for():
    code = "import sys, liebn.models, liebn.optim; assert 'geoopt' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_only_known_names_are_in_the_package():
    with pytest.raises(AttributeError, match="Nonsense"):
        _ = liebn.optim.Nonsense
