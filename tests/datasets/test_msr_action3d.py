"""msr-action3d: skeletons to rotations, on a small packed file and on the real one."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from liebn import datasets
from liebn.datasets import msr_action3d, skeleton
from tests.datasets.tolerances import ROTATION_FLOAT32

REAL_FOLDER = "msraction3d_skeleton"
LENGTHS = [5, 8, 4, 6]


def write(root: Path, **changes: np.ndarray) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    xyzc = rng.standard_normal((sum(LENGTHS), 20, 4)).astype(np.float32)
    xyzc[6:8] = 0  # two frames of the second sequence
    xyzc[13:17] = 0  # the whole third sequence
    arrays = {
        "xyzc": xyzc,
        "lengths": np.array(LENGTHS),
        "action": np.array([1, 2, 1, 2]),
        "subject": np.array([1, 2, 2, 3]),
        "used557": np.array([True, True, False, True]),
        "bones": np.column_stack([np.arange(1, 20), np.arange(2, 21)]),
        "tr_subjects": np.array([[1, 2], [3, 2]], dtype=np.uint8),
        "action_names": np.array(["wave", "kick"]),
    }
    arrays |= changes
    (root / "msr-action3d").mkdir()
    np.savez(root / "msr-action3d" / msr_action3d.PACKED, **arrays)
    return arrays


def test_a_small_file(tmp_path: Path) -> None:
    arrays = write(tmp_path)
    data = datasets.load("msr-action3d", root=tmp_path, frames=7)
    assert data.points.shape == (3, 342, 7, 3, 3)
    assert data.labels.tolist() == [0, 1, 1]
    assert data.subjects.tolist() == [1, 2, 3]
    first = arrays["xyzc"][:5, :, :3].astype(np.float64)
    expected = skeleton.rotation_features(first, arrays["bones"] - 1, frames=7)
    np.testing.assert_allclose(data.points[0], expected, atol=ROTATION_FLOAT32)
    report = "\n".join(data.report)
    assert "dropped 1 sequences" in report
    assert "(positions 2)" in report
    assert "interpolated 2 frames without a skeleton in 1 sequences" in report
    first, second = data.splits("official")
    assert (first.train.tolist(), first.test.tolist()) == ([0, 1], [2])
    assert (second.train.tolist(), second.test.tolist()) == ([1, 2], [0])


def test_lengths_that_do_not_add_up_are_refused(tmp_path: Path) -> None:
    write(tmp_path, lengths=np.array([5, 8, 4, 7]))
    with pytest.raises(datasets.DatasetError, match=r"npz: expected 24 frames, got 23"):
        datasets.load("msr-action3d", root=tmp_path)


@pytest.mark.data
def test_the_real_file(real: Callable[[str], Path]) -> None:
    """Every matrix is in SO(3), and its angle is the one between the two bones."""
    root = real(REAL_FOLDER)
    data = datasets.load("msr-action3d", root=root, frames=4)
    assert data.points.shape == (557, 342, 4, 3, 3)
    gram = data.points.swapaxes(-1, -2) @ data.points
    assert np.abs(gram - np.eye(3)).max() < ROTATION_FLOAT32
    assert np.linalg.det(data.points).min() > 0.999
    assert "interpolated 252 frames without a skeleton in 13 sequences" in data.report[-1]
    splits = data.splits("official")
    assert len(splits) == 10
    for split in splits:
        assert len(set(data.subjects[split.train])) == 5
        assert not set(data.subjects[split.train]) & set(data.subjects[split.test])


@pytest.mark.data
def test_real_angles_are_those_between_the_bones(real: Callable[[str], Path]) -> None:
    root = real(REAL_FOLDER)
    raw = np.load(root / REAL_FOLDER / msr_action3d.PACKED)
    bones = raw["bones"].astype(int) - 1
    frame = raw["xyzc"][:1, :, :3].astype(np.float64)
    vectors = frame[0, bones[:, 1]] - frame[0, bones[:, 0]]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    first = datasets.load("msr-action3d", root=root, frames=2).points[0, :, 0]
    m, n = skeleton.bone_pairs(19).T
    cosine = (np.trace(first, axis1=1, axis2=2) - 1) / 2
    np.testing.assert_allclose(cosine, np.sum(vectors[m] * vectors[n], axis=1), atol=1e-6)
