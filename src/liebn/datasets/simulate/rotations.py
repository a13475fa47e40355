"""Simulated sequences of rotations whose mean paths are known exactly."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from ..errors import DatasetError
from ..record import Dataset, Floats


def _exp(vectors: Floats) -> Floats:
    """Rotation matrices (..., 3, 3) of rotation vectors (..., 3)."""
    matrices = Rotation.from_rotvec(vectors.reshape(-1, 3)).as_matrix()
    return np.asarray(matrices.reshape((*vectors.shape[:-1], 3, 3)))


def rotation_sequences(
    joints: int = 4,
    frames: int = 16,
    classes: int = 3,
    per_class: int = 20,
    dispersion: float = 0.2,
    speed: float = 1.0,
    seed: int = 0,
) -> tuple[Dataset, Floats]:
    """Simulate classes of motions: every joint turns steadily about an axis of its class.

    A sample is R(t) = C(t) exp(w), with C(t) = exp(t u) the path of class and joint, t from 0 to 1,
    and one disturbance w per sample and joint. The w of a class have mean zero and mean squared
    norm ``dispersion`` squared, so C(t) is the Karcher mean of the samples at every time.

    Args:
        joints: rotations per frame.
        frames: times.
        classes: number of classes.
        per_class: samples of each.
        dispersion: in radians.
        speed: angle in radians that a joint turns from the first frame to the last.
        seed: of the generator.

    Returns:
        The dataset, points of shape (samples, joints, frames, 3, 3), and the mean paths, shape
        (classes, joints, frames, 3, 3).

    Raises:
        DatasetError: a disturbance reaches a right angle, where the mean is no longer certain.
    """
    if per_class < 2:
        raise DatasetError(f"expected at least two samples per class, got {per_class}")
    rng = np.random.default_rng(seed)
    axes = rng.standard_normal((classes, joints, 3))
    axes *= speed / np.linalg.norm(axes, axis=-1, keepdims=True)
    times = np.linspace(0, 1, frames)
    paths = _exp(times[:, None] * axes[:, :, None, :])
    noise = rng.standard_normal((classes, per_class, joints, 3))
    noise -= noise.mean(axis=1, keepdims=True)
    noise *= dispersion / np.sqrt(np.mean(np.sum(noise**2, -1), axis=1))[:, None, :, None]
    largest = float(np.linalg.norm(noise, axis=-1).max())
    if largest >= np.pi / 2:
        raise DatasetError(
            f"expected disturbances below a right angle, got {largest:.2f}; lower the dispersion"
        )
    points = paths[:, None] @ _exp(noise)[:, :, :, None]
    dataset = Dataset(
        name="simulated-rotations",
        space="rotation",
        points=points.reshape(-1, joints, frames, 3, 3),
        labels=np.repeat(np.arange(classes), per_class),
        classes=tuple(f"class {c}" for c in range(classes)),
        report=("simulated",),
        simulated=True,
    )
    return dataset, paths
