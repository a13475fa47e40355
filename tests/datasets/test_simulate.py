"""Simulated classes: their centres, dispersions and shifts are what was asked for."""

import numpy as np
import pytest
from pyriemann.geometry.distance import distance_logeuclid, distance_riemann
from pyriemann.geometry.mean import mean_logchol, mean_logeuclid, mean_riemann
from scipy.linalg import expm, logm
from scipy.spatial.transform import Rotation

from liebn import datasets
from liebn.datasets.simulate import spd as simulate
from tests.datasets.tolerances import DECOMPOSITIONS, FLOAT64

METRICS = ["aim", "lem", "lcm"]
MEANS = {
    "aim": lambda x: mean_riemann(x, tol=1e-13, maxiter=200),
    "lem": mean_logeuclid,
    "lcm": mean_logchol,
}


def chart(matrix: np.ndarray) -> np.ndarray:
    factor = np.linalg.cholesky(matrix)
    return np.tril(factor, -1) + np.diag(np.log(np.diag(factor)))


DISTANCES = {
    "aim": distance_riemann,
    "lem": distance_logeuclid,
    "lcm": lambda a, b: np.linalg.norm(chart(a) - chart(b)),
}


def spread(metric: str, points: np.ndarray, centre: np.ndarray) -> float:
    return float(np.sqrt(np.mean([DISTANCES[metric](x, centre) ** 2 for x in points])))


@pytest.mark.parametrize("metric", METRICS)
def test_the_centre_of_a_class_is_its_mean(metric: str) -> None:
    data, centres = datasets.spd_classes(6, classes=2, per_class=15, metric=metric, seed=3)
    for label, centre in enumerate(centres):
        mean = MEANS[metric](data.points[data.labels == label])
        np.testing.assert_allclose(mean, centre, atol=DECOMPOSITIONS, rtol=DECOMPOSITIONS)


@pytest.mark.parametrize("metric", METRICS)
def test_dispersion_and_separation_are_as_asked(metric: str) -> None:
    data, centres = datasets.spd_classes(
        5, classes=3, per_class=10, metric=metric, dispersion=0.7, separation=1.3
    )
    for label, centre in enumerate(centres):
        own = data.points[data.labels == label]
        np.testing.assert_allclose(spread(metric, own, centre), 0.7, rtol=1e-8)
        np.testing.assert_allclose(DISTANCES[metric](centre, np.eye(5)), 1.3, rtol=1e-8)


@pytest.mark.parametrize("metric", METRICS)
def test_translation_is_an_isometry_that_moves_the_identity(metric: str) -> None:
    data, centres = datasets.spd_classes(4, classes=1, per_class=3, metric=metric, seed=1)
    move = centres[0]
    moved = simulate.translate(metric, move, data.points)
    for a in range(3):
        before = DISTANCES[metric](data.points[a], data.points[a - 1])
        after = DISTANCES[metric](moved[a], moved[a - 1])
        np.testing.assert_allclose(after, before, rtol=1e-8)
    identity = simulate.translate(metric, move, np.eye(4)[None])[0]
    np.testing.assert_allclose(identity, move, atol=FLOAT64)


def test_translations_are_the_groups_own_operations() -> None:
    data, _ = datasets.spd_classes(4, classes=1, per_class=2, seed=8)
    a, b = data.points
    factor = np.linalg.cholesky(a)
    np.testing.assert_allclose(
        simulate.translate("aim", a, b[None])[0], factor @ b @ factor.T, atol=FLOAT64
    )
    np.testing.assert_allclose(
        simulate.translate("lem", a, b[None])[0], expm(logm(a) + logm(b)), atol=DECOMPOSITIONS
    )
    np.testing.assert_allclose(
        chart(simulate.translate("lcm", a, b[None])[0]), chart(a) + chart(b), atol=FLOAT64
    )


