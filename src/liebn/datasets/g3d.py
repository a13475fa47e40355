"""G3D: gaming actions, 663 sequences, as rotations between pairs of 19 bones.

The layout is the public one of LieNet: an index ``.mat`` with the names, labels and set of all
sequences, and one ``.mat`` per sequence with 342 cells of 3x3x100. `rotations_from_joints` makes
the same kind of point from raw joint positions.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from . import splits
from .card import Card
from .errors import DatasetError
from .files import check_array, index_labels, inside, load_mat
from .record import Dataset, Floats
from .skeleton import fill_bad_frames, rotation_features

INDEX = "liedb_g3d_lie20_half_inter.mat"
URL = "https://data.vision.ee.ethz.ch/zzhiwu/ManifoldNetData/LieData/G3D_Lie_data.zip"
PAIRS = 342
FRAMES = 100
# The camera's own order: hip centre, spine, shoulder centre, head; left shoulder, elbow, wrist,
# hand; right arm; left hip, knee, ankle, foot; right leg.
PARENTS = (-1, 0, 1, 2, 2, 4, 5, 6, 2, 8, 9, 10, 0, 12, 13, 14, 0, 16, 17, 18)
BONES = np.array([(parent, joint) for joint, parent in enumerate(PARENTS) if parent >= 0])
# Largest entry of |R'R - I| before a matrix no longer counts as a rotation stored in float32.
TOLERANCE = 1e-4


def rotations_from_joints(positions: Floats, frames: int = FRAMES) -> Floats:
    """Turn raw joint positions (frames, 20, 3) into rotations (342, ``frames``, 3, 3)."""
    filled, _ = fill_bad_frames(positions, BONES)
    return rotation_features(filled, BONES, frames)


def _read_index(path: Path) -> tuple[list[str], NDArray[np.int64], NDArray[np.int64]]:
    """Return the file names, labels and sets (1 train, 2 test) of the index."""
    content = load_mat(path)
    try:
        entry = content["lie_train"]["lie"]
        names = [str(name) for name in entry["name"]]
        labels, sets = (np.ravel(entry[key]).astype(np.int64) for key in ("label", "set"))
    except (KeyError, ValueError, TypeError) as error:
        raise DatasetError(
            f"{path}: expected lie_train.lie with the fields name, label and set"
        ) from error
    if not len(names) == len(labels) == len(sets):
        raise DatasetError(
            f"{path}: expected as many labels and sets as names, "
            f"got {len(labels)}, {len(sets)} and {len(names)}"
        )
    return names, labels, sets


def _read_sequence(path: Path) -> NDArray[np.float32]:
    """Read 342 cells of 3x3x100 as (342, 100, 3, 3)."""
    fea = load_mat(path).get("fea")
    if not isinstance(fea, list) or len(fea) != PAIRS:
        got = len(fea) if isinstance(fea, list) else "no such cells"
        raise DatasetError(f"{path}: expected fea with {PAIRS} cells, got {got}")
    cells = [
        check_array(cell, f"{path} cell {i}", (3, 3, FRAMES), kinds="f")
        for i, cell in enumerate(fea)
    ]
    rotations = np.stack(cells).transpose(0, 3, 1, 2).astype(np.float32)
    gram = np.swapaxes(rotations, -1, -2) @ rotations
    worst = float(np.abs(gram - np.eye(3, dtype=np.float32)).max())
    if worst > TOLERANCE:
        raise DatasetError(f"{path}: expected rotation matrices, got |R'R - I| = {worst:.1e}")
    return rotations


def load(folder: Path) -> Dataset:
    """Load G3D, float32, shape (samples, 342, 100, 3, 3)."""
    index = folder / INDEX
    names, labels, sets = _read_index(index)
    indices, classes = index_labels(labels.tolist(), index)
    points = np.empty((len(names), PAIRS, FRAMES, 3, 3), dtype=np.float32)
    for i, name in enumerate(names):
        points[i] = _read_sequence(inside(folder, name, index))
    return Dataset(
        name="g3d",
        space="rotation",
        points=points,
        labels=indices,
        classes=classes,
        protocols={"official": splits.fixed(sets == 1)},
    )


CARD = Card(
    name="g3d",
    title="gaming actions, rotations between bone pairs",
    points="663 samples, 20 classes, SO(3)^(342 x 100), official split 333/330",
    size="816 MB in memory",
    licence="research only",
    citation="Bloom, Makris, Argyriou, G3D: A Gaming Action Dataset, CVPR Workshops 2012",
    folders=("g3d", "G3D"),
    patterns=(INDEX,),
    steps=(
        f"download {URL}",
        f"unpack it, so that ROOT/g3d/{INDEX} lies beside the sequences; or, with a checksum you",
        "  trust:  liebn data fetch g3d --sha256 HEX",
    ),
    load=load,
    url=URL,
)
