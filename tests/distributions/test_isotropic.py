"""Gaussians of constant curvature, against closed forms and other laws."""

import math

import numpy as np
import pytest
import torch
from scipy import integrate, special, stats

from liebn.distributions import Gaussian, NoLawError, law_of
from liebn.distributions.isotropic import IsotropicLaw
from liebn.groups import SO, Ball, Grassmann, Sphere
from tests.distributions.test_samples import COUNT, cdf_of, passes

SIGMAS = (0.05, 0.5, 1.0, 4.0)


@pytest.mark.parametrize("sigma", SIGMAS)
def test_rotations_of_space_have_curvature_an_eighth(sigma):
    """SO(3) with d = √2 θ is the projective space of that curvature: two laws, one space."""
    one, other = IsotropicLaw(SO(3), 1 / 8), law_of(SO(3))
    assert one.log_partition(sigma) == pytest.approx(other.log_partition(sigma), rel=1e-11)
    assert one.variance(sigma) == pytest.approx(other.variance(sigma), rel=1e-10)


@pytest.mark.parametrize("sigma", SIGMAS)
@pytest.mark.parametrize("curvature", [-1.0, -0.3])
def test_hyperbolic_plane(sigma, curvature):
    """2π ∫ sinh(√c r)/√c exp(-r²/2σ²) dr = 2π √(π/2) σ/√c exp(cσ²/2) erf(√c σ/√2)."""
    c = -curvature
    wanted = (
        math.log(2 * math.pi * math.sqrt(math.pi / 2) * sigma / math.sqrt(c))
        + c * sigma**2 / 2
        + math.log(math.erf(math.sqrt(c) * sigma / math.sqrt(2)))
    )
    assert law_of(Ball(2, curvature)).log_partition(sigma) == pytest.approx(wanted, rel=1e-10)


@pytest.mark.parametrize("n", [2, 3, 4, 6])
def test_wide_gaussians_of_spheres_are_uniform(n):
    wanted = math.log(2) + n / 2 * math.log(math.pi) - special.gammaln(n / 2)
    assert law_of(Sphere(n)).log_partition(1e4) == pytest.approx(wanted, abs=1e-6)
    # Lines are pairs of opposite points.
    lines = law_of(Grassmann(n, 1)).log_partition(1e4)
    assert lines == pytest.approx(wanted - math.log(2), abs=1e-6)


@pytest.mark.parametrize("space", [Sphere(3), Ball(4, -0.5), Grassmann(4, 3)], ids=str)
@pytest.mark.parametrize("sigma", SIGMAS)
def test_variance_is_the_derivative_of_the_partition_function(space, sigma):
    law, h = law_of(space), 1e-4 * sigma
    slope = (law.log_partition(sigma + h) - law.log_partition(sigma - h)) / (2 * h)
    assert law.variance(sigma) == pytest.approx(sigma**3 * slope, rel=1e-6)


@pytest.mark.parametrize(
    "space, area, end",
    [
        (Sphere(4), lambda r: np.sin(r) ** 2, math.pi),
        (Grassmann(4, 1), lambda r: np.sin(r) ** 2, math.pi / 2),
        (Ball(3), lambda r: (1 - np.exp(-2 * r)) ** 2 * np.exp(2 * r), 40),
        (Ball(3, -0.25), lambda r: (1 - np.exp(-r)) ** 2 * np.exp(r), 40),
    ],
    ids=["sphere", "lines", "ball", "wide ball"],
)
@pytest.mark.parametrize("sigma", [0.3, 1.0, 3.0])
def test_radii(space, area, end, sigma, generator):
    mean = space.random(generator=generator, dtype=torch.float64)
    x = Gaussian(space, mean, sigma).sample(COUNT, generator)
    end = min(end, 2 * sigma**2 + 12 * sigma)
    density = lambda r: area(r) * np.exp(-((r / sigma) ** 2) / 2)  # noqa: E731
    assert passes(space.distance(mean, x), cdf_of(density, end))
    flat = cdf_of(
        lambda r: r ** law_of(space).dimension / r.clip(1e-9) * np.exp(-((r / sigma) ** 2) / 2), end
    )
    assert sigma < 1 or not passes(space.distance(mean, x), flat)


def test_directions_are_uniform(generator):
    v = law_of(Sphere(3)).tangents(1.0, COUNT, generator)
    angle = torch.atan2(v[:, 2], v[:, 1])
    assert stats.kstest(angle.numpy(), stats.uniform(-math.pi, 2 * math.pi).cdf).pvalue > 1e-3


def test_density_integrates_to_one_on_the_sphere():
    mean = torch.tensor([0.6, 0.0, 0.8], dtype=torch.float64)
    gaussian = Gaussian(Sphere(3), mean, 0.9)

    def density(z, turn):
        s = math.sqrt(1 - z * z)
        x = torch.tensor([z, s * math.cos(turn), s * math.sin(turn)], dtype=torch.float64)
        return float(gaussian.log_density(x).exp())

    nodes, weights = np.polynomial.legendre.leggauss(40)
    turns = np.linspace(0, 2 * math.pi, 61)[:-1]
    total = sum(w * density(z, t) for z, w in zip(nodes, weights, strict=True) for t in turns)
    assert total * turns[1] == pytest.approx(1, abs=1e-3)


def test_other_subspaces_are_refused():
    with pytest.raises(NoLawError, match="lines among"):
        law_of(Grassmann(4, 2))


def test_radial_integral_by_quadrature():
    wanted, _ = integrate.quad(lambda r: math.sin(r) ** 3 * math.exp(-(r**2) / 0.5), 0, math.pi)
    assert IsotropicLaw(Sphere(5), 1.0).radius(0.5).log_integral == pytest.approx(math.log(wanted))
