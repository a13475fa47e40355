"""FPHA: first-person hand actions, 45 classes, as 63x63 covariances of 21 joints.

Four layouts are read: one packed ``.npz``, whose subjects were inferred from the order of clips;
``train`` and ``val`` folders of ``.npy`` files whose names end in ``_<label>``; the same folders
with one folder of ``.mat`` files per class; and the skeleton text files of the original release
with its split file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from . import splits
from .card import Card
from .covariance import add_to_diagonal, covariances, drop_zero, make_definite
from .errors import DatasetError
from .files import (
    Shape,
    check_array,
    files_in,
    index_labels,
    inside,
    label_from_name,
    load_mat_matrix,
    load_npy,
    load_npz,
)
from .record import Dataset, Floats

PACKED = "fpha_cov63.npz"
SPLIT_FILE = "data_split_action_recognition.txt"
SIZE = 63
# The relative regularisation of the published covariances: C + 1e-3 * trace(C) * I.
REGULARISATION = 1e-3
INFERRED = "subjects are inferred from the order of the clips, not stated by the source"


class Sample(NamedTuple):
    """One clip; the subject is -1 where the layout does not tell."""

    point: Floats
    label: int
    train: bool
    name: str
    subject: int = -1


def _read_packed(path: Path) -> Iterator[Sample]:
    fields: dict[str, tuple[Shape, str]] = {
        "cov": (("n", SIZE, SIZE), "f"),
        "label": (("n",), "iu"),
        "is_train": (("n",), "b"),
        "clip_id": (("n",), "iu"),
        "subject_inferred": (("n",), "iu"),
    }
    arrays = load_npz(path, fields)
    for point, label, train, clip, subject in zip(*(arrays[f] for f in fields), strict=True):
        yield Sample(point, int(label), bool(train), f"clip {clip}", int(subject))


def _read_folders(folder: Path) -> Iterator[Sample]:
    for part in ("train", "val"):
        for path in sorted((folder / part).glob("*.npy")):
            point = load_npy(path, (SIZE, SIZE))
            yield Sample(point, label_from_name(path), part == "train", f"{part}/{path.name}")
        for of_class in sorted(p for p in (folder / part).iterdir() if p.is_dir()):
            if not of_class.name.isdigit():
                raise DatasetError(f"{of_class}: expected a class folder named by an integer")
            for path in files_in(of_class, "*.mat"):
                point = load_mat_matrix(path, (SIZE, SIZE))
                name = f"{part}/{of_class.name}/{path.name}"
                yield Sample(point, int(of_class.name), part == "train", name)


def read_skeleton(path: Path) -> Floats:
    """Read one ``skeleton.txt``: per line a frame number and 21 x (x, y, z) in millimetres.

    Returns:
        Shape (63, frames): joint-major, x, y, z within a joint.
    """
    try:
        table = np.loadtxt(path, ndmin=2, dtype=np.float64)
    except (OSError, ValueError) as error:
        raise DatasetError(f"{path}: not a readable skeleton file ({error})") from error
    check_array(table, str(path), (None, SIZE + 1), kinds="f")
    if len(table) < 2:
        raise DatasetError(f"{path}: expected at least two frames, got {len(table)}")
    return np.ascontiguousarray(table[:, 1:].T)


def _read_skeletons(folder: Path) -> Iterator[Sample]:
    """Follow the split file: a heading "Training n" or "Test n", then lines "folder label".

    The folder of a clip is Subject_<number>/<action>/<take>.
    """
    split_file, train = folder / SPLIT_FILE, True
    lines = split_file.read_text(encoding="utf-8", errors="replace").splitlines()
    for number, line in enumerate(lines, start=1):
        clip = re.fullmatch(r"(Subject_(\d+)/\S+)\s+(\d+)", line.strip())
        if clip is not None:
            signal = read_skeleton(inside(folder, clip[1], split_file) / "skeleton.txt")
            point = add_to_diagonal(covariances(signal[None]), REGULARISATION)[0]
            yield Sample(point, int(clip[3]), train, clip[1], int(clip[2]))
        elif line.startswith(("Training", "Test")):
            train = line.startswith("Training")
        elif line.strip():
            raise DatasetError(
                f"{split_file}:{number}: expected 'Subject_<number>/<action>/<take> <label>', "
                f"got {line!r}"
            )


def _read(folder: Path) -> Iterator[Sample]:
    if (folder / PACKED).is_file():
        return _read_packed(folder / PACKED)
    if (folder / SPLIT_FILE).is_file():
        return _read_skeletons(folder)
    if (folder / "train").is_dir() and (folder / "val").is_dir():
        return _read_folders(folder)
    raise DatasetError(f"{folder}: expected {PACKED}, {SPLIT_FILE}, or the folders train/ and val/")


def load(folder: Path) -> Dataset:
    """Load FPHA from whichever layout the folder has.

    All-zero matrices are dropped. Exact duplicates are kept, since the official 600/575 split
    counts them; `check` names those that cross it.
    """
    samples = list(_read(folder))
    if not samples:
        raise DatasetError(f"{folder}: expected samples, found none")
    guessed = [INFERRED] if (folder / PACKED).is_file() else []
    points = np.stack([sample.point for sample in samples])
    keep, report = drop_zero(points, [sample.name for sample in samples])
    points, lines = make_definite(points[keep], REGULARISATION)
    samples = [sample for sample, kept in zip(samples, keep, strict=True) if kept]
    labels, classes = index_labels([sample.label for sample in samples], folder)
    subjects = np.array([sample.subject for sample in samples])
    return Dataset(
        name="fpha",
        space="spd",
        points=points,
        labels=labels,
        classes=classes,
        subjects=subjects if (subjects >= 0).all() else None,
        protocols={"official": splits.fixed(np.array([sample.train for sample in samples]))},
        report=(*report, *lines, *guessed),
    )


CARD = Card(
    name="fpha",
    title="first-person hand actions, covariances of 21 hand joints",
    points="1175 samples, 45 classes, 63x63 SPD, official split 600/575",
    size="22 MB packed",
    licence="research only, on request to its authors",
    citation="Garcia-Hernando et al., First-Person Hand Action Benchmark, CVPR 2018",
    folders=("fpha", "FPHA", "fpha_cov63"),
    patterns=(PACKED, SPLIT_FILE, "train/*"),
    steps=(
        "ask for access at https://guiggh.github.io/publications/first-person-hands/",
        f"unpack the skeleton files and {SPLIT_FILE} into ROOT/fpha, so that",
        "  ROOT/fpha/Subject_1/<action>/<take>/skeleton.txt exists; or",
        "put covariances into ROOT/fpha/train and ROOT/fpha/val, as <name>_<label>.npy or as",
        "  <class>/<clip>.mat, each holding one 63x63 matrix",
    ),
    load=load,
)
