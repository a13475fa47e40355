"""HDM05: motion capture, as 93x93 covariances of 31 joint positions.

The layout is a folder of ``.npy`` files whose names end in ``_<label>``. A file holds a 93x93
covariance, or joint positions of shape (frames, 31, 3), from which the covariance is made.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from . import splits
from .card import Card
from .covariance import covariances, drop_zero, make_definite
from .errors import DatasetError
from .files import files_in, index_labels, label_from_name, load_npy
from .record import Dataset, Floats

JOINTS = 31
SIZE = 3 * JOINTS
# Rigid bones make these covariances rank deficient; the amount is that of the FPHA release.
REGULARISATION = 1e-3


def joint_covariance(positions: Floats) -> Floats:
    """Return the covariance of joint positions over time.

    Args:
        positions: shape (frames, joints, 3), at least two frames.

    Returns:
        Shape (3 joints, 3 joints): joint-major, x, y, z within a joint; mean removed, divided by
        frames - 1.
    """
    signal = positions.reshape(len(positions), -1).T
    return np.asarray(covariances(signal[None])[0])


def _read(path: Path) -> Floats:
    array = load_npy(path, (SIZE, SIZE), (None, JOINTS, 3))
    if array.ndim == 2:
        return array
    if len(array) < 2:
        raise DatasetError(f"{path}: expected at least two frames, got {len(array)}")
    return joint_covariance(array)


def load(folder: Path) -> Dataset:
    """Load HDM05: covariances as they are, regularised together if one of them is singular."""
    paths = files_in(folder, "*.npy")
    labels, classes = index_labels([label_from_name(path) for path in paths], folder)
    points = np.stack([_read(path) for path in paths])
    keep, report = drop_zero(points, [path.name for path in paths])
    points, lines = make_definite(points[keep], REGULARISATION)
    return Dataset(
        name="hdm05",
        space="spd",
        points=points,
        labels=labels[keep],
        classes=classes,
        protocols={"random-half": splits.random_parts(len(points), train=0.5)},
        report=(*report, *lines),
    )


CARD = Card(
    name="hdm05",
    title="motion capture, covariances of 31 joint positions",
    points="2086 samples, 117 classes, 93x93 SPD, random halves",
    size="144 MB as covariances",
    licence="CC BY-SA 3.0; write: The data used in this project was obtained from HDM05",
    citation="Mueller et al., Documentation: Mocap Database HDM05, report CG-2007-2, Bonn 2007",
    folders=("hdm05", "HDM05"),
    patterns=("*.npy",),
    steps=(
        "get the cut clips from https://resources.mpi-inf.mpg.de/HDM05/",
        "write one .npy per clip into ROOT/hdm05, named <clip>_<label>.npy: joint positions of",
        "  shape (frames, 31, 3), or their 93x93 covariance",
    ),
    load=load,
)
