"""The charts of correlation matrices against closed forms, SciPy and mpmath."""

from collections.abc import Callable

import mpmath
import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
import torch
from torch import Tensor

from liebn.diffeos import UnipotentLog
from liebn.groups import correlation
from tests.cases import DTYPES, WORST, relative_error
from tests.laws.samples import orthogonal
from tests.tolerances import tolerance

METRICS = ("ecm", "lecm", "olm", "lsm")


def pair(r: Tensor, sign: float = 1.0) -> Tensor:
    """[[1, r], [r, 1]], or with -r at either place."""
    one = torch.ones_like(r)
    return torch.stack([one, sign * r, sign * r, one], -1).unflatten(-1, (2, 2))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("metric", METRICS)
def test_two_variables(metric, dtype):
    """With the hyperbolic angle a = artanh ρ: sinh a below the diagonal, or ±a."""
    angle = torch.linspace(-3, 3, 13, dtype=torch.float64).to(dtype)
    space, x = correlation(2, metric), pair(angle.tanh())
    zero = torch.zeros_like(angle)
    if metric in ("ecm", "lecm"):
        rows = [zero, zero, angle.sinh(), zero]
    else:
        rows = [zero, angle, angle, zero] if metric == "olm" else [-angle, angle, angle, -angle]
    expected = torch.stack(rows, -1).unflatten(-1, (2, 2))
    kappa = float(torch.linalg.cond(x.double()).max())
    assert relative_error(space.log(x), expected, 2) <= tolerance("oracle", dtype, kappa)
    assert relative_error(space.exp(expected), x, 2) <= tolerance("oracle", dtype)


def unit_factor(c: np.ndarray) -> np.ndarray:
    lower = scipy.linalg.cholesky(c, lower=True)
    return lower / np.diag(lower)[:, None]


def scaled(c: np.ndarray) -> np.ndarray:
    """D C D of unit row sums, by SciPy's root-finder in log D."""
    n = len(c)
    found = scipy.optimize.root(
        lambda u: np.exp(u) * (c @ np.exp(u)) - 1, np.zeros(n), tol=1e-14, method="lm"
    )
    d = np.exp(found.x)
    return d[:, None] * c * d[None, :]


CHARTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "ecm": lambda c: unit_factor(c) - np.eye(len(c)),
    "lecm": lambda c: scipy.linalg.logm(unit_factor(c)),
    "olm": lambda c: scipy.linalg.logm(c) * (1 - np.eye(len(c))),
    "lsm": lambda c: scipy.linalg.logm(scaled(c)),
}


def from_covariance(x: np.ndarray) -> np.ndarray:
    d = 1 / np.sqrt(np.diag(x))
    return d[:, None] * x * d[None, :]


def completed(s: np.ndarray) -> np.ndarray:
    """exp(S + D) of unit diagonal, by SciPy's root-finder."""

    def excess(d: np.ndarray) -> np.ndarray:
        return np.log(np.diag(scipy.linalg.expm(s + np.diag(d))))

    found = scipy.optimize.root(excess, np.zeros(len(s)), tol=1e-14, method="lm")
    return scipy.linalg.expm(s + np.diag(found.x))


INVERSES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "ecm": lambda y: from_covariance((np.eye(len(y)) + y) @ (np.eye(len(y)) + y).T),
    "lecm": lambda y: from_covariance(scipy.linalg.expm(y) @ scipy.linalg.expm(y).T),
    "olm": completed,
    "lsm": lambda y: from_covariance(scipy.linalg.expm(y)),
}


@pytest.mark.parametrize("n", [3, 5])
@pytest.mark.parametrize("metric", METRICS)
def test_scipy(metric, n, generator):
    space = correlation(n, metric)
    v = 0.7 * space.model.random(3, generator=generator, dtype=torch.float64)
    x = space.exp(v)
    allowed = tolerance("oracle", torch.float64, float(torch.linalg.cond(x).max()))
    expected = [INVERSES[metric](y) for y in v.numpy()]
    assert relative_error(x, torch.as_tensor(np.array(expected)), 2) <= allowed
    expected = [np.real(CHARTS[metric](c)) for c in x.numpy()]
    assert relative_error(space.log(x), torch.as_tensor(np.array(expected)), 2) <= allowed
    far = [np.linalg.norm(a - b) for a, b in zip(v[1:].numpy(), v[:-1].numpy(), strict=True)]
    assert relative_error(space.distance(x[1:], x[:-1]), torch.as_tensor(far), 0) <= allowed


def as_tensor(x: mpmath.matrix) -> Tensor:
    rows = [[float(entry) for entry in row] for row in x.tolist()]
    return torch.tensor(rows, dtype=torch.float64)


