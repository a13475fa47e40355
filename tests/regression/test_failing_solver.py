"""A decomposition that fails: one matrix must not spoil its batch, and the culprit has a name."""

import pytest
import torch

from liebn.groups import spd
from liebn.linalg import InvalidPointError, cholesky, spectral
from tests.cases import DTYPES, relative_error
from tests.tolerances import tolerance

MARK = 7.5
"""A matrix with this first entry is one that the solver simulated here cannot take."""


@pytest.fixture
def solver(monkeypatch):
    """torch.linalg.eigh as it is where a whole batch fails for one of its matrices."""
    original, calls = torch.linalg.eigh, []

    def eigh(x):
        calls.append((x.dim(), x.dtype))
        if x.dim() > 2 or bool((x[..., 0, 0] == MARK).any()):
            raise torch.linalg.LinAlgError("the algorithm failed to converge")
        return original(x)

    monkeypatch.setattr(torch.linalg, "eigh", eigh)
    return calls


@pytest.fixture
def batch(generator):
    return spd(3).random(2, 3, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize("dtype", DTYPES)
def test_each_matrix_is_tried_alone_in_float64(batch, dtype, request):
    x = batch.to(dtype)
    values, vectors = torch.linalg.eigh(x)
    calls = request.getfixturevalue("solver")
    found, basis = spectral.eigh(x)
    assert calls == [(4, dtype)] + [(2, torch.float64)] * 6
    assert (found.dtype, basis.dtype) == (dtype, dtype)
    assert (found.shape, basis.shape) == (values.shape, vectors.shape)
    rebuilt = spectral.rebuild(basis, found)
    assert relative_error(found, values, 1) <= tolerance("matrix-function", dtype)
    assert relative_error(rebuilt, x, 2) <= tolerance("matrix-function", dtype)


@pytest.mark.parametrize("dtype", [torch.complex128, torch.complex64])
def test_hermitian_matrices_stay_complex(batch, dtype, request):
    """The logarithm of a rotation decomposes i times a skew matrix."""
    x = (batch.triu(1) - batch.tril(-1)).mul(1j).to(dtype)
    values = torch.linalg.eigvalsh(x)
    calls = request.getfixturevalue("solver")
    found, basis = spectral.eigh(x)
    assert calls == [(4, dtype)] + [(2, torch.complex128)] * 6
    assert (found.dtype, basis.dtype) == (values.dtype, dtype)
    assert relative_error(found, values, 1) <= tolerance("matrix-function", values.dtype)
    rebuilt = (basis * found.unsqueeze(-2)) @ basis.mH
    assert relative_error(rebuilt, x, 2) <= tolerance("matrix-function", values.dtype)


def test_the_one_that_does_not_converge_is_named(batch, solver):
    batch[1, 2, 0, 0] = MARK
    with pytest.raises(InvalidPointError, match="does not converge") as error:
        spectral.log(batch)
    assert error.value.index == (1, 2)
    assert "sample [1, 2]" in str(error.value)


def test_a_single_matrix_that_does_not_converge(batch, solver):
    x = batch[0, 0]
    x[0, 0] = MARK
    with pytest.raises(InvalidPointError, match=r"the point .* does not converge") as error:
        spectral.exp(x)
    assert error.value.index == ()


def test_a_batch_that_fails_for_an_infinite_entry(batch, solver):
    batch[0, 1, 2, 2] = torch.inf
    with pytest.raises(InvalidPointError, match="not finite") as error:
        spectral.log(batch)
    assert error.value.index == (0, 1)


def test_a_solver_that_silently_returns_nan_is_asked_again(batch, monkeypatch):
    original = torch.linalg.eigh
    expected = original(batch).eigenvalues

    def eigh(x):
        values, vectors = original(x)
        return (values * torch.nan if x.dim() > 2 else values), vectors

    monkeypatch.setattr(torch.linalg, "eigh", eigh)
    found, _ = spectral.eigh(batch)
    assert relative_error(found, expected, 1) <= tolerance("matrix-function", torch.float64)


def test_a_cholesky_factor_that_overflows(batch, monkeypatch):
    """Finite entries with an infinite pivot, as a solver for a GPU may return it."""
    original = torch.linalg.cholesky_ex

    def cholesky_ex(x):
        lower, failed = original(x)
        lower[1, 0, 2, 2] = torch.inf
        return lower, failed

    monkeypatch.setattr(torch.linalg, "cholesky_ex", cholesky_ex)
    with pytest.raises(InvalidPointError, match="factor that overflows") as error:
        cholesky.factor(batch)
    assert error.value.index == (1, 0)
