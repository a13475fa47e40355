"""Maximum likelihood."""

import math

import pytest
import torch

from liebn.distributions import Gaussian, NoLawError, fit, law_of
from liebn.distributions.gaussian import sigma_of
from liebn.groups import SO, Euclidean, Product, spd

COUNT = 2000
CASES = {
    "line": (Euclidean(), 1.3),
    "lem": (spd(3, "lem"), 0.6),
    "lcm": (spd(3, "lcm", theta=0.5), 0.6),
    "aim": (spd(3), 1.2),
    "aim, narrow": (spd(4), 0.1),
    "gyro-aim": (spd(2, "gyro-aim", theta=0.5), 0.5),
    "crim": (spd(3, "crim"), 0.8),
    "so": (SO(3), 0.9),
    "product": (Product(SO(3), spd(2)), 0.7),
}


@pytest.fixture(params=CASES.values(), ids=CASES.keys())
def drawn(request, generator):
    space, sigma = request.param
    true = Gaussian(space, space.random(generator=generator, dtype=torch.float64), sigma)
    return true, true.sample(COUNT, generator)


def test_parameters_are_recovered(drawn):
    """Within four standard errors: d(M̂, M)² is about v²/N, and var d² gives that of σ̂."""
    true, x = drawn
    found = fit(true.space, x)
    assert float(true.space.squared_distance(found.mean, true.mean)) < 16 * true.variance / COUNT
    squares = true.space.squared_distance(true.mean, x)
    h = 1e-4
    slope = (true.law.variance(true.sigma + h) - true.law.variance(true.sigma - h)) / (2 * h)
    error = float(squares.std()) / COUNT**0.5 / slope
    assert abs(found.sigma - true.sigma) < 4 * error


def test_likelihood_is_largest(drawn):
    true, x = drawn
    found = fit(true.space, x)
    best = float(found.log_density(x).sum())
    for factor in (0.99, 1.01):
        assert (
            float(Gaussian(true.space, found.mean, factor * found.sigma).log_density(x).sum())
            < best
        )
    for seed in range(3):
        generator = torch.Generator().manual_seed(seed)
        step = 0.05 * true.space.log(true.space.random(generator=generator, dtype=torch.float64))
        moved = true.space.compose(found.mean, true.space.exp(step))
        assert float(Gaussian(true.space, moved, found.sigma).log_density(x).sum()) < best


def test_flat_closed_form(generator):
    x = torch.randn(50, 4, generator=generator, dtype=torch.float64)
    found = fit(Euclidean(4), x)
    centred = x - x.mean(0)
    assert found.sigma == pytest.approx(
        math.sqrt(float(centred.square().sum()) / 50 / 4), rel=1e-12
    )


def test_equal_points_are_refused():
    with pytest.raises(NoLawError, match="points that differ"):
        fit(Euclidean(2), torch.ones(5, 2))


def test_variances_beyond_that_of_uniform_points_are_refused():
    """At a local minimum only: the least dispersion is at most its average over all centres."""
    law = law_of(SO(2))
    uniform = 2 * math.pi**2 / 3
    assert law.variance(sigma_of(law, 0.99 * uniform)) == pytest.approx(0.99 * uniform)
    with pytest.raises(NoLawError, match="more concentrated"):
        sigma_of(law, 1.01 * uniform)


@pytest.mark.parametrize("shape", [(2,), (1, 2), (4, 3, 2)])
def test_too_few_points_are_refused(shape):
    with pytest.raises(ValueError, match="at least two points"):
        fit(Euclidean(2), torch.zeros(shape))
