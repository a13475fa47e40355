"""Hinss2021: the packed epochs, and the pipeline through MOABB where it is installed."""

import os
from pathlib import Path

import numpy as np
import pytest

from liebn import datasets
from liebn.datasets import hinss2021


def part(subject: int) -> dict[str, np.ndarray]:
    """Six epochs of one subject, two sessions."""
    return {
        "X": np.random.default_rng(subject).standard_normal((6, 2, 5)).astype(np.float32),
        "label": np.array([0, 1, 2, 0, 1, 2]),
        "subject": np.full(6, subject),
        "session": np.array([0, 0, 0, 1, 1, 1]),
        "channels": np.array(["Fp1", "Oz"]),
    }


def test_packed_epochs(tmp_path: Path) -> None:
    (tmp_path / "hinss2021").mkdir()
    hinss2021.pack([part(1), part(2)], tmp_path / "hinss2021" / hinss2021.PACKED)
    data = datasets.load("hinss2021", root=tmp_path)
    assert (data.space, data.points.shape) == ("signal", (12, 2, 5))
    assert data.points.dtype == np.float32
    np.testing.assert_array_equal(data.points[:6], part(1)["X"])
    assert data.domains.tolist() == [0] * 3 + [1] * 3 + [2] * 3 + [3] * 3
    assert [len(s.test) for s in data.splits("inter-session")] == [3] * 4
    assert [len(s.test) for s in data.splits("inter-subject")] == [6] * 2
    assert data.report[0].startswith("channels not recorded: fp2, fpz, af7")
    assert "oz" not in data.report[0].split(": ")[1].split(", ")


def test_an_unprepared_folder_says_what_to_run(tmp_path: Path) -> None:
    (tmp_path / "hinss2021").mkdir()
    (tmp_path / "hinss2021" / "P01.zip").touch()
    with pytest.raises(datasets.MissingDataError, match="liebn data fetch hinss2021"):
        datasets.load("hinss2021", root=tmp_path)


def test_a_class_without_an_epoch_is_refused(tmp_path: Path) -> None:
    (tmp_path / "hinss2021").mkdir()
    alone = part(1) | {"label": np.array([0, 1, 1, 0, 1, 1])}
    hinss2021.pack([alone], tmp_path / "hinss2021" / hinss2021.PACKED)
    with pytest.raises(datasets.DatasetError, match="class 'difficult' is empty"):
        datasets.load("hinss2021", root=tmp_path)


def test_without_moabb_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "moabb", None)
    with pytest.raises(datasets.MissingExtraError, match=r"moabb.*liebn\[eeg\]"):
        hinss2021.prepare(tmp_path / "hinss2021")


CHANNELS = ["Fp1", "Fz", "F3", "AF3", "Cz", "Oz"]
PER_EVENT = 3
RATE = 500


@pytest.mark.filterwarnings("ignore")
def test_the_pipeline_through_moabb(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recordings with a tone in each channel: what is in the band stays, the rest goes."""
    pytest.importorskip("moabb", reason="the extra 'eeg' is not installed")
    import mne
    from moabb.datasets import Hinss2021

    length = 4 * PER_EVENT * 2 * RATE
    time = np.arange(length) / RATE
    tones = {"Fp1": 10.0, "Fz": 12.0, "F3": 1.0, "AF3": 20.0, "Cz": 8.0, "Oz": 70.0}

    class Recordings(Hinss2021):
        nemar_id = None

        def _get_single_subject_data(self, subject: int) -> dict:
            signals = [1e-5 * np.sin(2 * np.pi * tones[name] * time) for name in CHANNELS]
            stimulus = np.zeros(length)
            for i in range(4 * PER_EVENT):
                stimulus[2 * RATE * i + 1] = 1 + i // PER_EVENT
            info = mne.create_info([*CHANNELS, "stim"], RATE, ["eeg"] * 6 + ["stim"])
            data = np.stack([*signals, stimulus])
            return {s: {"0": mne.io.RawArray(data, info, verbose=False)} for s in ("1", "2")}

    result = hinss2021.read_epochs(Recordings(), subject=1)
    assert result["channels"].tolist() == ["Fp1", "AF3", "F3", "Oz"]
    assert result["X"].shape == (2 * 3 * PER_EVENT, 4, 500)
    assert result["label"].tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2] * 2
    assert result["session"].tolist() == [0] * 9 + [1] * 9
    power = result["X"].astype(np.float64).var(axis=2)[1:-1].mean(axis=0)
    kept, lost = power[:2], power[2:]
    np.testing.assert_allclose(kept / kept[0], 1, rtol=0.1)
    assert (lost < 0.02 * kept[0]).all()


def test_the_folder_for_downloads_is_told_and_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "MNE_DATASETS_NEUROERGONOMICS2021_PATH"
    monkeypatch.delenv(key, raising=False)
    with hinss2021._downloads_to(tmp_path):
        assert os.environ[key] == str(tmp_path)
    assert key not in os.environ
    monkeypatch.setenv(key, "before")
    with hinss2021._downloads_to(tmp_path):
        pass
    assert os.environ[key] == "before"
