"""The radar simulator, its cache, its covariances, and the published layout."""

import hashlib
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from liebn import datasets
from liebn.datasets import radar
from liebn.datasets.simulate import microdoppler as md
from tests.datasets.tolerances import FLOAT64

column = np.array([[1.0]])
rotor = {
    "length": 0.1 * column,
    "rate": 90.0 * column,
    "phase": 0.1 * column,
    "angle": 0.3 * column,
    "pitch": 0.2 * column,
}


def test_a_blade_returns_the_integral_over_its_length() -> None:
    """The closed form against the phase summed along the blade: (1/L) int exp(i k r c) dr."""
    time = np.array([0.0007, 0.0021, 0.0063])
    result = md.rotor_return(time, blades=1, **rotor)[0]
    root, tip = 0.1 * md.ROOT_TO_TIP, 0.1
    for t, value in zip(time, result, strict=True):
        turn = 2 * np.pi * (90 * t + 0.1)
        k = md.WAVENUMBER * np.cos(0.3) * np.sin(turn)
        parts = [quad(lambda r, f=f, k=k: f(k * r), root, tip)[0] for f in (np.cos, np.sin)]
        a = np.sin(0.3 + 0.2) + np.sin(0.3 - 0.2)
        b = np.sin(0.3 + 0.2) - np.sin(0.3 - 0.2)
        mean = complex(*parts) / (tip - root)
        np.testing.assert_allclose(value, (a + b * np.cos(turn)) * mean, rtol=1e-8)


@pytest.mark.parametrize("blades", [2, 3])
def test_the_return_repeats_with_every_blade(blades: int) -> None:
    time = np.linspace(0, 0.01, 50)
    later = time + 1 / (90 * blades)
    now, then = (md.rotor_return(t, blades, **rotor) for t in (time, later))
    np.testing.assert_allclose(now, then, atol=1e-10)


def test_the_tip_sets_the_highest_doppler_frequency() -> None:
    """A tip at 2 pi f L cos(angle) shifts by twice that over the wavelength."""
    time = np.arange(4000) / 40e3
    spectrum = np.abs(np.fft.fft(md.rotor_return(time, blades=2, **rotor)[0])) ** 2
    frequencies = np.abs(np.fft.fftfreq(4000, 1 / 40e3))
    edge = 2 * np.pi * 90 * 0.1 * np.cos(0.3) * md.WAVENUMBER / (2 * np.pi)
    assert spectrum[frequencies > 1.15 * edge].sum() < 0.02 * spectrum.sum()
    assert spectrum[frequencies > 0.75 * edge].sum() > 0.02 * spectrum.sum()


def test_no_blade_tip_is_aliased() -> None:
    fastest = max(2 * np.pi * d.rotation_rate[1] * d.blade_length[1] for d in md.DRONES)
    highest = (fastest + md.VELOCITY[1]) * md.WAVENUMBER / (2 * np.pi)
    assert highest < md.SAMPLING_RATE / 2


def test_the_simulator_gives_these_very_bits() -> None:
    """If this changes, the simulator has changed: raise `radar.VERSION`."""
    codes, labels = md.simulate_radar(per_class=20, seed=0)
    assert (codes.shape, codes.dtype) == ((60, 1000, 2), np.dtype(np.int16))
    np.testing.assert_array_equal(labels, np.repeat([0, 1, 2], 20))
    little_endian = codes.astype("<i2").tobytes()
    assert (
        hashlib.sha256(little_endian).hexdigest()
        == "50017b62b5002574f47441fba4f392423a671002f84e89777c03eb75e0e8df33"
    )


def test_another_seed_gives_other_signals() -> None:
    first, second = (md.simulate_radar(per_class=2, seed=s)[0] for s in (0, 1))
    assert not np.array_equal(first, second)


def test_digitising_is_rounding_and_nothing_is_clipped() -> None:
    signals = md.received(md.DRONES[0], 50, np.random.default_rng(0))
    codes = md.digitise(signals)
    assert np.abs(codes.astype(int)).max() < np.iinfo(np.int16).max
    error = md.to_signals(codes) - signals
    assert np.abs(error.real).max() <= md.STEP / 2 + 1e-6
    assert np.abs(error.imag).max() <= md.STEP / 2 + 1e-6


def test_too_strong_a_signal_is_clipped_and_not_wrapped() -> None:
    codes = md.digitise(np.array([1e6 - 1e6j]))
    np.testing.assert_array_equal(codes, [[32767, -32767]])