@pytest.mark.parametrize("metric", METRICS)
def test_a_domain_is_shifted_by_its_matrix(metric: str) -> None:
    """The mean of a domain's class, moved back, is the same centre in all domains."""
    data, moves = datasets.domain_shifted_spd(
        4, domains=3, classes=2, per_class=8, metric=metric, shift=1.5, dispersion=0.4
    )
    assert np.bincount(data.domains).tolist() == [16, 16, 16]
    assert np.bincount(data.labels).tolist() == [24, 24]
    for move in moves:
        np.testing.assert_allclose(DISTANCES[metric](move, np.eye(4)), 1.5, rtol=1e-8)
    for label in range(2):
        means = [
            MEANS[metric](data.points[(data.domains == d) & (data.labels == label)])
            for d in range(3)
        ]
        unshifted = simulate.translate(metric, inverse(metric, moves[0]), means[0][None])
        for move, mean in zip(moves, means, strict=True):
            np.testing.assert_allclose(
                simulate.translate(metric, move, unshifted)[0], mean, rtol=1e-7, atol=1e-7
            )


def inverse(metric: str, matrix: np.ndarray) -> np.ndarray:
    """The group's inverse: the translation by it undoes that by the matrix."""
    if metric == "aim":
        factor = np.linalg.inv(np.linalg.cholesky(matrix))
        return factor @ factor.T
    if metric == "lem":
        return np.linalg.inv(matrix)
    lower = -chart(matrix)
    factor = np.tril(lower, -1) + np.diag(np.exp(np.diag(lower)))
    return factor @ factor.T


@pytest.mark.parametrize("make", [datasets.spd_classes, datasets.domain_shifted_spd])
def test_simulated_matrices_are_seeded_definite_and_declared(make) -> None:
    first, again, other = (make(5, per_class=4, seed=s)[0] for s in (1, 1, 2))
    np.testing.assert_array_equal(first.points, again.points)
    assert not np.array_equal(first.points, other.points)
    assert np.linalg.eigvalsh(first.points).min() > 0
    assert first.simulated
    assert first.report == ("simulated",)


@pytest.mark.parametrize("make", [datasets.spd_classes, datasets.domain_shifted_spd])
def test_unknown_metrics_and_single_samples_are_refused(make) -> None:
    with pytest.raises(datasets.DatasetError, match="among aim, lem, lcm, got 'euclid'"):
        make(3, metric="euclid")
    with pytest.raises(datasets.DatasetError, match="at least two samples per class, got 1"):
        make(3, per_class=1)


def test_rotation_sequences_have_the_mean_paths_they_declare() -> None:
    """At the mean, the logarithms of the deviations add up to zero."""
    data, paths = datasets.rotation_sequences(
        joints=3, frames=5, classes=2, per_class=8, dispersion=0.3, speed=1.2
    )
    assert data.points.shape == (16, 3, 5, 3, 3)
    assert data.simulated
    for label in range(2):
        deviation = paths[label].swapaxes(-1, -2) @ data.points[data.labels == label]
        logs = Rotation.from_matrix(deviation.reshape(-1, 3, 3)).as_rotvec().reshape(8, 3, 5, 3)
        np.testing.assert_allclose(logs.sum(axis=0), 0, atol=FLOAT64)
        squared = np.mean(np.sum(logs**2, axis=-1), axis=0)
        np.testing.assert_allclose(squared, 0.3**2, rtol=1e-9)


def test_rotation_sequences_turn_by_the_speed() -> None:
    _, paths = datasets.rotation_sequences(joints=2, frames=7, speed=1.7)
    np.testing.assert_allclose(paths[:, :, 0], np.broadcast_to(np.eye(3), (3, 2, 3, 3)))
    turned = Rotation.from_matrix(paths[:, :, -1].reshape(-1, 3, 3)).magnitude()
    np.testing.assert_allclose(turned, 1.7, rtol=1e-9)


def test_too_wide_a_dispersion_is_refused() -> None:
    with pytest.raises(datasets.DatasetError, match="below a right angle"):
        datasets.rotation_sequences(dispersion=2.0)
    with pytest.raises(datasets.DatasetError, match="at least two samples per class"):
        datasets.rotation_sequences(per_class=1)
