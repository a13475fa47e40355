"""Draws have the distribution they are said to have."""

import math

import numpy as np
import pytest
import torch
from scipy import stats

from liebn.distributions import Gaussian, NoLawError, law_of, sample_gaussian
from liebn.distributions.affine_invariant import log_swelling, tightest_bound
from liebn.distributions.basis import orthonormal_basis
from liebn.distributions.law import WORTHWHILE
from liebn.groups import SE, SO, Euclidean, Gyrogroup, Product, Transvection, catalog, right, spd

COUNT = 4000
# For a seed chosen beforehand, a right sampler fails one test in a thousand, once and for all.
UNLIKELY = 1e-3

SPACES = {
    **{name: make(3).double().requires_grad_(False) for name, make in catalog.items()},
    "line": Euclidean(),
    "so(2)": SO(2),
    "so(5)": SO(5),
    "right(so)": right(SO(3)),
    "aim(-0.5,2,0.3)": spd(3, theta=-0.5, alpha=2.0, beta=0.3),
    "aim(6)": spd(6),
    "lem(1,-0.3)": spd(3, "lem", beta=-0.3),
    "lcm(0)": spd(3, "lcm", theta=0.0),
    "lcm(1.5)": spd(3, "lcm", theta=1.5),
    "products": Product(spd(2), Product(SO(3), spd(2, "lcm"))),
}


def known(space: Gyrogroup) -> bool:
    try:
        law_of(space)
    except NoLawError:
        return False
    return True


KNOWN = {name: space for name, space in SPACES.items() if known(space)}


def gaussian_on(space, sigma, generator):
    return Gaussian(space, space.random(generator=generator, dtype=torch.float64), sigma)


def on_spaces(function):
    return pytest.mark.parametrize("space", KNOWN.values(), ids=KNOWN.keys())(function)


def passes(sample, cdf):
    return stats.kstest(np.asarray(sample), cdf).pvalue > UNLIKELY


def cdf_of(density, end):
    """The distribution function of a density on [0, end], by the trapezoid rule."""
    x = np.linspace(0, end, 20001)
    y = density(x)
    total = np.concatenate([[0], np.cumsum(0.5 * (y[1:] + y[:-1]))])
    return lambda t: np.interp(t, x, total / total[-1])


@on_spaces
@pytest.mark.parametrize("sigma", [0.2, 1.0])
def test_moments(space, sigma, generator):
    """The mean of d² is what the law says, and the mean logarithm is zero, within 4 deviations."""
    gaussian = gaussian_on(space, sigma, generator)
    x = gaussian.sample(COUNT, generator)
    squares = space.squared_distance(gaussian.mean, x)
    error = float(squares.std()) / COUNT**0.5
    assert abs(float(squares.mean()) - gaussian.variance) < 4 * error
    assert space.violation(x).max() < 1e-9
    logs = space.log(space.untranslate(gaussian.mean, x))
    norm = float(space.squared_norm(logs.mean(0)))
    assert norm < 4**2 * gaussian.variance / COUNT


@pytest.mark.parametrize(
    "space", [s.model for s in KNOWN.values() if not isinstance(s.model, Product)], ids=str
)
def test_directions_are_isotropic(space, generator):
    """Where rotations of the algebra act: Σ log ⊗ log is the identity times a number."""
    law = law_of(space)
    basis = orthonormal_basis(space)
    assert len(basis) == law.dimension
    v = law.tangents(0.8, COUNT, generator)
    pairs = [(v + b, v - b) for b in basis]
    c = torch.stack([0.25 * (space.squared_norm(p) - space.squared_norm(m)) for p, m in pairs])
    covariance = (c @ c.mT / COUNT).numpy()
    own = np.linalg.eigvalsh(covariance)
    # In AIM the trace, a flat direction, varies less than the others: only these agree.
    spread = own[1:].max() / own[1:].min() if law.dimension > 1 else 1.0
    assert spread < 1 + 8 * math.sqrt(law.dimension / COUNT)


