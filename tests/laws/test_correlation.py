"""What holds on correlation matrices alone, and Newton's method behind two of their charts."""

from itertools import pairwise

import pytest
import torch
from torch import Tensor

from liebn.diffeos import log_scaling, off_log
from liebn.groups import Pullback, correlation
from liebn.linalg import InvalidPointError, newton
from liebn.linalg import correlation as matrices
from tests.cases import DTYPES, relative_error
from tests.tolerances import tolerance

METRICS = ("ecm", "lecm", "olm", "lsm")
metrics = pytest.mark.parametrize("metric", METRICS)


def points(metric: str, count: int, generator: torch.Generator, n: int = 4) -> Tensor:
    space = correlation(n, metric)
    return space.random(count, generator=generator, dtype=torch.float64)


def agree(actual: Tensor, expected: Tensor, *origins: Tensor, dims: int = 2) -> None:
    kappa = max(float(torch.linalg.cond(x).max()) for x in origins)
    allowed = tolerance("axioms", torch.float64, kappa)
    assert relative_error(actual, expected, dims) <= allowed


@metrics
def test_the_identity_is_no_correlation(metric):
    assert torch.equal(correlation(3, metric).identity(2), torch.eye(3).expand(2, 3, 3))


@metrics
def test_the_groups_commute(metric, generator):
    space, (x, y) = correlation(4, metric), points(metric, 2, generator)
    agree(space.compose(x, y), space.compose(y, x), x, y)


@metrics
def test_a_permutation_of_the_variables(metric, generator):
    """An isometry and an isomorphism under olm and lsm; by Cholesky factors the order matters."""
    space, (x, y) = correlation(4, metric), points(metric, 2, generator)
    order = torch.tensor([2, 0, 3, 1])

    def permuted(c: Tensor) -> Tensor:
        return c[..., order, :][..., order]

    distance = space.distance(permuted(x), permuted(y)), space.distance(x, y)
    if metric in ("ecm", "lecm"):
        assert float((distance[0] - distance[1]).abs()) > 0.01
    else:
        agree(*distance, x, y, dims=0)
        product = space.compose(x, y)
        agree(space.compose(permuted(x), permuted(y)), permuted(product), x, y, product)


def test_the_inverse_under_lsm_is_the_correlation_matrix_of_the_inverse(generator):
    space, x = correlation(4, "lsm"), points("lsm", 5, generator)
    agree(space.inverse(x), matrices.normalise(torch.linalg.inv(x)), x)


