"""Covariances: axes, estimators, regularisation, the real forms of Hermitian matrices."""

import numpy as np
import pytest
from sklearn.covariance import empirical_covariance, ledoit_wolf

from liebn.datasets import covariance
from liebn.datasets.errors import DatasetError, MissingExtraError, require
from tests.datasets.tolerances import FLOAT64

rng = np.random.default_rng(0)
signals = rng.standard_normal((3, 5, 40))
hermitian = covariance.covariances(
    rng.standard_normal((4, 6, 30)) + 1j * rng.standard_normal((4, 6, 30))
)


def test_the_default_is_numpys_covariance_of_channels() -> None:
    expected = np.stack([np.cov(signal) for signal in signals])
    np.testing.assert_allclose(covariance.covariances(signals), expected, rtol=FLOAT64)


@pytest.mark.parametrize(
    "name, oracle", [("scm", empirical_covariance), ("lwf", lambda x: ledoit_wolf(x)[0])]
)
def test_other_estimators_are_scikit_learns(name: str, oracle: object) -> None:
    expected = np.stack([oracle(signal.T) for signal in signals])
    result = covariance.covariances(signals, estimator=name)
    np.testing.assert_allclose(result, expected, rtol=FLOAT64, atol=FLOAT64)


def test_regularisation_does_not_depend_on_the_unit(spd) -> None:
    matrices = spd(3, 4)
    small = covariance.add_to_diagonal(1e-12 * matrices, 1e-3)
    np.testing.assert_allclose(1e12 * small, covariance.add_to_diagonal(matrices, 1e-3), rtol=1e-12)


def test_regularisation_adds_a_fraction_of_the_trace(spd) -> None:
    matrices = spd(3, 4)
    added = covariance.add_to_diagonal(matrices, 0.5) - matrices
    expected = 0.5 * np.trace(matrices, axis1=1, axis2=2)[:, None, None] * np.eye(4)
    np.testing.assert_allclose(added, expected, rtol=FLOAT64, atol=FLOAT64)


def test_definite_matrices_are_left_alone(spd) -> None:
    matrices = spd(3, 4)
    result, report = covariance.make_definite(matrices, 1e-3)
    assert result is matrices
    assert report == []


def test_one_singular_matrix_regularises_the_set(spd) -> None:
    matrices = spd(3, 4)
    matrices[1] = np.ones((4, 4))
    result, report = covariance.make_definite(matrices, 1e-3)
    np.testing.assert_array_equal(result, covariance.add_to_diagonal(matrices, 1e-3))
    assert "1 of 3 are singular" in report[0]


def test_zero_matrices_are_found_by_name(spd) -> None:
    matrices = spd(3, 4)
    matrices[1] = 0
    keep, report = covariance.drop_zero(matrices, ["a", "b", "c"])
    assert keep.tolist() == [True, False, True]
    assert report == ["dropped 1 all-zero matrix, not positive definite: b"]


def test_windows_are_the_slices_they_should_be() -> None:
    signal = np.arange(100.0)
    cut = covariance.windows(signal, length=20, hop=10)
    assert cut.shape == (20, 9)
    for k in range(9):
        np.testing.assert_array_equal(cut[:, k], signal[10 * k : 10 * k + 20])


def test_a_signal_of_one_window_is_refused() -> None:
    with pytest.raises(DatasetError, match="at least 30 values"):
        covariance.windows(np.zeros((2, 29)), length=20, hop=10)


def test_the_real_part_is_definite_where_the_matrix_is() -> None:
    real = covariance.real_part(hermitian)
    np.testing.assert_array_equal(real, real.swapaxes(1, 2))
    least = np.linalg.eigvalsh(hermitian)[:, 0]
    assert (np.linalg.eigvalsh(real)[:, 0] >= least - FLOAT64).all()


def test_half_the_sum_of_both_parts_would_not_be_symmetric() -> None:
    half = (hermitian.real + hermitian.imag) / 2
    assert np.abs(half - half.swapaxes(1, 2)).max() > 0.01


def test_the_real_representation_has_every_eigenvalue_twice() -> None:
    real = covariance.real_representation(hermitian)
    np.testing.assert_allclose(real, real.swapaxes(1, 2), atol=FLOAT64)
    twice = np.repeat(np.linalg.eigvalsh(hermitian), 2, axis=1)
    np.testing.assert_allclose(np.linalg.eigvalsh(real), twice, rtol=1e-10)


def test_a_missing_library_says_what_to_install() -> None:
    with pytest.raises(MissingExtraError, match=r"no_such_library.*pip install 'liebn\[eeg\]'"):
        require("no_such_library.part", "eeg")
