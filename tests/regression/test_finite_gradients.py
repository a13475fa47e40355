"""Places where a derivative exists and careless code returns NaN. Each was a bug somewhere once."""

import pytest
import torch

from liebn.groups import SO, spd
from liebn.linalg import rotation, spectral
from tests.cases import DTYPES, Setting
from tests.laws.collection import Laws

LAWS = Laws()
BOTH = pytest.mark.parametrize("dtype", DTYPES)


def finite_gradient(function, *inputs):
    inputs = [x.detach().requires_grad_() for x in inputs]
    gradients = torch.autograd.grad(function(*inputs).square().sum(), inputs)
    assert all(bool(torch.isfinite(g).all()) for g in gradients)
    return gradients


@BOTH
@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_logarithm_of_the_identity_rotation(n, dtype):
    e = SO(n).identity(3, dtype=dtype)
    finite_gradient(lambda x: SO(n).log(x) + 1, e)
    v, u = torch.zeros_like(e, requires_grad=True), torch.randn_like(e)
    (pulled,) = torch.autograd.grad(SO(n).log(SO(n).exp(v)), v, u)
    torch.testing.assert_close(pulled, 0.5 * (u - u.mT))


@LAWS.add(besides=["bad"])
def distances_of_coinciding_points_have_gradients(setting: Setting) -> None:
    space = setting.space
    (x,) = setting.points(1)
    a, b = x.clone().requires_grad_(), x.clone().requires_grad_()
    gradients = torch.autograd.grad(space.distance(a, b).sum(), [a, b])
    assert all(bool(torch.isfinite(g).all()) for g in gradients)
    squares = torch.autograd.grad(space.squared_distance(a, b).sum(), [a, b])
    assert all(bool((g.abs() < 1e-2).all()) for g in squares)


@LAWS.everywhere
def test_finite_gradients(law, setting):
    law(setting)


@BOTH
@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_rotation_by_exactly_a_half_turn(n, dtype):
    r = torch.diag(torch.tensor([-1.0, -1.0] + [1.0] * (n - 2), dtype=dtype)).expand(2, n, n)
    finite_gradient(SO(n).log, r)
    finite_gradient(lambda x: SO(n).ray(x).at(torch.tensor(0.3, dtype=dtype)), r)
    log = SO(n).log(r)
    assert bool(torch.isfinite(log).all())
    assert log.norm(dim=(-2, -1))[0].item() == pytest.approx(2**0.5 * torch.pi, rel=1e-6)
    torch.testing.assert_close(SO(n).exp(log), r, atol=1e-5, rtol=0)


@BOTH
@pytest.mark.parametrize("metric", ["aim", "lem", "lcm", "gyro-aim", "crim"])
@pytest.mark.parametrize("theta", [1.0, 0.5, 0.0])
def test_repeated_eigenvalues(metric, theta, dtype):
    space = spd(3, metric, theta=theta)
    x = torch.stack([torch.eye(3), 2 * torch.eye(3), torch.diag(torch.tensor([2.0, 2, 1]))])
    x = x.to(dtype)
    finite_gradient(space.log, x)
    finite_gradient(lambda x: space.mean(x), x)
    finite_gradient(lambda x: space.centre(x).ray.at(torch.tensor(0.5, dtype=dtype)), x)
    finite_gradient(lambda x: space.centre(x).variance, x[:1].expand(3, 3, 3))


@BOTH
def test_projection_of_a_rotation_onto_itself(dtype):
    finite_gradient(rotation.project, torch.eye(3, dtype=dtype).expand(2, 3, 3))


@BOTH
@pytest.mark.parametrize("p", [0.0, 1.0, -1.0, 0.5])
def test_power_of_the_identity_with_an_exponent_of_its_own(p, dtype):
    x = torch.eye(3, dtype=dtype).expand(2, 3, 3)
    finite_gradient(spectral.power, x, torch.full((2,), p, dtype=dtype))


@BOTH
def test_a_zero_weight(dtype):
    """A sample without weight has gradient zero."""
    for space in (spd(3), spd(3, "gyro-aim"), spd(3, "lcm"), SO(3), SO(4)):
        x = space.random(4, generator=torch.Generator().manual_seed(1), dtype=dtype)
        if space.injectivity_radius < torch.inf:
            x = space.exp(0.2 * space.log(x))
        weights = torch.tensor([1.0, 0.0, 2.0, 1.0], dtype=dtype)
        (gradient,) = finite_gradient(lambda x, s=space, w=weights: s.mean(x, weights=w), x)
        assert not bool(gradient[1].any())
