"""The adaptive logarithm against mpmath, its inverse against a root found there, and autograd."""

import mpmath
import pytest
import torch

from liebn.diffeos import AdaptiveLog
from liebn.linalg import spectral
from tests.cases import DTYPES, WORST, relative_error
from tests.gradients.test_autograd_oracle import by_eigh, some_positive
from tests.laws.samples import orthogonal
from tests.oracles.test_matrix_functions import exactly, ill_conditioned
from tests.tolerances import tolerance

SLOPES = [(1.0, 1.0), (0.6, 1.7), (3.0, 0.25)]
slopes = pytest.mark.parametrize("p, q", SLOPES)


def learnt(p: float, q: float, dtype: torch.dtype = torch.float64) -> AdaptiveLog:
    """The map as training may leave it."""
    diffeo = AdaptiveLog().to(dtype)
    with torch.no_grad():
        diffeo.log_slopes.copy_(torch.tensor([p, q], dtype=torch.float64).log())
    return diffeo


def hyperbola(diffeo: AdaptiveLog):
    """G at mpmath's precision, for the slopes as they are stored."""
    p, q = (mpmath.exp(s) for s in diffeo.log_slopes.tolist())
    return lambda a: (p + q) / 2 * a + (q - p) / 2 * (mpmath.sqrt(1 + a**2) - 1)


def steepness(p: float, q: float) -> float:
    """What the slopes magnify an error by, one way and back."""
    return max(p, q, 1.0) / min(p, q, 1.0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kappa", [1.0, 1e4, "worst"])
@slopes
def test_values(p, q, kappa, dtype, generator):
    kappa = WORST[dtype] if kappa == "worst" else kappa
    diffeo, x = learnt(p, q, dtype), ill_conditioned(kappa, dtype, generator)
    g = hyperbola(diffeo)
    expected = exactly(x, lambda value: g(mpmath.log(value)))
    error = relative_error(diffeo(x).double(), expected, 2)
    assert error <= tolerance("matrix-function", dtype, kappa * steepness(p, q))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [1e-6, 1.0, 5.0])
@slopes
def test_inverse(p, q, size, dtype, generator):
    diffeo = learnt(p, q, dtype)
    y = size * torch.randn(3, 4, 4, generator=generator, dtype=torch.float64)
    y = spectral.symmetrise(y).to(dtype)
    g = hyperbola(diffeo)

    def inverse(value):
        # G is convex or concave, so that Newton's method converges from anywhere.
        slope = lambda a: mpmath.diff(g, a)  # noqa: E731
        return mpmath.exp(mpmath.findroot(lambda a: g(a) - value, value, solver="newton", df=slope))

    error = relative_error(diffeo.inverse(y).double(), exactly(y, inverse), 2)
    norm = float(torch.linalg.matrix_norm(y, 2).max())
    assert error <= tolerance("matrix-function", dtype, max(1.0, norm) * steepness(p, q) ** 2)


@slopes
def test_gradients_are_those_of_the_formula(p, q, generator):
    """In the matrix and in the slopes, of the map and of its inverse, by torch's own eigh."""
    x = some_positive(generator)
    ours, theirs = learnt(p, q), learnt(p, q)

    def formula(a):
        low, high = theirs.log_slopes.exp()
        return 0.5 * (low + high) * a + 0.5 * (high - low) * ((1 + a * a).sqrt() - 1)

    def solved(z):
        """G⁻¹, by Newton steps from below the solution, differentiated as they are."""
        a = torch.zeros_like(z)
        for _ in range(60):
            with torch.enable_grad():
                b = a.detach().requires_grad_()
                slope = torch.autograd.grad(formula(b).sum(), b)[0]
            a = a + (z - formula(a)) / slope
        return a

    pairs = [
        (ours, lambda x: by_eigh(x, lambda a: formula(a.log())), x),
        (ours.inverse, lambda y: by_eigh(y, lambda a: solved(a).exp()), ours(x).detach()),
    ]
    for function, oracle, point in pairs:
        u = torch.linspace(-1, 2, point.numel(), dtype=point.dtype).reshape(point.shape)
        found = []
        for f, own in ((function, ours), (oracle, theirs)):
            leaf = point.clone().requires_grad_()
            y = f(spectral.symmetrise(leaf))
            found.append(torch.autograd.grad(y, [leaf, own.log_slopes], u))
        for actual, expected in zip(*found, strict=True):
            scale = expected.abs().max()
            error = relative_error(actual / scale, expected / scale, actual.dim())
            assert error <= tolerance("gradient", torch.float64)


@slopes
def test_it_is_one_function_of_the_matrix(p, q, generator):
    """Not of the order of eigenvalues: it turns with the matrix, and is smooth at equal ones."""
    diffeo = learnt(p, q).requires_grad_(False)
    basis = orthogonal(1, 3, generator)[0]
    x = basis @ torch.diag(torch.tensor([0.4, 2.5, 2.5], dtype=torch.float64)) @ basis.mT
    turn = orthogonal(5, 3, generator)
    turned = turn @ diffeo(x) @ turn.mT
    error = relative_error(diffeo(turn @ x @ turn.mT), turned, 2)
    assert error <= tolerance("formula", torch.float64, steepness(p, q))
    v = spectral.symmetrise(torch.randn(5, 3, 3, generator=generator, dtype=torch.float64))
    for h in (1e-3, 1e-4):
        rest = diffeo(x + h * v) - diffeo(x) - h * diffeo.differential(x, v)
        assert float(rest.abs().max()) <= 10 * max(p, q) * h**2
