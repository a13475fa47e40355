"""Hinss2021: EEG under three levels of mental workload, 15 subjects, two sessions each.

`prepare` takes the recordings through MOABB and MNE once and packs the epochs; `load` reads the
packed file and needs neither. A domain is one session of one subject.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from . import splits
from .card import Card
from .errors import DatasetError, require
from .files import Shape, load_npz, require_every_class, save_npz
from .record import Dataset
from .ssvep_exo import domains_of

PACKED = "hinss2021_epochs.npz"
CLASSES = ("easy", "medium", "difficult")
# MOABB's names of the same classes.
EVENTS = ("easy", "medium", "diff")
FREQUENCY_BAND = (4.0, 36.0)
SAMPLING_RATE = 250.0
# The last sample of a 2 s epoch at 250 Hz.
EPOCH = (0.0, 1.996)
# The published selection, in lower case since recordings differ in theirs. Fpz was the reference
# electrode: a recording that lacks it gives 29 channels.
CHANNELS = [
    "fp1",
    "fp2",
    "fpz",
    "af7",
    "af3",
    "afz",
    "af4",
    "af8",
    "f7",
    "f5",
    "f3",
    "f1",
    "f2",
    "f4",
    "f6",
    "f8",
    "fc5",
    "fc3",
    "fc1",
    "fcz",
    "fc2",
    "fc4",
    "fc6",
    "c3",
    "c4",
    "cpz",
    "po3",
    "po4",
    "poz",
    "oz",
]
FIELDS: dict[str, tuple[Shape, str]] = {
    "X": (("n", "c", None), "f"),
    "label": (("n",), "iu"),
    "subject": (("n",), "iu"),
    "session": (("n",), "iu"),
    "channels": (("c",), "U"),
}


@contextmanager
def _downloads_to(folder: Path) -> Iterator[None]:
    """Tell MOABB where its files go; MNE's configuration is the only way it can be told."""
    key = "MNE_DATASETS_NEUROERGONOMICS2021_PATH"
    before = os.environ.get(key)
    os.environ[key] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ[key]
        else:
            os.environ[key] = before


def read_epochs(recordings: Any, subject: int) -> dict[str, np.ndarray]:
    """Filter, resample and cut one subject's recordings with MOABB.

    Band-pass 4 to 36 Hz, 250 Hz, epochs of 2 s, the published channels in the published order.

    Args:
        recordings: a MOABB dataset with the events ``easy``, ``medium`` and ``diff``.
        subject: its number.

    Returns:
        The arrays of `FIELDS`.
    """
    paradigm = require("moabb.paradigms", "eeg").RestingStateToP300Adapter(
        events=list(EVENTS),
        fmin=FREQUENCY_BAND[0],
        fmax=FREQUENCY_BAND[1],
        tmin=EPOCH[0],
        tmax=EPOCH[1],
        resample=SAMPLING_RATE,
    )
    epochs, events, table = paradigm.get_data(recordings, subjects=[subject], return_epochs=True)
    spelling = {name.lower(): name for name in epochs.ch_names}
    channels = [spelling[name] for name in CHANNELS if name in spelling]
    if not channels:
        raise DatasetError(f"subject {subject}: expected some of the channels {CHANNELS}, got none")
    _, sessions = np.unique(table["session"], return_inverse=True)
    return {
        "X": epochs.get_data(picks=channels).astype(np.float32),
        "label": np.array([EVENTS.index(event) for event in events]),
        "subject": np.full(len(events), subject),
        "session": sessions,
        "channels": np.array(channels),
    }


def pack(parts: Sequence[dict[str, np.ndarray]], path: Path) -> None:
    """Write the arrays of all subjects to one file."""
    save_npz(
        path,
        channels=parts[0]["channels"],
        **{k: np.concatenate([part[k] for part in parts]) for k in FIELDS if k != "channels"},
    )


def prepare(folder: Path) -> None:
    """Download all recordings through MOABB and pack their epochs."""
    recordings = require("moabb.datasets", "eeg").Hinss2021()
    folder.mkdir(parents=True, exist_ok=True)
    with _downloads_to(folder):
        parts = [read_epochs(recordings, subject) for subject in recordings.subject_list]
    pack(parts, folder / PACKED)


def load(folder: Path) -> Dataset:
    """Load the packed epochs: float32, shape (samples, channels, time)."""
    path = folder / PACKED
    arrays = load_npz(path, FIELDS)
    subjects, sessions = (arrays[name].astype(np.int64) for name in ("subject", "session"))
    present = {str(name).lower() for name in arrays["channels"]}
    missing = [name for name in CHANNELS if name not in present]
    return Dataset(
        name="hinss2021",
        space="signal",
        points=arrays["X"],
        labels=require_every_class(arrays["label"], CLASSES, path),
        classes=CLASSES,
        subjects=subjects,
        domains=domains_of(subjects, sessions),
        protocols={
            "inter-session": splits.leave_one_session_out(subjects, sessions),
            "inter-subject": splits.leave_one_out(subjects, "subject"),
        },
        report=(f"channels not recorded: {', '.join(missing)}",) if missing else (),
    )


CARD = Card(
    name="hinss2021",
    title="EEG under three levels of mental workload",
    points="15 subjects x 2 sessions, 3 classes, 30 channels x 500 times",
    size="about 800 MB packed, several GB to download",
    licence="see https://zenodo.org/records/5055046",
    citation="Hinss et al., Scientific Data 10:85, 2023, doi:10.1038/s41597-022-01898-y",
    folders=("hinss2021",),
    patterns=(PACKED,),
    steps=("pip install 'liebn[eeg]', then  liebn data fetch hinss2021",),
    load=load,
    make=prepare,
)
