"""ssvep-exo: steady-state visual EEG of 12 subjects over several sessions, packed.

A domain is one session of one subject. The covariances are made from the raw epochs by
`filter_bank_covariance`; the packed file of them is what that function gives.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import signal

from . import splits
from .card import Card
from .covariance import covariances, make_definite
from .errors import DatasetError
from .files import Shape, load_npz, require_every_class
from .record import Dataset, Floats, Integers

COVARIANCES = "ssvep_exo_cov24.npz"
EPOCHS = "ssvep_exo_epochs.npz"
SAMPLING_RATE = 256.0
STIMULI = (13.0, 17.0, 21.0)
SIGNAL_BAND = (10.0, 25.0)
CLASSES = ("rest", "13Hz", "21Hz", "17Hz")
COLUMNS: dict[str, tuple[Shape, str]] = {
    "label": (("n",), "iu"),
    "subject": (("n",), "iu"),
    "session": (("n",), "iu"),
    "excluded_by_authors": (("n",), "b"),
}
REGULARISATION = 1e-3
FORMS = ("covariance", "epochs", "filtered")


def filter_bank_covariance(epochs: Floats, sampling_rate: float = SAMPLING_RATE) -> Floats:
    """Covariance of the epochs filtered about each stimulus frequency (Kalunga et al., 2016).

    Butterworth band-pass of order 4, 1 Hz to either side, forwards and backwards; the filtered
    copies are stacked as channels, frequency-major; the last three seconds count; the mean is
    removed and the sum divided by T.

    Args:
        epochs: shape (samples, channels, time).
        sampling_rate: in hertz.

    Returns:
        Shape (samples, 3 channels, 3 channels).
    """
    bands = [
        signal.butter(4, [f - 1, f + 1], btype="bandpass", fs=sampling_rate, output="sos")
        for f in STIMULI
    ]
    filtered = [signal.sosfiltfilt(band, epochs.astype(np.float64), axis=-1) for band in bands]
    stacked = np.concatenate(filtered, axis=1)[..., -round(3 * sampling_rate) :]
    return np.asarray(covariances(stacked, estimator="scm"))


def filtered_signals(epochs: Floats, sampling_rate: float = SAMPLING_RATE) -> Floats:
    """The last three seconds of the epochs, where the stimuli are, for a network on signals.

    Butterworth band-pass of order 4 from 10 to 25 Hz, forwards and backwards; every other time;
    divided by the standard deviation of all values together.

    Args:
        epochs: shape (samples, channels, time).
        sampling_rate: in hertz.

    Returns:
        Shape (samples, channels, 1.5 sampling_rate), in float32.
    """
    band = signal.butter(4, SIGNAL_BAND, btype="bandpass", fs=sampling_rate, output="sos")
    filtered = signal.sosfiltfilt(band, epochs.astype(np.float64), axis=-1)
    kept = filtered[..., -round(3 * sampling_rate) :: 2]
    return np.asarray(kept / kept.std(), dtype=np.float32)


def domains_of(subjects: Integers, sessions: Integers) -> Integers:
    """Number the pairs (subject, session) that occur, from 0, in increasing order."""
    pairs = np.stack([subjects, sessions], axis=1)
    return np.unique(pairs, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)


def load(
    folder: Path,
    form: str = "covariance",
    keep_excluded: bool = False,
) -> Dataset:
    """Load ssvep-exo.

    Args:
        folder: holds the packed files.
        form: ``"covariance"``: 24x24; ``"epochs"``: the unfiltered signals, (8, 1280);
            ``"filtered"``: `filtered_signals` of them, (8, 384).
        keep_excluded: keep the five sessions that the authors of the data discard.
    """
    if form not in FORMS:
        raise DatasetError(f"ssvep-exo: expected form {', '.join(FORMS)}, got {form!r}")
    array = "cov" if form == "covariance" else "X"
    shape: Shape = ("n", 24, 24) if form == "covariance" else ("n", 8, None)
    path = folder / (COVARIANCES if form == "covariance" else EPOCHS)
    arrays = load_npz(path, {array: (shape, "f"), **COLUMNS})
    excluded = arrays["excluded_by_authors"]
    keep = np.ones_like(excluded) if keep_excluded else ~excluded
    subjects, sessions = (arrays[name][keep].astype(np.int64) for name in ("subject", "session"))
    domains = domains_of(subjects, sessions)
    points, report = arrays[array][keep], []
    if not keep.all():
        gone = len(np.unique(domains_of(arrays["subject"], arrays["session"])[~keep]))
        report = [f"dropped {int((~keep).sum())} trials in {gone} sessions its authors discard"]
    if form == "covariance":
        points, lines = make_definite(points, REGULARISATION)
        report += lines
    elif form == "filtered":
        points = filtered_signals(points)
    return Dataset(
        name="ssvep-exo",
        space="spd" if form == "covariance" else "signal",
        points=points,
        labels=require_every_class(arrays["label"][keep], CLASSES, path),
        classes=CLASSES,
        subjects=subjects,
        domains=domains,
        protocols={
            "inter-session": splits.leave_one_session_out(subjects, sessions),
            "inter-subject": splits.leave_one_out(subjects, "subject"),
        },
        report=tuple(report),
    )


CARD = Card(
    name="ssvep-exo",
    title="steady-state visual EEG, several sessions per subject",
    points="864 samples, 4 classes, 27 domains of 12 subjects, 24x24 SPD or 8x1280 epochs",
    size="34 MB packed",
    licence="CC0 1.0",
    citation="Kalunga, Chevallier, Barthelemy, Neurocomputing, 2016",
    folders=("ssvep-exo", "ssvep_exo_eeg"),
    patterns=(COVARIANCES, EPOCHS),
    steps=(
        "get the recordings from https://github.com/sylvchev/dataset-ssvep-exoskeleton",
        "cut epochs of 5 s at 256 Hz and pack them, unfiltered, as",
        f"  ROOT/ssvep-exo/{EPOCHS}: X (trials, 8, 1280), {', '.join(COLUMNS)};",
        f"write filter_bank_covariance(X) as cov, with the same columns, to {COVARIANCES}",
    ),
    load=load,
)