UNIPOTENT = {
    "ones": lambda n, generator: torch.ones(n, n).double(),
    "random": lambda n, generator: torch.randn(n, n, generator=generator, dtype=torch.float64),
    "large": lambda n, generator: 1e3 * torch.randn(n, n, generator=generator).double(),
}


@pytest.mark.parametrize("n", [2, 3, 4, 7, 16])
@pytest.mark.parametrize("kind", UNIPOTENT)
def test_logarithm_of_unipotent_matrices(kind, n, generator):
    """Exact for every n, odd or even; each of the n - 1 powers of N rounds once more."""
    x = UNIPOTENT[kind](n, generator).tril(-1)
    with mpmath.workdps(80):
        nilpotent = mpmath.matrix(x.tolist())
        power, expected = mpmath.eye(n), mpmath.zeros(n)
        for k in range(1, n):
            power = power * nilpotent
            expected += (-1) ** (k + 1) * power / k
    error = relative_error(UnipotentLog()(x), as_tensor(expected), 2)
    assert error <= tolerance("matrix-function", torch.float64, n)


@pytest.mark.parametrize("n", [2, 3, 4, 7, 16])
def test_exponential_of_nilpotent_matrices(n, generator):
    y = torch.randn(n, n, generator=generator, dtype=torch.float64).tril(-1)
    with mpmath.workdps(80):
        expected = as_tensor(mpmath.expm(mpmath.matrix(y.tolist()), method="taylor"))
    error = relative_error(UnipotentLog().inverse(y) + torch.eye(n), expected, 2)
    assert error <= tolerance("matrix-function", torch.float64, 1 + float(y.norm()))


def exact_log(x: mpmath.matrix) -> Tensor:
    """The logarithm of a positive definite matrix to the precision at work."""
    values, vectors = mpmath.eigsy(x)
    return as_tensor(vectors * mpmath.diag([mpmath.log(v) for v in values]) * vectors.T)


def exactly_scaled(c: Tensor) -> Tensor:
    """log(D C D) to 60 digits: D by coordinate-wise minimisation, then by Newton's method."""
    n = len(c)
    with mpmath.workdps(60):
        x = mpmath.matrix(c.tolist())
        d = mpmath.ones(n, 1)
        for _ in range(40):
            for i in range(n):
                rest = sum(x[i, j] * d[j] for j in range(n) if j != i)
                d[i] = (mpmath.sqrt(rest**2 + 4 * x[i, i]) - rest) / (2 * x[i, i])
        for _ in range(60):
            gradient = x * d - mpmath.matrix([1 / e for e in d])
            step = mpmath.lu_solve(x + mpmath.diag([1 / e**2 for e in d]), gradient)
            length = mpmath.mpf(1)
            while min(d[i] - length * step[i] for i in range(n)) <= 0:
                length /= 2
            d = d - length * step
        assert mpmath.norm(x * d - mpmath.matrix([1 / e for e in d]), 1) < mpmath.mpf(10) ** -40
        scaling = mpmath.diag(list(d))
        return exact_log(scaling * x * scaling)


@pytest.mark.parametrize("dtype", DTYPES)
def test_scaling_of_ill_conditioned_matrices(dtype, generator):
    n, kappa = 4, WORST[dtype]
    exponents = torch.linspace(-1, 0, n, dtype=torch.float64)
    basis = orthogonal(3, n, generator)
    x = (basis * (kappa**exponents).unsqueeze(-2)) @ basis.mT
    d = x.diagonal(dim1=-2, dim2=-1).rsqrt()
    x = (d.unsqueeze(-1) * x * d.unsqueeze(-2)).to(dtype)
    x = 0.5 * (x + x.mT)
    expected = torch.stack([exactly_scaled(c) for c in x.double()])
    worst = float(torch.linalg.cond(x.double()).max())
    assert worst > 0.01 * kappa
    found = correlation(n, "lsm").log(x).double()
    assert relative_error(found, expected, 2) <= tolerance("matrix-function", dtype, worst)


@pytest.mark.parametrize("dtype", DTYPES)
def test_completion_to_ill_conditioned_matrices(dtype, generator):
    """The correlation matrix found has, to 50 digits, the logarithm asked for."""
    n, space = 4, correlation(4, "olm")
    size = 0.45 * float(np.log(WORST[dtype]))
    s = space.model.random(3, generator=generator, dtype=torch.float64)
    s = (s * size / torch.linalg.matrix_norm(s, 2)[:, None, None]).to(dtype)
    x = space.exp(s)
    kappa = float(torch.linalg.cond(x.double()).max())
    assert kappa > WORST[dtype] ** 0.5
    with mpmath.workdps(50):
        logs = torch.stack([exact_log(mpmath.matrix(c.tolist())) for c in x.double()])
    logs = logs * (1 - torch.eye(n))
    assert relative_error(logs, s.double(), 2) <= tolerance("matrix-function", dtype, kappa)
