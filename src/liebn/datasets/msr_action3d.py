"""msr-action3d: 20 actions by 10 subjects, depth-camera skeletons of 20 joints, packed.

A sequence becomes the rotations between its bones, as in `liebn.datasets.skeleton`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from . import splits
from .card import Card
from .errors import DatasetError
from .files import Shape, load_npz, require_every_class
from .record import Dataset, Floats
from .skeleton import fill_bad_frames, rotation_features

PACKED = "msraction3d.npz"
FIELDS: dict[str, tuple[Shape, str]] = {
    "xyzc": ((None, 20, 4), "f"),
    "lengths": (("n",), "iu"),
    "action": (("n",), "iu"),
    "subject": (("n",), "iu"),
    "used557": (("n",), "b"),
    "bones": ((19, 2), "iu"),
    "tr_subjects": ((None, None), "iu"),
    "action_names": ((None,), "U"),
}


def load(folder: Path, frames: int = 100) -> Dataset:
    """Load msr-action3d as rotations, float32, shape (samples, 342, frames, 3, 3).

    The 557 sequences that the published protocol uses are kept. A frame in which a bone has no
    length is interpolated.
    """
    path = folder / PACKED
    arrays = load_npz(path, FIELDS)
    used, lengths = arrays["used557"], arrays["lengths"]
    if lengths.sum() != len(arrays["xyzc"]):
        raise DatasetError(f"{path}: expected {lengths.sum()} frames, got {len(arrays['xyzc'])}")
    sequences = np.split(arrays["xyzc"][..., :3].astype(np.float64), np.cumsum(lengths)[:-1])
    bones = arrays["bones"].astype(np.int64) - 1
    points, report = _rotations([sequences[i] for i in np.flatnonzero(used)], bones, frames)
    if not used.all():
        names = ", ".join(map(str, np.flatnonzero(~used)))
        report = [
            f"dropped {int((~used).sum())} sequences that the published protocol leaves out "
            f"(positions {names})",
            *report,
        ]
    classes = tuple(str(name) for name in arrays["action_names"])
    subjects = arrays["subject"][used].astype(np.int64)
    return Dataset(
        name="msr-action3d",
        space="rotation",
        points=points,
        labels=require_every_class(arrays["action"][used].astype(np.int64) - 1, classes, path),
        classes=classes,
        subjects=subjects,
        domains=subjects,
        protocols={"official": splits.cross_subject(subjects, arrays["tr_subjects"].tolist())},
        report=tuple(report),
    )


def _rotations(sequences: list[Floats], bones: np.ndarray, frames: int) -> tuple[Floats, list[str]]:
    """Return the rotations of all sequences and the lines for the report."""
    pairs = len(bones) * (len(bones) - 1)
    points = np.empty((len(sequences), pairs, frames, 3, 3), dtype=np.float32)
    repaired = []
    for i, positions in enumerate(sequences):
        filled, bad = fill_bad_frames(positions, bones)
        repaired += [bad] if bad else []
        points[i] = rotation_features(filled, bones, frames)
    report = [f"resampled every sequence to {frames} frames"]
    if repaired:
        report.append(
            f"interpolated {sum(repaired)} frames without a skeleton in {len(repaired)} sequences"
        )
    return points, report


CARD = Card(
    name="msr-action3d",
    title="depth-camera skeletons, rotations between bone pairs",
    points="557 samples, 20 classes, 10 subjects, SO(3)^(342 x 100), ten official splits",
    size="5 MB (686 MB in memory at 100 frames)",
    licence="research only",
    citation="Li, Zhang, Liu, Action Recognition Based on a Bag of 3D Points, CVPR Workshops 2010",
    folders=("msr-action3d", "msraction3d_skeleton"),
    patterns=(PACKED,),
    steps=(
        "get the real-world joint coordinates that accompany Vemulapalli et al., CVPR 2014",
        f"pack them as ROOT/msr-action3d/{PACKED} with the arrays {', '.join(FIELDS)}",
    ),
    load=load,
)
