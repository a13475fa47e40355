"""Normalizing constants and variances against integrals done otherwise."""

import math

import pytest
import torch
from scipy import integrate

from liebn.distributions import Gaussian, law_of
from liebn.distributions.rotation import RotationLaw
from liebn.groups import SO, Euclidean, Product, Transvection, spd

SIGMAS = (0.05, 0.3, 1.0, 3.0)
LAWS = {
    "aim(2)": spd(2),
    "aim(3,2,-0.5)": spd(3, alpha=2.0, beta=-0.5),
    "aim(5)": spd(5),
    "aim(0.5)": spd(3, theta=0.5),
    "gyro-aim": spd(4, "gyro-aim"),
    "lem": spd(3, "lem", beta=0.4),
    "so(2)": SO(2),
    "so(3)": SO(3),
    "so(5)": SO(5),
    "so×aim": Product(SO(3), spd(2), Euclidean(2)),
}


def on_laws(function):
    return pytest.mark.parametrize("space", LAWS.values(), ids=LAWS.keys())(function)


def sinhc(y):
    return math.sinh(y) / y if y else 1.0


@pytest.mark.parametrize("sigma", SIGMAS)
def test_affine_invariant_of_size_2_by_quadrature(sigma):
    """The gap g of the eigenvalues has the flat density g exp(-g²/4τ²) / 2τ²."""
    alpha, beta = 2.0, -0.7
    tau = sigma / alpha**0.5
    mean, _ = integrate.quad(
        lambda g: g * math.exp(-((g / tau) ** 2) / 4) * sinhc(g / 2) / (2 * tau**2),
        0,
        2 * tau**2 + 40 * tau,
    )
    wanted = 1.5 * math.log(2 * math.pi * sigma**2) + math.log(mean)
    found = law_of(spd(2, alpha=alpha, beta=beta)).log_partition(sigma)
    assert found == pytest.approx(wanted, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("sigma", [0.1, 0.7, 2.0])
def test_affine_invariant_of_size_3_by_quadrature(sigma):
    """Over the two gaps, whose squares sum to Σ (r - mean)² as ⅔ (a² + ab + b²)."""

    def weight(a, b):
        return math.exp(-(a * a + a * b + b * b) / (3 * sigma**2))

    def integral(part):
        end = 3 * sigma**2 + 12 * sigma
        return integrate.dblquad(
            lambda b, a: weight(a, b) * part(a) * part(b) * part(a + b), 0, end, 0, end
        )[0]

    curved, flat = integral(lambda g: 2 * math.sinh(g / 2)), integral(lambda g: g)
    law = law_of(spd(3))
    found = law.log_partition(sigma) - law.flat_log_partition(sigma)
    assert found == pytest.approx(math.log(curved / flat), rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("sigma", SIGMAS)
def test_rotations_of_space_by_quadrature(sigma):
    """The volume is 2^{3/2} 8π², of which the angle has the share (1 - cos θ) / π."""
    mean, _ = integrate.quad(
        lambda t: (1 - math.cos(t)) / math.pi * math.exp(-((t / sigma) ** 2)),
        0,
        math.pi,
        points=[min(sigma, 3)],
    )
    wanted = math.log(2**1.5 * 8 * math.pi**2 * mean)
    assert law_of(SO(3)).log_partition(sigma) == pytest.approx(wanted, rel=1e-10)


def test_rotations_of_the_plane_are_a_circle():
    sigma = 2.0
    half = 2**0.5 * math.pi
    wanted = math.log(sigma * math.sqrt(2 * math.pi) * math.erf(half / sigma / 2**0.5))
    assert law_of(SO(2)).log_partition(sigma) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("n, sigma", [(4, 0.5), (4, 2.0), (5, 0.5), (5, 2.0)])
def test_rotations_of_rank_2_by_quadrature(n, sigma):
    """Weyl's density, against the flat one with θ² for 2 - 2 cos θ where σ is small."""

    def integral(square, top):
        def density(b, a):
            both = (square(a) - square(b)) ** 2
            if n == 5:
                both *= square(a) * square(b)
            return both * math.exp(-(a * a + b * b) / sigma**2)

        return integrate.dblquad(density, 0, top, 0, top)[0]

    curved = integral(lambda t: 2 - 2 * math.cos(t), math.pi)
    flat = integral(lambda t: t * t, 12 * sigma)
    law = law_of(SO(n))
    found = law.log_partition(sigma) - law.flat_log_partition(sigma)
    assert found == pytest.approx(math.log(curved / flat), rel=1e-7, abs=1e-7)


@on_laws
@pytest.mark.parametrize("sigma", SIGMAS)
def test_variance_is_the_derivative_of_the_partition_function(space, sigma):
    law, h = law_of(space), 1e-4 * sigma
    slope = (law.log_partition(sigma + h) - law.log_partition(sigma - h)) / (2 * h)
    assert law.variance(sigma) == pytest.approx(sigma**3 * slope, rel=1e-6)


@on_laws
def test_small_gaussians_are_flat(space):
    law, sigma = law_of(space), 1e-3
    assert law.log_partition(sigma) == pytest.approx(law.flat_log_partition(sigma), abs=1e-4)
    assert law.variance(sigma) == pytest.approx(law.dimension * sigma**2, rel=1e-4)


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_wide_gaussians_of_rotations_are_uniform(n):
    law = RotationLaw(n)
    assert law.log_partition(1e4) == pytest.approx(law.log_volume, abs=1e-6)


def test_translations_along_geodesics_have_the_laws_of_the_group():
    gyro, group = law_of(Transvection(SO(3))), law_of(SO(3))
    assert gyro.log_partition(0.7) == group.log_partition(0.7)


def integral_over_matrices(gaussian, onto=None):
    """Over [[e^x, c], [c, e^y]], c = e^{(x+y)/2} tanh z, where the volume is √2 cosh z dx dy dz.

    That is AIM's; `onto` is an isometry from AIM to the space.
    """
    line = torch.linspace(-9, 9, 81, dtype=torch.float64)
    x, y, z = torch.meshgrid(line, line, line, indexing="ij")
    c = (0.5 * (x + y)).exp() * z.tanh()
    points = torch.stack([x.exp(), c, c, y.exp()], -1).unflatten(-1, (2, 2))
    points = points if onto is None else onto(points)
    density = gaussian.log_density(points) + z.cosh().log()
    return float(2**0.5 * density.exp().sum()) * float(line[1] - line[0]) ** 3


@pytest.mark.parametrize("metric", ["aim", "gyro-aim", "crim"])
@pytest.mark.parametrize("sigma", [0.5, 0.8])
def test_density_integrates_to_one_on_matrices_of_size_2(metric, sigma):
    mean = torch.tensor([[1.5, 0.4], [0.4, 0.8]], dtype=torch.float64)
    onto = spd(2).inverse if metric == "crim" else None
    found = integral_over_matrices(Gaussian(spd(2, metric), mean, sigma), onto)
    assert found == pytest.approx(1, abs=1e-6)


def test_density_integrates_to_one_under_alpha_and_beta():
    """The volume is that of the plain metric times √(α² (α + 2β))."""
    alpha, beta = 1.5, 0.5
    mean = torch.tensor([[1.2, -0.3], [-0.3, 1.0]], dtype=torch.float64)
    gaussian = Gaussian(spd(2, alpha=alpha, beta=beta), mean, 0.7)
    volume = math.sqrt(alpha**2 * (alpha + 2 * beta))
    assert volume * integral_over_matrices(gaussian) == pytest.approx(1, abs=1e-6)


def test_density_integrates_to_one_in_log_coordinates():
    """LEM: exp(V) over symmetric V, with the volume √2 √(α² (α + 2β)) of their entries."""
    alpha, beta = 2.0, -0.5
    space = spd(2, "lem", alpha=alpha, beta=beta)
    line = torch.linspace(-6, 6, 61, dtype=torch.float64)
    x, y, z = torch.meshgrid(line, line, line, indexing="ij")
    points = space.exp(torch.stack([x, z, z, y], -1).unflatten(-1, (2, 2)))
    mean = torch.tensor([[1.5, 0.4], [0.4, 0.8]], dtype=torch.float64)
    density = Gaussian(space, mean, 0.8).log_density(points).exp().sum()
    volume = 2**0.5 * math.sqrt(alpha**2 * (alpha + 2 * beta)) * float(line[1] - line[0]) ** 3
    assert float(density) * volume == pytest.approx(1, abs=1e-6)


def test_density_integrates_to_one_on_rotations():
    """Over z-y-z angles, where the volume is 2^{3/2} sin b; wide enough to meet the cut locus."""
    a = torch.linspace(0, 2 * torch.pi, 61, dtype=torch.float64)[:-1]
    b = (torch.arange(40, dtype=torch.float64) + 0.5) * torch.pi / 40
    turn, tilt, spin = torch.meshgrid(a, b, a, indexing="ij")

    def about(angle, k):
        v = torch.zeros(*angle.shape, 3, 3, dtype=torch.float64)
        i, j = (k + 1) % 3, (k + 2) % 3
        v[..., j, i], v[..., i, j] = angle, -angle
        return SO(3).exp(v)

    points = about(turn, 2) @ about(tilt, 1) @ about(spin, 2)
    mean = SO(3).random(generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    density = Gaussian(SO(3), mean, 1.5).log_density(points).exp() * tilt.sin()
    cell = 2**1.5 * float(a[1]) ** 2 * torch.pi / 40
    assert float(density.sum()) * cell == pytest.approx(1, abs=2e-3)
