"""HDM05 and its packed part: covariances, positions, forward kinematics, rotations."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from liebn import datasets
from liebn.datasets import hdm05, hdm05_11
from tests.datasets.tolerances import FLOAT64, ROTATION_FLOAT32, STORED_FLOAT32

rng = np.random.default_rng(0)
PACKED_FOLDER = "hdm05_11class"


def test_covariances_and_positions_may_be_mixed(tmp_path: Path, spd: Callable) -> None:
    (tmp_path / "hdm05").mkdir()
    matrix, positions = spd(1, 93)[0], rng.standard_normal((200, 31, 3))
    np.save(tmp_path / "hdm05" / "a_0.npy", matrix)
    np.save(tmp_path / "hdm05" / "b_1.npy", positions)
    data = datasets.load("hdm05", root=tmp_path)
    np.testing.assert_array_equal(data.points[0], matrix)
    expected = np.cov(positions.reshape(200, 93).T)
    np.testing.assert_allclose(data.points[1], expected, atol=FLOAT64)
    assert data.labels.tolist() == [0, 1]
    (half,) = data.splits("random-half", seed=1)
    assert (len(half.train), len(half.test)) == (1, 1)


def test_singular_covariances_are_regularised_and_reported(tmp_path: Path) -> None:
    (tmp_path / "hdm05").mkdir()
    for i in range(2):
        np.save(tmp_path / "hdm05" / f"{i}_{i}.npy", rng.standard_normal((20, 31, 3)))
    data = datasets.load("hdm05", root=tmp_path)
    assert "2 of 2 are singular" in data.report[0]
    values = np.linalg.eigvalsh(data.points)
    share = 1e-3 / (1 + 93e-3)
    np.testing.assert_allclose(values[:, 0] / values.sum(axis=1), share, rtol=1e-9)


@pytest.mark.parametrize("shape", [(93, 92), (5, 30, 3), (1, 31, 3), (31, 3)])
def test_other_shapes_are_refused(tmp_path: Path, shape: tuple[int, ...]) -> None:
    (tmp_path / "hdm05").mkdir()
    np.save(tmp_path / "hdm05" / "a_0.npy", np.ones(shape))
    with pytest.raises(datasets.DatasetError, match=r"a_0.npy: expected"):
        datasets.load("hdm05", root=tmp_path)


def test_the_covariance_is_joint_major() -> None:
    positions = np.zeros((50, 31, 3))
    positions[:, 2, 1] = np.sin(np.arange(50))
    result = hdm05.joint_covariance(positions)
    assert np.flatnonzero(np.diag(result)).tolist() == [2 * 3 + 1]


def write_packed(folder: Path, clips: int = 4, frames: int = 6, **changes: np.ndarray) -> None:
    """Write a small packed file whose positions follow from its rotations."""
    folder.mkdir(parents=True)
    parents = np.arange(31) - 1
    offsets = rng.standard_normal((2, 31, 3))
    quaternions = Rotation.random(clips * frames * 31, rng=1).as_quat()
    rotations = Rotation.from_quat(quaternions).as_matrix().reshape(-1, 31, 3, 3)
    actor = np.arange(clips) % 2
    root = rng.standard_normal((clips * frames, 3))
    bones = offsets[np.repeat(actor, frames)]
    positions, turned = [root], [rotations[:, 0]]
    for j in range(1, 31):
        turned.append(turned[-1] @ rotations[:, j])
        positions.append(positions[-1] + np.einsum("fij,fj->fi", turned[-1], bones[:, j]))
    xyz = np.stack(positions, axis=1)
    wxyz = quaternions[:, [3, 0, 1, 2]].reshape(-1, 31, 4)
    clip = xyz.reshape(clips, frames, 93)
    arrays = {
        "cov93": np.stack([np.cov(c.T) for c in clip]),
        "label": np.arange(clips) % 2,
        "actor": actor,
        "orig_train": np.arange(clips) < clips // 2,
        "xyz_30hz": xyz,
        "quat_wxyz_30hz": wxyz,
        "lengths_30hz": np.full(clips, frames),
        "class_names": np.array(["sit", "jump"]),
        "parent": parents,
        "offsets": offsets,
    }
    np.savez(folder / hdm05_11.PACKED, **(arrays | changes))


@pytest.mark.parametrize("form", ["covariance", "positions", "kinematics"])
def test_all_roads_lead_to_the_same_covariance(tmp_path: Path, form: str) -> None:
    write_packed(tmp_path / "hdm05-11")
    data = datasets.load("hdm05-11", root=tmp_path, form=form)
    plain = np.load(tmp_path / "hdm05-11" / hdm05_11.PACKED)["cov93"]
    expected = plain + 1e-3 * np.trace(plain, axis1=1, axis2=2)[:, None, None] * np.eye(93)
    np.testing.assert_allclose(data.points, expected, rtol=1e-9, atol=1e-9)
    assert data.classes == ("sit", "jump")
    assert [len(s.test) for s in data.splits("leave-one-actor-out")] == [2, 2]


def test_rotations_are_resampled_along_geodesics() -> None:
    """A joint that turns steadily keeps doing so, whatever the number of frames."""
    speeds = np.array([[0.3, 0.0, 0.0], [0.0, -0.2, 0.1]])
    turns = Rotation.from_rotvec((np.arange(6.0)[:, None, None] * speeds).reshape(-1, 3))
    result = hdm05_11.resample_rotations(turns.as_matrix().reshape(6, 2, 3, 3), frames=11)
    times = np.arange(11)[:, None] / 2
    for joint in range(2):
        expected = Rotation.from_rotvec(times * speeds[joint]).as_matrix()
        np.testing.assert_allclose(result[joint], expected, atol=FLOAT64)


def test_rotation_sequences_leave_out_joints_that_never_turn(tmp_path: Path) -> None:
    quaternions = Rotation.random(24 * 31, rng=2).as_quat()[:, [3, 0, 1, 2]].reshape(24, 31, 4)
    quaternions[:, [1, 6]] = [1, 0, 0, 0]
    write_packed(tmp_path / "hdm05-11", quat_wxyz_30hz=quaternions)
    data = datasets.load("hdm05-11", root=tmp_path, form="rotations", frames=5)
    assert data.space == "rotation"
    assert data.points.shape == (4, 29, 5, 3, 3)
    assert "left out 2 joints" in data.report[0]


def test_an_unknown_form_is_refused(tmp_path: Path) -> None:
    write_packed(tmp_path / "hdm05-11")
    with pytest.raises(datasets.DatasetError, match="positions, kinematics or rotations, got 'x'"):
        datasets.load("hdm05-11", root=tmp_path, form="x")


def test_lengths_that_do_not_add_up_are_refused(tmp_path: Path) -> None:
    write_packed(tmp_path / "hdm05-11", lengths_30hz=np.array([6, 6, 6, 7]))
    with pytest.raises(datasets.DatasetError, match=r"npz: expected 25 frames, got 24"):
        datasets.load("hdm05-11", root=tmp_path)


@pytest.mark.data
def test_real_rotations_give_the_real_positions(real: Callable[[str], Path]) -> None:
    """Forward kinematics of the local rotations, against the positions in the file."""
    clips = hdm05_11.Clips(real(PACKED_FOLDER) / PACKED_FOLDER / hdm05_11.PACKED)
    for rebuilt, given in zip(clips.positions_from_rotations(), clips.positions(), strict=True):
        assert np.abs(rebuilt - given).max() < STORED_FLOAT32 * np.abs(given).max()


@pytest.mark.data
def test_real_covariances(real: Callable[[str], Path]) -> None:
    root = real(PACKED_FOLDER)
    data = datasets.load("hdm05-11", root=root)
    raw = np.load(root / PACKED_FOLDER / hdm05_11.PACKED)
    assert data.points.shape == (287, 93, 93)
    np.testing.assert_array_equal(data.labels, raw["label"])
    np.testing.assert_array_equal(data.subjects, raw["actor"])
    assert [len(s.test) for s in data.splits("leave-one-actor-out")] == np.bincount(
        data.subjects
    ).tolist()
    assert "287 of 287 are singular" in data.report[0]


@pytest.mark.data
def test_real_kinematics_agree_with_real_positions(real: Callable[[str], Path]) -> None:
    """The 30 Hz covariances by both roads; the 120 Hz ones are near them."""
    root = real(PACKED_FOLDER)
    full, given, rebuilt = (
        datasets.load("hdm05-11", root=root, form=form).points
        for form in ("covariance", "positions", "kinematics")
    )
    size = np.linalg.norm(given, axis=(1, 2))
    assert (np.linalg.norm(given - rebuilt, axis=(1, 2)) < STORED_FLOAT32 * size).all()
    assert np.median(np.linalg.norm(full - given, axis=(1, 2)) / size) < 0.05


@pytest.mark.data
def test_real_rotations_are_rotations(real: Callable[[str], Path]) -> None:
    data = datasets.load("hdm05-11", root=real(PACKED_FOLDER), form="rotations", frames=8)
    assert data.points.shape == (287, 29, 8, 3, 3)
    gram = data.points.swapaxes(-1, -2) @ data.points
    assert np.abs(gram - np.eye(3)).max() < ROTATION_FLOAT32
    assert np.linalg.det(data.points).min() > 0.999
