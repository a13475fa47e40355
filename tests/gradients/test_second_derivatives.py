"""A second derivative of `linalg.spectral` is right; elsewhere it is refused in so many words."""

import pytest
import torch
from torch.autograd import gradgradcheck

from liebn.groups import SO, spd
from liebn.linalg import rotation, spectral
from tests.gradients.test_gradcheck import SYMMETRIC, positive, softplus

FUNCTIONS = {
    "log": spectral.log,
    "exp": spectral.exp,
    "sqrt": spectral.sqrt,
    "power": lambda x: spectral.power(x, -0.7),
    "hypotenuse": lambda x: spectral.apply(x, spectral.Hypotenuse()),
    "softplus": lambda x: spectral.apply(x, spectral.Smooth(softplus)),
    "floor": lambda x: spectral.apply(x, spectral.Floor(0.7)),
}


@pytest.mark.parametrize("x", SYMMETRIC.values(), ids=SYMMETRIC.keys())
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS.keys())
def test_matrix_functions(function, x):
    x = positive(x).requires_grad_()
    assert gradgradcheck(lambda x: function(spectral.symmetrise(x)), x, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("x", SYMMETRIC.values(), ids=SYMMETRIC.keys())
def test_powers_with_an_exponent_per_matrix(x):
    x = positive(x).expand(2, 3, 3).clone().requires_grad_()
    p = torch.tensor([0.6, -1.2], dtype=torch.float64, requires_grad=True)
    power = lambda x, p: spectral.power(spectral.symmetrise(x), p)  # noqa: E731
    assert gradgradcheck(power, (x, p), atol=1e-5, rtol=1e-4)
    assert gradgradcheck(lambda x: power(x, p.detach()), x, atol=1e-5, rtol=1e-4)
    assert gradgradcheck(lambda p: power(x.detach(), p), p, atol=1e-5, rtol=1e-4)


def refused(function, x):
    """Neither silence nor a wrong number, whether it is asked for now or later."""
    x = x.detach().requires_grad_()

    def twice():
        (gradient,) = torch.autograd.grad(function(x).square().sum(), x, create_graph=True)
        torch.autograd.grad(gradient.square().sum(), x)

    with pytest.raises(RuntimeError, match="second derivative is not provided"):
        twice()


def test_a_third_derivative_is_refused():
    x = positive(SYMMETRIC["distinct"])

    def slope(x):
        y = spectral.log(spectral.symmetrise(x)).square().sum()
        return torch.autograd.grad(y, x, create_graph=True)[0]

    refused(slope, x)


D = torch.diag(torch.tensor([0.5, 1.0, 3.0])).double()

REFUSING = {
    "rotation log": (rotation.log, 3),
    "rotation log in 4 dimensions": (rotation.log, 4),
    "rotation project": (rotation.project, 3),
    "SO(3) ray": (lambda x: SO(3).ray(x).squared_norm(), 3),
    "AIM ray": (lambda x: spd(3).ray(x @ D @ x.mT).squared_norm(), 3),
    "AIM power": (lambda x: spd(3).ray(x @ D @ x.mT).at(torch.tensor(0.5).double()), 3),
    "AIM mean": (lambda x: spd(3).mean(x @ D @ x.mT), 3),
    "SO(3) mean": (SO(3).mean, 3),
}


@pytest.mark.parametrize("name", REFUSING)
def test_elsewhere_a_second_derivative_is_refused(name, generator):
    function, n = REFUSING[name]
    refused(function, SO(n).random(2, generator=generator, dtype=torch.float64))
