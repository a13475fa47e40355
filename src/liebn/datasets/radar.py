"""Radar: micro-Doppler signals of drones, as 20x20 covariances.

The published set (3,000 synthetic signals) has one complex ``.npy`` per signal, whose name ends in
``_<label>``. Where no such folder is found, signals of our own simulator take its place, and the
record says that they are simulated.

A signal is cut into windows of 20 with hop 10; the windows are the observations of a vector of 20;
their mean is removed and the sum divided by their number less one. That gives a Hermitian matrix H.
The published pipeline then takes (Re H + Im H)/2, which is not symmetric, since Im H is skew. Here
it is Re H, which is symmetric positive definite, or on demand the real representation of H.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from . import splits
from .card import Card
from .covariance import covariances, make_definite, real_part, real_representation, windows
from .errors import DatasetError
from .files import files_in, index_labels, label_from_name, load_npy, load_npz, save_npz
from .record import Dataset, Floats
from .root import user_cache
from .simulate.microdoppler import DRONES, SAMPLES, simulate_radar, to_signals

WINDOW = 20
HOP = 10
REGULARISATION = 1e-3
# Raise it whenever the simulator changes: old cache files are then left alone.
VERSION = 1


def radar_covariances(signals: NDArray[np.complexfloating], form: str = "real-part") -> Floats:
    """Turn signals (samples, time) into covariances of their windows of 20.

    Returns:
        Shape (samples, 20, 20), or (samples, 40, 40) for the real representation.
    """
    hermitian = covariances(windows(signals.astype(np.complex128), WINDOW, HOP))
    if form == "real-part":
        return real_part(hermitian)
    if form == "real-representation":
        return real_representation(hermitian)
    raise DatasetError(f"radar: expected form real-part or real-representation, got {form!r}")


def cached_codes(per_class: int, seed: int) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
    """Return simulated codes and labels, from the user's cache if they are there.

    Where the cache cannot be written, the signals are simulated anew each time.
    """
    path = user_cache() / "simulated" / f"radar-v{VERSION}-{per_class}-seed{seed}.npz"
    if path.is_file():
        shape = (3 * per_class, SAMPLES, 2)
        arrays = load_npz(path, {"codes": (shape, "i"), "labels": (shape[:1], "i")})
        return arrays["codes"], arrays["labels"]
    codes, labels = simulate_radar(per_class, seed)
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        save_npz(path, codes=codes, labels=labels)
    return codes, labels


def _read(folder: Path) -> tuple[NDArray[np.complexfloating], list[int]]:
    """Read one complex signal per file; all must have the length of the first."""
    paths = files_in(folder, "*.npy")
    first = load_npy(paths[0], (None,), kinds="c")
    signals = np.stack([load_npy(path, first.shape, kinds="c") for path in paths])
    return signals, [label_from_name(path) for path in paths]


def load(
    folder: Path | None, form: str = "real-part", per_class: int = 1000, seed: int = 0
) -> Dataset:
    """Load the Radar set from a folder, or simulate it where there is none.

    Args:
        folder: holds the ``.npy`` files, or None.
        form: ``"real-part"``: 20x20; ``"real-representation"``: 40x40.
        per_class: signals per class, of the simulator.
        seed: of the simulator.
    """
    if folder is None:
        codes, labels = cached_codes(per_class, seed)
        signals, classes = to_signals(codes), tuple(drone.name for drone in DRONES)
        report = ["simulated: no folder radar/ under the data root"]
    else:
        signals, names = _read(folder)
        labels, classes = index_labels(names, folder)
        report = []
    points, lines = make_definite(radar_covariances(signals, form), REGULARISATION)
    return Dataset(
        name="radar",
        space="spd",
        points=points,
        labels=labels,
        classes=classes,
        protocols={"random": splits.random_parts(len(points), train=0.5, validation=0.25)},
        report=(*report, *lines),
        simulated=folder is None,
    )


def _simulate(_folder: Path) -> None:
    """Fill the cache; the folder is for real files only."""
    cached_codes(per_class=1000, seed=0)


CARD = Card(
    name="radar",
    title="micro-Doppler returns of drones; simulated unless real files are present",
    points="3000 samples, 3 classes, 20x20 SPD, random 50/25/25",
    size="12 MB cached",
    licence="simulated here: that of this library; the published files: ask their authors",
    citation="Brooks et al., Riemannian batch normalization for SPD neural networks, NeurIPS 2019",
    folders=("radar", "RADAR"),
    patterns=("*.npy",),
    steps=(
        "nothing to do: it is simulated on first use. To use the published signals instead, put",
        "  one complex .npy per signal, named <name>_<label>.npy, into ROOT/radar",
    ),
    load=load,
    make=_simulate,
    embedded=True,
)
