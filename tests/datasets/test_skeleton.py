"""Rotations between bones, resampling, repair and forward kinematics."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from liebn.datasets import skeleton
from liebn.datasets.errors import DatasetError
from tests.datasets.tolerances import FLOAT64

rng = np.random.default_rng(0)
BONES = np.array([[0, 1], [1, 2], [1, 3]])


def unit(*shape: int) -> np.ndarray:
    vectors = rng.standard_normal((*shape, 3))
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def is_rotation(matrices: np.ndarray) -> bool:
    gram = matrices.swapaxes(-1, -2) @ matrices
    return bool(
        np.abs(gram - np.eye(3)).max() < FLOAT64 and (np.linalg.det(matrices) > 0.999).all()
    )


def angle(matrices: np.ndarray) -> np.ndarray:
    return Rotation.from_matrix(matrices.reshape(-1, 3, 3)).magnitude().reshape(matrices.shape[:-2])


def test_the_minimal_rotation_turns_one_vector_into_the_other_by_their_angle() -> None:
    a, b = unit(500), unit(500)
    turn = skeleton.minimal_rotation(a, b)
    assert is_rotation(turn)
    np.testing.assert_allclose(np.einsum("nij,nj->ni", turn, a), b, atol=FLOAT64)
    np.testing.assert_allclose(angle(turn), np.arccos(np.sum(a * b, axis=-1)), atol=1e-9)


def test_the_minimal_rotation_leaves_the_common_normal_alone() -> None:
    a, b = unit(100), unit(100)
    normal = np.cross(a, b)
    turned = np.einsum("nij,nj->ni", skeleton.minimal_rotation(a, b), normal)
    np.testing.assert_allclose(turned, normal, atol=FLOAT64)


def test_equal_vectors_need_no_rotation() -> None:
    a = unit(50)
    np.testing.assert_allclose(
        skeleton.minimal_rotation(a, a), np.broadcast_to(np.eye(3), (50, 3, 3)), atol=FLOAT64
    )


@pytest.mark.parametrize("a", [*np.eye(3), *unit(5)])
def test_opposite_vectors_turn_by_pi(a: np.ndarray) -> None:
    turn = skeleton.minimal_rotation(a, -a)
    assert is_rotation(turn)
    np.testing.assert_allclose(turn @ a, -a, atol=FLOAT64)
    np.testing.assert_allclose(np.trace(turn), -1, atol=FLOAT64)


@pytest.mark.parametrize("gap", [1e-2, 1e-5, 1e-8, 1e-12, 1e-15])
def test_nearly_opposite_vectors_still_give_a_rotation(gap: float) -> None:
    a = unit(20)
    b = -a + gap * unit(20)
    assert is_rotation(skeleton.minimal_rotation(a, b / np.linalg.norm(b, axis=-1, keepdims=True)))


def test_pairs_are_ordered_with_the_second_running_fastest() -> None:
    pairs = skeleton.bone_pairs(19)
    assert pairs.shape == (342, 2)
    assert pairs[:3].tolist() == [[0, 1], [0, 2], [0, 3]]
    assert pairs[18:20].tolist() == [[1, 0], [1, 2]]
    assert len({tuple(pair) for pair in pairs.tolist()}) == 342


def test_relative_rotations_have_the_angle_between_the_bones() -> None:
    positions = rng.standard_normal((7, 4, 3))
    result = skeleton.relative_rotations(positions, BONES)
    assert result.shape == (7, 6, 3, 3)
    assert is_rotation(result)
    vectors = positions[:, BONES[:, 1]] - positions[:, BONES[:, 0]]
    vectors /= np.linalg.norm(vectors, axis=-1, keepdims=True)
    m, n = skeleton.bone_pairs(3).T
    expected = np.arccos(np.sum(vectors[:, m] * vectors[:, n], axis=-1))
    np.testing.assert_allclose(angle(result), expected, atol=1e-9)


def test_relative_rotations_follow_their_definition() -> None:
    """Turn bone m onto the x axis by the minimal rotation; bone n is then R e_x."""
    positions = rng.standard_normal((1, 4, 3))
    vectors = positions[0, BONES[:, 1]] - positions[0, BONES[:, 0]]
    result = skeleton.relative_rotations(positions, BONES)[0]
    x_axis = np.array([1.0, 0, 0])
    for (m, n), rotation in zip(skeleton.bone_pairs(3), result, strict=True):
        axis = np.cross(vectors[m], x_axis)
        theta = np.arccos(vectors[m][0] / np.linalg.norm(vectors[m]))
        turn = Rotation.from_rotvec(theta * axis / np.linalg.norm(axis))
        seen = turn.apply(vectors[n] / np.linalg.norm(vectors[n]))
        np.testing.assert_allclose(rotation @ x_axis, seen, atol=FLOAT64)


def test_place_and_size_of_the_body_do_not_matter() -> None:
    positions = rng.standard_normal((3, 4, 3))
    moved = 2.5 * positions + np.array([1.0, -2.0, 3.0])
    np.testing.assert_allclose(
        skeleton.relative_rotations(moved, BONES),
        skeleton.relative_rotations(positions, BONES),
        atol=1e-10,
    )


def test_resampling_to_the_same_length_changes_nothing() -> None:
    positions = rng.standard_normal((9, 4, 3))
    np.testing.assert_allclose(skeleton.resample(positions, 9), positions, atol=FLOAT64)


@pytest.mark.parametrize("old, new", [(5, 17), (30, 7), (2, 11), (1, 4)])
def test_resampling_a_straight_line_stays_on_it(old: int, new: int) -> None:
    line = np.linspace(0, 1, old)[:, None, None] * np.ones((1, 2, 3))
    expected = np.linspace(0, 1 if old > 1 else 0, new)[:, None, None] * np.ones((1, 2, 3))
    np.testing.assert_allclose(skeleton.resample(line, new), expected, atol=FLOAT64)


def test_bad_frames_are_interpolated_and_counted() -> None:
    steady = rng.standard_normal((4, 3))
    times = np.arange(8.0)
    positions = steady + times[:, None, None] * np.ones((1, 4, 3))
    broken = positions.copy()
    broken[[0, 3, 4, 7]] = 0
    filled, count = skeleton.fill_bad_frames(broken, BONES)
    assert count == 4
    np.testing.assert_allclose(filled[1:7], positions[1:7], atol=FLOAT64)
    np.testing.assert_allclose(filled[0], positions[1], atol=FLOAT64)
    np.testing.assert_allclose(filled[7], positions[6], atol=FLOAT64)


def test_a_frame_with_one_bone_of_no_length_is_bad() -> None:
    positions = rng.standard_normal((3, 4, 3))
    positions[1, 2] = positions[1, 1]
    filled, count = skeleton.fill_bad_frames(positions, BONES)
    assert count == 1
    np.testing.assert_allclose(filled[1], (positions[0] + positions[2]) / 2, atol=FLOAT64)


def test_a_sequence_without_a_good_frame_is_refused() -> None:
    with pytest.raises(DatasetError, match="at least one frame"):
        skeleton.fill_bad_frames(np.zeros((3, 4, 3)), BONES)


def test_features_are_rotations_with_pairs_first() -> None:
    features = skeleton.rotation_features(rng.standard_normal((13, 4, 3)), BONES, frames=5)
    assert features.shape == (6, 5, 3, 3)
    assert is_rotation(features)


def test_forward_kinematics_of_a_planar_arm() -> None:
    """Two links of length 2 and 1, turned by 30 and then 45 degrees more about z."""
    turns = Rotation.from_euler("z", [[0], [30], [45]], degrees=True).as_matrix()
    offsets = np.array([[0.0, 0, 0], [2, 0, 0], [1, 0, 0]])
    root = np.array([[5.0, 6, 7]])
    result = skeleton.forward_kinematics(turns[None], offsets, np.array([-1, 0, 1]), root)[0]
    elbow = root[0] + 2 * np.array([np.cos(np.pi / 6), np.sin(np.pi / 6), 0])
    hand = elbow + np.array([np.cos(np.pi * 75 / 180), np.sin(np.pi * 75 / 180), 0])
    np.testing.assert_allclose(result, [root[0], elbow, hand], atol=FLOAT64)


def test_forward_kinematics_moves_with_the_root() -> None:
    """Turning the root by Q about itself turns the whole body by Q."""
    local = Rotation.random(8, rng=1).as_matrix().reshape(2, 4, 3, 3)
    offsets, parents = rng.standard_normal((4, 3)), np.array([-1, 0, 1, 1])
    still = skeleton.forward_kinematics(local, offsets, parents, np.zeros((2, 3)))
    turn = Rotation.random(rng=2).as_matrix()
    turned = local.copy()
    turned[:, 0] = turn @ local[:, 0]
    result = skeleton.forward_kinematics(turned, offsets, parents, np.zeros((2, 3)))
    np.testing.assert_allclose(result, still @ turn.T, atol=FLOAT64)