def test_scaling_does_not_see_the_variances(generator):
    x = points("lsm", 5, generator)
    d = torch.linspace(0.1, 10, 4, dtype=torch.float64)
    chart = log_scaling.LogScaling()
    agree(chart(d.unsqueeze(-1) * x * d), chart(x), x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_scaling_takes_matrices_that_are_all_but_singular(dtype, generator):
    """What has a Cholesky factor has a logarithm, though D C D may be indefinite by rounding."""
    n, eps = 10, torch.finfo(dtype).eps
    a = torch.randn(40, n, n - 2, generator=generator, dtype=torch.float64)
    x = matrices.normalise(a @ a.mT + 4 * eps * torch.eye(n)).to(dtype)
    x = x[torch.linalg.cholesky_ex(x).info == 0]
    chart = log_scaling.LogScaling()
    y = chart(x)
    assert len(x) > 4
    assert bool(torch.isfinite(y).all())
    assert float(y.sum(-1).abs().max() / y.abs().max()) <= tolerance("axioms", dtype)


@metrics
def test_the_model_is_a_vector_space_of_the_right_dimension(metric, generator):
    n = 4
    model = correlation(n, metric).model
    basis = torch.eye(n * n, dtype=torch.float64).reshape(-1, n, n)
    rank = torch.linalg.matrix_rank(model.project(basis).flatten(-2))
    assert int(rank) == n * (n - 1) // 2
    v = model.random(3, generator=generator, dtype=torch.float64)
    agree(model.project(v), v, torch.eye(n))
    other = torch.randn(3, n, n, generator=generator, dtype=torch.float64)
    left, right = (v * (other - model.project(other))).sum((-2, -1)), torch.zeros(3)
    agree(left, right, torch.eye(n), dims=0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_projection_of_what_is_far_from_a_correlation_matrix(dtype):
    x = torch.stack([torch.zeros(5, 5), -torch.eye(5), torch.ones(5, 5), 1e6 * torch.eye(5)])
    x[3, 0, 0] = 0
    found = matrices.project(x.to(dtype))
    assert bool((matrices.violation(found) <= tolerance("violation", dtype)).all())


def test_a_covariance_matrix_is_no_correlation_matrix():
    x = torch.stack([torch.eye(3), 2 * torch.eye(3), torch.ones(3, 3), torch.full((3, 3), 2.0)])
    x[2] += torch.diag(torch.tensor([0.5, 0, 0]))
    violation = matrices.violation(x)
    assert violation[0] == 0
    assert violation[1] == 1
    assert bool((violation[2:] >= 0.5).all())


def test_there_are_four_metrics_and_two_variables_at_least():
    with pytest.raises(ValueError, match=r"unknown metric 'aim'.*ecm, lecm, olm, lsm"):
        correlation(3, "aim")
    with pytest.raises(ValueError, match="need n ≥ 2, got 1"):
        correlation(1)
    assert correlation(2).point_shape == (2, 2)
    assert isinstance(correlation(5), Pullback)


def hollow(size: float, generator: torch.Generator, count: int = 8, n: int = 5) -> Tensor:
    s = correlation(n, "olm").model.random(count, generator=generator, dtype=torch.float64)
    return size * s


def recorded(module, problem: Tensor, start: Tensor) -> Tensor:
    """The absolute residual of every candidate, (steps, systems), as Newton's method meets them."""
    seen = []

    def evaluate(u: Tensor) -> newton.Trial:
        trial = module._trial(problem, u)
        seen.append(residual(module, problem, u))
        return trial

    newton.solve(evaluate, start, module.FAILURE)
    return torch.stack(seen)


def residual(module, problem: Tensor, u: Tensor) -> Tensor:
    """How far exp(S + D) is from a unit diagonal, or D C D from unit row sums."""
    if module is off_log:
        image = torch.matrix_exp(problem + u.diag_embed()).diagonal(dim1=-2, dim2=-1)
    else:
        image = (u.unsqueeze(-1) * problem * u.unsqueeze(-2)).sum(-1)
    return (image - 1).abs().amax(-1)


@pytest.mark.parametrize("size", [0.5, 1.5])
@pytest.mark.parametrize("module", [off_log, log_scaling], ids=["olm", "lsm"])
def test_newton_converges_quadratically(module, size, generator):
    """Once it is under 1/20, a residual is at most 4 times the square of the one before."""
    problem, start = hollow(size, generator), torch.zeros(8, 5, dtype=torch.float64)
    if module is log_scaling:
        problem, start = correlation(5, "olm").exp(problem), start + 1
    history = recorded(module, problem, start)
    assert bool((history[-1] < 1e-12).all())
    steps = 0
    for now, following in pairwise(history):
        near = (now < 0.05) & (now > 1e-7)  # its square is above what rounding leaves
        assert bool((following[near] <= 4 * now[near] ** 2 + 1e-12).all())
        steps += int((near & (following < 1e-3 * now)).sum())
    assert steps >= 8


def test_newton_is_damped_where_full_steps_diverge(generator):
    """At condition numbers from 1e8 to 1e17, as full steps show, which end nowhere."""
    s = hollow(6.0, generator)
    start = torch.zeros(8, 5, dtype=torch.float64)
    history = recorded(off_log, s, start)
    assert bool((history[1:] > history[:-1]).any())
    d = start
    for _ in range(30):
        d = d + torch.nan_to_num(off_log._trial(s, d).step).clamp(-1e3, 1e3)
    assert not bool((residual(off_log, s, d) < 1e-6).all())


@pytest.mark.parametrize("size", [1e3, 1e200])
def test_newton_says_which_it_did_not_solve(size, generator):
    s = hollow(0.3, generator).reshape(2, 4, 5, 5)
    s[1, 2] *= size
    with pytest.raises(InvalidPointError, match="Newton's method did not find") as error:
        correlation(5, "olm").exp(s)
    assert error.value.index == (1, 2)
    assert "sample [1, 2] needs a diagonal D" in str(error.value)


def test_newton_solves_each_system_by_itself(generator):
    s = torch.stack([hollow(size, generator, 1)[0] for size in (0.1, 5.0, 1.0)])
    together = correlation(5, "olm").exp(s)
    alone = torch.stack([correlation(5, "olm").exp(x) for x in s])
    agree(together, alone, torch.eye(5))
