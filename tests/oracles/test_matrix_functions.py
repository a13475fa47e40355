"""Matrix functions and divided differences against mpmath, up to the worst κ promised."""

import mpmath
import numpy as np
import pytest
import scipy.linalg
import torch
from torch import Tensor

from liebn.linalg import spectral
from tests.cases import DTYPES, WORST, relative_error
from tests.laws.samples import orthogonal
from tests.tolerances import tolerance

KAPPAS = [1.0, 1e4, "worst"]


def ill_conditioned(kappa: float, dtype: torch.dtype, generator: torch.Generator) -> Tensor:
    exponents = torch.linspace(-0.5, 0.5, 4, dtype=torch.float64)
    basis = orthogonal(3, 4, generator)
    x = (basis * (kappa**exponents).unsqueeze(-2)) @ basis.mT
    return (0.5 * (x + x.mT)).to(dtype)


def exactly(x: Tensor, function) -> Tensor:
    """f(X) for the matrix as it is stored, each to 50 digits before it is rounded."""
    with mpmath.workdps(50):
        found = []
        for matrix in x:
            values, vectors = mpmath.eigsy(mpmath.matrix(matrix.tolist()))
            image = vectors * mpmath.diag([function(v) for v in values]) * vectors.T
            found.append([[float(entry) for entry in row] for row in image.tolist()])
    return torch.tensor(found, dtype=torch.float64)


FUNCTIONS = {
    "log": (spectral.log, mpmath.log),
    "sqrt": (spectral.sqrt, mpmath.sqrt),
    "power -1": (lambda x: spectral.power(x, -1.0), lambda a: 1 / a),
    "power 0.3": (lambda x: spectral.power(x, 0.3), lambda a: a ** mpmath.mpf("0.3")),
    "power -1.7": (lambda x: spectral.power(x, -1.7), lambda a: a ** mpmath.mpf("-1.7")),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kappa", KAPPAS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_ill_conditioned_matrices(name, kappa, dtype, generator):
    kappa = WORST[dtype] if kappa == "worst" else kappa
    function, exact = FUNCTIONS[name]
    x = ill_conditioned(kappa, dtype, generator)
    if name == "power 0.3":
        exact = lambda a: a ** (mpmath.mpf(3) / 10)  # noqa: E731
    error = relative_error(function(x).double(), exactly(x, exact), 2)
    assert error <= tolerance("matrix-function", dtype, kappa)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [1e-6, 1.0, 30.0])
def test_exponential(size, dtype, generator):
    """Backward stable: an error of eps ‖X‖ in X is one of eps ‖X‖ in exp X."""
    v = size * torch.randn(3, 4, 4, generator=generator, dtype=torch.float64)
    v = spectral.symmetrise(v).to(dtype)
    error = relative_error(spectral.exp(v).double(), exactly(v, mpmath.exp), 2)
    norm = float(torch.linalg.matrix_norm(v, 2).max())
    assert error <= tolerance("matrix-function", dtype, max(1.0, norm))


@pytest.mark.parametrize(
    "ours, theirs",
    [
        (spectral.log, scipy.linalg.logm),
        (spectral.exp, scipy.linalg.expm),
        (spectral.sqrt, scipy.linalg.sqrtm),
        (
            lambda x: spectral.power(x, -0.4),
            lambda x: scipy.linalg.fractional_matrix_power(x, -0.4),
        ),
    ],
    ids=["logm", "expm", "sqrtm", "fractional_matrix_power"],
)
def test_scipy(ours, theirs, generator):
    x = ill_conditioned(100.0, torch.float64, generator)
    expected = torch.as_tensor(np.array([np.real(theirs(m)) for m in x.numpy()]))
    assert relative_error(ours(x), expected, 2) <= tolerance("oracle", torch.float64, 100.0)


PAIRS = {
    "log": (spectral.Log(), mpmath.log, lambda a: 1 / a),
    "exp": (spectral.Exp(), mpmath.exp, mpmath.exp),
    "hypotenuse": (
        spectral.Hypotenuse(),
        lambda a: mpmath.sqrt(1 + a**2),
        lambda a: a / mpmath.sqrt(1 + a**2),
    ),
    **{
        f"power {p}": (
            spectral.Power(p),
            lambda a, p=p: a ** mpmath.mpf(p),
            lambda a, p=p: mpmath.mpf(p) * a ** (mpmath.mpf(p) - 1),
        )
        for p in (0.5, -1.0, 1.5, -0.25)
    },
}


def gaps(a: float, dtype: torch.dtype) -> Tensor:
    """a, and its neighbours at relative distances from one ulp to the worst condition number."""
    eps = torch.finfo(dtype).eps
    apart = [0.0, eps, 3 * eps, 1e3 * eps, eps**0.5, 1e-2, 0.5, 3.0, 1e3, WORST[dtype]]
    return torch.tensor([a * (1 + r) for r in apart], dtype=torch.float64).to(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("a", [1e-6, 0.7, 3.0])
@pytest.mark.parametrize("name", PAIRS)
def test_divided_differences(name, a, dtype):
    """Entry by entry, relative: no threshold loses a digit at any gap.

    A power magnifies the relative error of its argument by its exponent.
    """
    function, exact, slope = PAIRS[name]
    values = gaps(a, dtype) if name != "exp" else gaps(a, dtype).clamp_max(20.0)
    found = function.divided_difference(values).double()
    with mpmath.workdps(60):
        exactly = [mpmath.mpf(v) for v in values.tolist()]
        expected = torch.tensor(
            [
                [float((exact(p) - exact(q)) / (p - q) if p != q else slope(p)) for p in exactly]
                for q in exactly
            ],
            dtype=torch.float64,
        )
    error = float(((found - expected) / expected).abs().max())
    steepness = max(1.0, abs(getattr(function, "exponent", 1.0)))
    assert error <= tolerance("divided-difference", dtype, steepness)


@pytest.mark.parametrize("name", ["log", "exp", "hypotenuse", "power 0.5", "power -1.0"])
def test_second_divided_differences(name):
    """Relative to the largest of the table: a second derivative is asked for less."""
    function, exact, _ = PAIRS[name]
    a = torch.tensor([0.9, 1.0, 1.0, 1.0 + 1e-9, 1.01, 1.2, 2.5], dtype=torch.float64)
    found = function.second_divided_difference(a)
    with mpmath.workdps(60):
        x = [mpmath.mpf(v) for v in a.tolist()]
        # Equal arguments are told apart by far less than the answer can show.
        x = [v + k * mpmath.mpf("1e-20") for k, v in enumerate(x)]

        def second(p, q, r):
            p, q, r = p, q + mpmath.mpf("1e-22"), r + mpmath.mpf("2e-22")
            first = (exact(p) - exact(q)) / (p - q), (exact(q) - exact(r)) / (q - r)
            return float((first[0] - first[1]) / (p - r))

        table = [[[second(p, q, r) for r in x] for q in x] for p in x]
    expected = torch.tensor(table, dtype=torch.float64)
    error = float((found - expected).abs().max() / expected.abs().max())
    assert error <= tolerance("second-difference", torch.float64)