def test_the_cache_returns_what_was_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    first = radar.cached_codes(per_class=3, seed=5)
    monkeypatch.setattr(radar, "simulate_radar", None)  # a second simulation would fail
    second = radar.cached_codes(per_class=3, seed=5)
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


def test_an_unwritable_cache_is_no_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "liebn").write_text("a file where the folder should be")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    codes, _ = radar.cached_codes(per_class=2, seed=0)
    assert len(codes) == 6


def test_covariances_follow_the_published_windows() -> None:
    rng = np.random.default_rng(0)
    signal = rng.standard_normal((1, 120)) + 1j * rng.standard_normal((1, 120))
    rows = np.stack([signal[0, s : s + 20] for s in range(0, 101, 10)])
    rows = rows - rows.mean(axis=0)
    expected = rows.T @ rows.conj() / (len(rows) - 1)
    np.testing.assert_allclose(
        radar.radar_covariances(signal)[0], expected.real, atol=FLOAT64, rtol=FLOAT64
    )


def test_the_default_set_is_simulated_and_says_so() -> None:
    data = datasets.load("radar", per_class=40)
    assert data.simulated
    assert "simulated" in data.report[0]
    assert data.points.shape == (120, 20, 20)
    assert np.linalg.eigvalsh(data.points).min() > 0
    np.testing.assert_array_equal(data.points, data.points.swapaxes(1, 2))
    assert np.bincount(data.labels).tolist() == [40, 40, 40]


def test_the_real_representation_is_forty_by_forty() -> None:
    assert datasets.load("radar", per_class=10, form="real-representation").points.shape[1] == 40


def test_an_unknown_form_is_refused() -> None:
    with pytest.raises(datasets.DatasetError, match="real-part or real-representation"):
        radar.radar_covariances(np.ones((1, 100), dtype=complex), form="complex")


def log_vectors(matrices: np.ndarray) -> np.ndarray:
    """The upper triangle of the matrix logarithm, off-diagonal entries times sqrt 2."""
    values, vectors = np.linalg.eigh(matrices)
    logs = (vectors * np.log(values)[:, None, :]) @ vectors.swapaxes(1, 2)
    i, j = np.triu_indices(matrices.shape[-1])
    return logs[:, i, j] * np.where(i == j, 1, np.sqrt(2))


@pytest.mark.parametrize(
    "classifier",
    [
        make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
        LinearDiscriminantAnalysis(),
    ],
    ids=["logistic", "discriminant"],
)
def test_a_linear_classifier_scores_between_80_and_93_percent(classifier) -> None:
    data = datasets.load("radar")
    vectors = log_vectors(data.points)
    for seed in range(4):
        (split,) = data.splits("random", seed)
        assert (len(split.train), len(split.validation), len(split.test)) == (1500, 750, 750)
        classifier.fit(vectors[split.train], data.labels[split.train])
        assert 0.80 <= classifier.score(vectors[split.test], data.labels[split.test]) <= 0.93


def write_published(folder: Path, labels: list[int], length: int = 200) -> None:
    folder.mkdir()
    rng = np.random.default_rng(1)
    for i, label in enumerate(labels):
        signal = rng.standard_normal(length) + 1j * rng.standard_normal(length)
        np.save(folder / f"signal_{i}_{label}.npy", signal)


def test_real_files_take_the_place_of_the_simulator(tmp_path: Path) -> None:
    write_published(tmp_path / "radar", [0, 1, 2, 0])
    data = datasets.load("radar", root=tmp_path)
    assert not data.simulated
    assert data.points.shape == (4, 20, 20)
    assert data.labels.tolist() == [0, 1, 2, 0]
    first = np.load(tmp_path / "radar" / "signal_0_0.npy")
    np.testing.assert_allclose(data.points[0], radar.radar_covariances(first[None])[0])


def test_signals_of_different_length_are_refused(tmp_path: Path) -> None:
    write_published(tmp_path / "radar", [0, 1])
    np.save(tmp_path / "radar" / "x_2.npy", np.ones(150, dtype=complex))
    with pytest.raises(datasets.DatasetError, match=r"x_2.npy: expected shape \(200\), got"):
        datasets.load("radar", root=tmp_path)


def test_a_real_valued_signal_is_refused(tmp_path: Path) -> None:
    (tmp_path / "radar").mkdir()
    np.save(tmp_path / "radar" / "x_0.npy", np.ones(150))
    with pytest.raises(datasets.DatasetError, match=r"x_0.npy: expected a dtype of kind 'c'"):
        datasets.load("radar", root=tmp_path)
