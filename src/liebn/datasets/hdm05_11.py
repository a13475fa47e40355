"""hdm05-11: a genuine part of HDM05, 287 clips of 11 motions by 5 actors, packed.

It has the covariances of the full-rate joint positions, and at 30 Hz the positions themselves and
the local joint rotations.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation, Slerp

from . import splits
from .card import Card
from .covariance import make_definite
from .errors import DatasetError
from .files import Shape, load_npz, require_every_class
from .hdm05 import JOINTS, REGULARISATION, SIZE, joint_covariance
from .record import Dataset, Floats
from .skeleton import forward_kinematics

PACKED = "hdm05_11class.npz"
FIELDS: dict[str, tuple[Shape, str]] = {
    "cov93": (("n", SIZE, SIZE), "f"),
    "label": (("n",), "iu"),
    "actor": (("n",), "iu"),
    "orig_train": (("n",), "b"),
    "xyz_30hz": (("f", JOINTS, 3), "f"),
    "quat_wxyz_30hz": (("f", JOINTS, 4), "f"),
    "lengths_30hz": (("n",), "iu"),
    "class_names": ((None,), "U"),
    "parent": ((JOINTS,), "iu"),
    "offsets": ((None, JOINTS, 3), "f"),
}


class Clips:
    """The packed file, cut into its clips."""

    def __init__(self, path: Path) -> None:
        """Read and check the file."""
        self.arrays = load_npz(path, FIELDS)
        lengths = self.arrays["lengths_30hz"]
        if lengths.sum() != len(self.arrays["xyz_30hz"]):
            raise DatasetError(
                f"{path}: expected {lengths.sum()} frames, got {len(self.arrays['xyz_30hz'])}"
            )
        self._ends = np.cumsum(lengths)[:-1]

    def _cut(self, name: str) -> list[NDArray[Any]]:
        return np.split(self.arrays[name].astype(np.float64), self._ends)

    def positions(self) -> list[Floats]:
        """Return the joint positions of each clip, (frames, 31, 3) at 30 Hz."""
        return self._cut("xyz_30hz")

    def local_rotations(self) -> list[Floats]:
        """Return the local joint rotations of each clip, (frames, 31, 3, 3) at 30 Hz."""
        return [
            # scipy wants the scalar part last
            Rotation.from_quat(np.roll(q, -1, axis=-1).reshape(-1, 4))
            .as_matrix()
            .reshape((*q.shape[:2], 3, 3))
            for q in self._cut("quat_wxyz_30hz")
        ]

    def positions_from_rotations(self) -> list[Floats]:
        """Rebuild the positions by forward kinematics, the root's path being given."""
        offsets = self.arrays["offsets"][self.arrays["actor"]]
        return [
            forward_kinematics(r, o, self.arrays["parent"], p[:, 0])
            for r, o, p in zip(self.local_rotations(), offsets, self.positions(), strict=True)
        ]


def resample_rotations(rotations: Floats, frames: int) -> Floats:
    """Resample (frames, joints, 3, 3) along geodesics of SO(3); gives (joints, frames, 3, 3)."""
    old, new = np.arange(len(rotations)), np.linspace(0, len(rotations) - 1, frames)
    curves = [Slerp(old, Rotation.from_matrix(joint)) for joint in np.swapaxes(rotations, 0, 1)]
    return np.stack([curve(new).as_matrix() for curve in curves])


def _moving(clips: list[Floats]) -> NDArray[np.bool_]:
    """Return which joints turn at all; the others are the identity in every frame."""
    turns = [np.abs(clip - np.eye(3)).max(axis=(0, 2, 3)) > 0 for clip in clips]
    return np.asarray(np.any(turns, axis=0))


def _points(clips: Clips, form: str, frames: int) -> tuple[Floats, list[str]]:
    """Return the points in the wanted form, and the lines for the report."""
    if form == "rotations":
        local = clips.local_rotations()
        moving = _moving(local)
        report = [
            f"left out {int((~moving).sum())} joints that never turn",
            f"resampled every clip to {frames} frames",
        ]
        return np.stack([resample_rotations(clip[:, moving], frames) for clip in local]), report
    if form == "covariance":
        return make_definite(clips.arrays["cov93"].astype(np.float64), REGULARISATION)
    if form == "positions":
        positions = clips.positions()
    elif form == "kinematics":
        positions = clips.positions_from_rotations()
    else:
        raise DatasetError(
            f"hdm05-11: expected form covariance, positions, kinematics or rotations, got {form!r}"
        )
    return make_definite(np.stack([joint_covariance(p) for p in positions]), REGULARISATION)


def load(folder: Path, form: str = "covariance", frames: int = 100) -> Dataset:
    """Load hdm05-11.

    Args:
        folder: holds the packed file.
        form: ``"covariance"``: 93x93, from the 120 Hz positions; ``"positions"``: the same from the
            30 Hz positions; ``"kinematics"``: from the local rotations, through forward kinematics;
            ``"rotations"``: the local rotations themselves, (joints, frames, 3, 3).
        frames: the number of frames of the form ``"rotations"``.
    """
    path = folder / PACKED
    clips = Clips(path)
    arrays = clips.arrays
    classes = tuple(str(name) for name in arrays["class_names"])
    points, report = _points(clips, form, frames)
    actors = arrays["actor"].astype(np.int64)
    return Dataset(
        name="hdm05-11",
        space="rotation" if form == "rotations" else "spd",
        points=points,
        labels=require_every_class(arrays["label"], classes, path),
        classes=classes,
        subjects=actors,
        domains=actors,
        protocols={
            "official": splits.fixed(arrays["orig_train"]),
            "leave-one-actor-out": splits.leave_one_out(actors, "actor"),
            "random-half": splits.random_parts(len(points), train=0.5),
        },
        report=tuple(report),
    )


CARD = Card(
    name="hdm05-11",
    title="a genuine part of HDM05, with joint positions and local rotations",
    points="287 samples, 11 classes, 5 actors, 93x93 SPD or SO(3) sequences",
    size="27 MB",
    licence="CC BY-SA 3.0; write: The data used in this project was obtained from HDM05",
    citation="Mueller et al., Documentation: Mocap Database HDM05, report CG-2007-2, Bonn 2007",
    folders=("hdm05-11", "hdm05_11class"),
    patterns=(PACKED,),
    steps=(
        "get the cut clips from https://resources.mpi-inf.mpg.de/HDM05/ and parse them with the",
        "  MATLAB parser offered there (joint positions, quaternions, skeleton);",
        f"pack them as ROOT/hdm05-11/{PACKED} with the arrays {', '.join(FIELDS)}",
    ),
    load=load,
)