@pytest.mark.parametrize("name", ["euclidean", "spd-lem", "spd-lcm", "lem(1,-0.3)", "lcm(0)"])
def test_squared_distances_on_flat_spaces_are_chi_squared(name, generator):
    space = SPACES[name]
    gaussian = gaussian_on(space, 0.7, generator)
    squares = space.squared_distance(gaussian.mean, gaussian.sample(COUNT, generator))
    law = stats.chi2(gaussian.law.dimension)
    assert passes(squares / 0.7**2, law.cdf)
    # A wrong factor of the least kind, √2 in one of six entries, would fail.
    assert not passes(squares / 0.7**2 * (1 + 1 / 6), law.cdf)


@pytest.mark.parametrize("metric", ["aim", "gyro-aim", "crim"])
@pytest.mark.parametrize("sigma", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("alpha, beta", [(1.0, 0.0), (2.0, -0.5)])
def test_gaps_of_eigenvalues_on_matrices_of_size_2(metric, sigma, alpha, beta, generator):
    space = spd(2, metric, alpha=alpha, beta=beta)
    gaussian = gaussian_on(space, sigma, generator)
    x = gaussian.sample(COUNT, generator)
    r = torch.linalg.eigvalsh(space.log(space.untranslate(gaussian.mean, x)))
    gap, tau = r[:, 1] - r[:, 0], sigma / alpha**0.5

    def density(half):
        return lambda g: np.exp(-((g / tau) ** 2) / 4 + g / 2) * half(g)

    end = 2 * tau**2 + 12 * tau
    assert passes(gap, cdf_of(density(lambda g: 1 - np.exp(-g)), end))
    # The density of flat space, without the curvature, is another.
    flat = cdf_of(lambda g: g * np.exp(-((g / tau) ** 2) / 4), end)
    assert passes(gap, flat) == (tau < 0.5)
    trace = stats.norm(0, sigma * (2 / (alpha + 2 * beta)) ** 0.5)
    assert passes(r.sum(-1), trace.cdf)


@pytest.mark.parametrize("sigma", [0.4, 1.2, 3.0])
def test_widest_gap_on_matrices_of_size_3(sigma, generator):
    """P(r_1 - r_3 = s) is the integral over the middle eigenvalue."""
    gaussian = gaussian_on(spd(3), sigma, generator)
    v = gaussian.law.tangents(sigma, COUNT, generator)
    r = torch.linalg.eigvalsh(v)

    @np.vectorize
    def density(s):
        a = np.linspace(0, s, 400)
        b = s - a
        # Scaled by exp(-s), against overflow.
        sinh = (1 - np.exp(-a)) * (1 - np.exp(-b)) * (1 - np.exp(-s))
        return np.trapezoid(sinh * np.exp(s - (a * a + a * b + b * b) / (3 * sigma**2)), a)

    x = np.linspace(0, 3 * sigma**2 + 8 * sigma, 1500)
    y = density(x)
    total = np.cumsum(y) / y.sum()
    assert passes(r[:, 2] - r[:, 0], lambda t: np.interp(t, x, total))


def test_both_envelopes_are_used_and_give_one_law(generator):
    """At the same σ, drawn each way."""
    n, sigma = 4, 1.6
    law, bound, swelling = law_of(spd(n)), tightest_bound(n, sigma), log_swelling(n, sigma)
    one = law._from_algebra(bound, swelling, sigma, COUNT, generator)
    other = law._from_chamber(swelling, sigma, COUNT, generator)
    for statistic in (
        lambda v: v.square().sum((-2, -1)),
        lambda v: torch.linalg.eigvalsh(v)[:, -1],
        lambda v: v[:, 0, 1],
    ):
        assert stats.ks_2samp(statistic(one), statistic(other)).pvalue > UNLIKELY
    widths = (0.1, 3.0)
    acceptance = [(log_swelling(n, t), tightest_bound(n, t)) for t in widths]
    wins = [s.value - b.log_mass >= s.log_pfaffian for s, b in acceptance]
    assert wins == [True, False]


@pytest.mark.parametrize("make", [SO, lambda n: Transvection(SO(n)), lambda n: right(SO(n))])
@pytest.mark.parametrize("sigma", [0.3, 1.0, 3.0])
def test_angles_of_rotations(make, sigma, generator):
    space = make(3)
    gaussian = gaussian_on(space, sigma, generator)
    x = gaussian.sample(COUNT, generator)
    angle = space.distance(gaussian.mean, x) / 2**0.5
    gauss = lambda t: np.exp(-((t / sigma) ** 2))  # noqa: E731
    assert passes(angle, cdf_of(lambda t: (1 - np.cos(t)) * gauss(t), math.pi))
    assert not passes(angle, cdf_of(lambda t: t**2 * gauss(t), math.pi)) or sigma < 1


@pytest.mark.parametrize("sigma", [0.5, 1.0, 2.5])
def test_angles_of_rotations_of_rank_2(sigma, generator):
    """The larger angle on SO(4), where no factor 1 - cos θ stands by itself."""
    v = law_of(SO(4)).tangents(sigma, COUNT, generator)
    largest = torch.linalg.eigvalsh(1j * v)[:, -1]
    nodes, weights = np.polynomial.legendre.leggauss(60)

    @np.vectorize
    def density(t):
        b = 0.5 * t * (nodes + 1)
        inner = (np.cos(t) - np.cos(b)) ** 2 * np.exp(-((b / sigma) ** 2))
        return 0.5 * t * (weights * inner).sum() * np.exp(-((t / sigma) ** 2))

    x = np.linspace(0, math.pi, 2000)
    total = np.cumsum(density(x))
    assert passes(largest, lambda t: np.interp(t, x, total / total[-1]))


def test_the_same_seed_gives_the_same_points():
    draws = [
        sample_gaussian(spd(3), torch.eye(3), 0.5, 7, torch.Generator().manual_seed(3))
        for _ in range(2)
    ]
    assert torch.equal(*draws)
    assert draws[0].dtype == torch.float32
    assert draws[0].shape == (7, 3, 3)


@on_spaces
def test_no_points(space, generator):
    gaussian = gaussian_on(space, 0.5, generator)
    assert gaussian.sample(0, generator).shape == (0, *space.point_shape)


def test_rigid_motions_are_rotations_and_vectors(generator):
    space = SE(3)
    law, product = law_of(space), law_of(Product(SO(3), Euclidean(3)))
    assert law.log_partition(0.7) == product.log_partition(0.7)
    assert law.variance(0.7) == product.variance(0.7)
    gaussian = gaussian_on(space, 0.7, generator)
    x = gaussian.sample(COUNT, generator)
    _, t = space.unpack(space.untranslate(gaussian.mean, x))
    assert passes((t / 0.7).square().sum(-1), stats.chi2(3).cdf)


def test_size_1_is_a_line(generator):
    law = law_of(spd(1, alpha=4.0))
    assert law.log_partition(0.5) == law.flat_log_partition(0.5)
    assert float(law.tangents(0.5, COUNT, generator).std()) == pytest.approx(0.25, rel=0.05)


def test_no_size_up_to_12_is_hopeless():
    for tau in (0.1, 0.7, 1.0, 1.1, 1.2, 1.5, 3.0, 10.0):
        swelling, bound = log_swelling(12, tau), tightest_bound(12, tau)
        algebra = -math.inf if bound is None else swelling.value - bound.log_mass
        assert max(algebra, swelling.log_pfaffian) > math.log(WORTHWHILE)


def test_hopeless_rejection_is_refused():
    with pytest.raises(NoLawError, match="smaller space"):
        sample_gaussian(spd(30), torch.eye(30), 1.0, 1)


def test_unknown_space_is_refused():
    class Unknown(Gyrogroup):
        __repr__ = lambda self: "Unknown()"  # noqa: E731

    Unknown.__abstractmethods__ = frozenset()
    with pytest.raises(NoLawError, match=r"whose Gaussians are known.*got Unknown\(\)"):
        law_of(Unknown())


@pytest.mark.parametrize(
    "mean, sigma, words",
    [
        (torch.eye(3), 1.0, "one point"),
        (torch.eye(2), 0.0, "sigma > 0"),
        (torch.eye(2), -1.0, "σ|sigma"),
    ],
)
def test_wrong_parameters_are_refused(mean, sigma, words):
    with pytest.raises(ValueError, match=words):
        Gaussian(spd(2), mean, sigma)


def test_a_negative_number_is_refused():
    with pytest.raises(ValueError, match="n ≥ 0"):
        sample_gaussian(spd(2), torch.eye(2), 1.0, -1)
