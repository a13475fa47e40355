"""From skeletons to rotations and back.

Axes: positions are (frames, joints, 3); rotations are (frames, ..., 3, 3) inside this module and
(..., frames, 3, 3) in a dataset, as LieNet takes them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from .errors import DatasetError
from .record import Floats


def forward_kinematics(
    rotations: Floats, offsets: Floats, parents: NDArray[np.integer], root: Floats
) -> Floats:
    """Turn local joint rotations into joint positions.

    G_j = G_parent R_j and p_j = p_parent + G_j o_j: a bone's offset is turned by the rotation of
    the joint at its far end.

    Args:
        rotations: local rotations R, shape (frames, joints, 3, 3).
        offsets: bone vectors o in the rest pose, shape (joints, 3).
        parents: index of each joint's parent, -1 for the root; parents come before children.
        root: positions of the root, shape (frames, 3).

    Returns:
        Positions, shape (frames, joints, 3).
    """
    turned = np.empty_like(rotations)
    positions = np.empty((*rotations.shape[:2], 3), dtype=rotations.dtype)
    for joint, parent in enumerate(parents):
        if parent < 0:
            turned[:, joint] = rotations[:, joint]
            positions[:, joint] = root
        else:
            turned[:, joint] = turned[:, parent] @ rotations[:, joint]
            positions[:, joint] = positions[:, parent] + turned[:, joint] @ offsets[joint]
    return positions


def fill_bad_frames(positions: Floats, bones: NDArray[np.integer]) -> tuple[Floats, int]:
    """Replace frames in which a bone has no direction, by linear interpolation over time.

    A tracker that lost the body writes zeros. Bad frames before the first or after the last good
    one take the nearest good frame.

    Returns:
        The repaired positions and the number of frames replaced.

    Raises:
        DatasetError: no frame is good.
    """
    vectors = positions[:, bones[:, 1]] - positions[:, bones[:, 0]]
    good = np.linalg.norm(vectors, axis=-1).min(axis=1) > 0
    if not good.any():
        raise DatasetError("expected at least one frame with bones of positive length, got none")
    return _at_times(positions, np.flatnonzero(good), np.arange(len(positions))), int((~good).sum())


def resample(positions: Floats, frames: int) -> Floats:
    """Resample positions to ``frames`` equally spaced times, ends included, linearly."""
    wanted = np.linspace(0, len(positions) - 1, frames)
    return _at_times(positions, np.arange(len(positions)), wanted)


def _at_times(positions: Floats, known: NDArray[np.integer], wanted: NDArray[np.number]) -> Floats:
    """Interpolate linearly between the frames ``known``; constant beyond the first and last."""
    after = np.clip(np.searchsorted(known, wanted), 1, max(len(known) - 1, 1)) % len(known)
    before = np.maximum(after - 1, 0)
    gap = np.maximum(known[after] - known[before], 1)
    weight = np.clip((wanted - known[before]) / gap, 0, 1)[:, None, None]
    return np.asarray((1 - weight) * positions[known[before]] + weight * positions[known[after]])


def minimal_rotation(start: Floats, end: Floats) -> Floats:
    """Return the rotation by the smallest angle that turns one unit vector into another.

    It goes through the unit quaternion (1 + a.b, a x b), with 1 + a.b = |a + b|^2 / 2, so that the
    result is in SO(3) to rounding even next to opposite vectors. Exactly opposite ones turn by pi
    about an axis perpendicular to them.

    Args:
        start: a, shape (..., 3).
        end: b, shape (..., 3).

    Returns:
        Shape (..., 3, 3).
    """
    start, end = np.broadcast_arrays(start, end)
    scalar = np.sum((start + end) ** 2, axis=-1, keepdims=True) / 2
    quaternion = np.concatenate([np.cross(start, end), scalar], axis=-1)
    norm = np.linalg.norm(quaternion, axis=-1, keepdims=True)
    smallest = np.eye(3)[np.argmin(np.abs(start), axis=-1)]
    sideways = np.cross(start, smallest)
    sideways = np.concatenate([sideways, np.zeros_like(scalar)], axis=-1)
    quaternion = np.where(norm > np.finfo(start.dtype).eps, quaternion, sideways)
    matrices = Rotation.from_quat(quaternion.reshape(-1, 4)).as_matrix()
    return np.asarray(matrices.reshape((*start.shape[:-1], 3, 3)))


def bone_pairs(bones: int) -> NDArray[np.int64]:
    """Return all ordered pairs (m, n) of different bones, n running fastest: (pairs, 2)."""
    pairs = [(m, n) for m in range(bones) for n in range(bones) if m != n]
    return np.array(pairs, dtype=np.int64)


def relative_rotations(positions: Floats, bones: NDArray[np.integer]) -> Floats:
    """Describe a skeleton by the rotations between its bones, as Vemulapalli et al. (2014) do.

    For an ordered pair (m, n), turn the body so that bone m points along the x axis, by the minimal
    rotation; the result is then the minimal rotation from the x axis to bone n.

    Args:
        positions: shape (frames, joints, 3), every bone of positive length.
        bones: joint indices (from, to), shape (bones, 2).

    Returns:
        Shape (frames, pairs, 3, 3), the pairs in the order of `bone_pairs`. Its angle is the angle
        between the two bones, whatever the body's position and size.
    """
    vectors = positions[:, bones[:, 1]] - positions[:, bones[:, 0]]
    directions = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    x_axis = np.array([1.0, 0.0, 0.0], dtype=positions.dtype)
    to_x_axis = minimal_rotation(directions, x_axis)
    reference, moving = bone_pairs(len(bones)).T
    seen = np.einsum("fpij,fpj->fpi", to_x_axis[:, reference], directions[:, moving])
    return minimal_rotation(x_axis, seen)


def rotation_features(positions: Floats, bones: NDArray[np.integer], frames: int) -> Floats:
    """Return a sequence's relative rotations at ``frames`` times, shape (pairs, frames, 3, 3).

    Positions are resampled first and turned into rotations afterwards, so that every matrix is a
    rotation by construction.
    """
    rotations = relative_rotations(resample(positions, frames), bones)
    return np.ascontiguousarray(np.swapaxes(rotations, 0, 1))
