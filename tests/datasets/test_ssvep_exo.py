"""ssvep-exo: domains, excluded sessions, and covariances from the raw epochs."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from liebn import datasets
from liebn.datasets import ssvep_exo
from tests.datasets.tolerances import DECOMPOSITIONS

REAL_FOLDER = "ssvep_exo_eeg"


def write(root: Path, spd: Callable) -> dict[str, np.ndarray]:
    """Two subjects with two and one sessions of four trials; one session is excluded."""
    columns = {
        "label": np.tile(np.arange(4), 4),
        "subject": np.repeat([1, 1, 2, 2], 4),
        "session": np.repeat([0, 1, 0, 1], 4),
        "excluded_by_authors": np.repeat([False, False, True, False], 4),
    }
    folder = root / "ssvep-exo"
    folder.mkdir()
    epochs = np.random.default_rng(0).standard_normal((16, 8, 1280)).astype(np.float32)
    np.savez(folder / ssvep_exo.COVARIANCES, cov=spd(16, 24), **columns)
    np.savez(folder / ssvep_exo.EPOCHS, X=epochs, **columns)
    return columns


def test_excluded_sessions_are_dropped_and_reported(tmp_path: Path, spd: Callable) -> None:
    write(tmp_path, spd)
    data = datasets.load("ssvep-exo", root=tmp_path)
    assert data.points.shape == (12, 24, 24)
    assert data.report == ("dropped 4 trials in 1 sessions its authors discard",)
    assert np.unique(data.domains).tolist() == [0, 1, 2]
    assert [len(s.test) for s in data.splits("inter-session")] == [4, 4]
    assert [len(s.test) for s in data.splits("inter-subject")] == [8, 4]


def test_excluded_sessions_can_be_kept(tmp_path: Path, spd: Callable) -> None:
    write(tmp_path, spd)
    data = datasets.load("ssvep-exo", root=tmp_path, keep_excluded=True)
    assert len(data) == 16
    assert data.report == ()


def test_raw_epochs(tmp_path: Path, spd: Callable) -> None:
    write(tmp_path, spd)
    data = datasets.load("ssvep-exo", root=tmp_path, form="epochs")
    assert (data.space, data.points.shape) == ("signal", (12, 8, 1280))


def test_an_unknown_form_is_refused(tmp_path: Path, spd: Callable) -> None:
    write(tmp_path, spd)
    with pytest.raises(datasets.DatasetError, match="covariance, epochs, filtered, got 'x'"):
        datasets.load("ssvep-exo", root=tmp_path, form="x")


def test_domains_number_the_pairs_that_occur() -> None:
    subjects, sessions = np.array([7, 2, 7, 2]), np.array([0, 3, 0, 1])
    assert ssvep_exo.domains_of(subjects, sessions).tolist() == [2, 1, 2, 0]


def test_the_filter_bank_hears_the_frequency_it_is_tuned_to() -> None:
    """A tone at one stimulus frequency shows up in that block, frequency-major, and nowhere."""
    time = np.arange(1280) / 256
    for block, frequency in enumerate(ssvep_exo.STIMULI):
        epoch = np.zeros((1, 8, 1280))
        epoch[0, 3] = np.sin(2 * np.pi * frequency * time)
        power = np.diag(ssvep_exo.filter_bank_covariance(epoch)[0])
        assert np.argmax(power) == 8 * block + 3
        assert 0.4 < power.max() < 0.51  # a sine has 1/2, less what the filter takes to settle
        assert np.sort(power)[-2] < 0.01


def test_only_the_last_three_seconds_count() -> None:
    time = np.arange(1280) / 256
    tone = np.sin(2 * np.pi * 17.0 * time)
    power = {}
    for second in (0, 2):
        epoch = np.zeros((1, 8, 1280))
        epoch[0, 0] = tone * ((time >= second) & (time < second + 1))
        power[second] = np.trace(ssvep_exo.filter_bank_covariance(epoch)[0])
    assert power[2] > 0.05  # a third of the time, half a unit of power, smoothed by the filter
    assert power[0] < 0.1 * power[2]


@pytest.mark.data
def test_real_epochs_give_the_real_covariances(real: Callable[[str], Path]) -> None:
    root = real(REAL_FOLDER)
    options = {"root": root, "keep_excluded": True}
    epochs = datasets.load("ssvep-exo", form="epochs", **options).points[::16]
    given = datasets.load("ssvep-exo", **options).points[::16]
    made = ssvep_exo.filter_bank_covariance(epochs)
    size = np.abs(given).max(axis=(1, 2), keepdims=True)
    assert (np.abs(made - given) < DECOMPOSITIONS * size).all()


@pytest.mark.data
def test_the_real_file(real: Callable[[str], Path]) -> None:
    data = datasets.load("ssvep-exo", root=real(REAL_FOLDER))
    assert data.points.shape == (864, 24, 24)
    assert np.bincount(data.labels).tolist() == [216] * 4
    assert len(np.unique(data.domains)) == 27
    assert np.linalg.eigvalsh(data.points).min() > 0
    assert data.report == ("dropped 160 trials in 5 sessions its authors discard",)
