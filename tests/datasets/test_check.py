"""What `check` finds in data whose defects are known."""

from collections.abc import Callable

import numpy as np
import pytest

from liebn import datasets
from liebn.datasets import splits
from liebn.datasets.check import check, duplicates, leaks


def record(points: np.ndarray, **changes: object) -> datasets.Dataset:
    fields: dict = {
        "name": "toy",
        "space": "spd",
        "points": points,
        "labels": np.arange(len(points)) % 2,
        "classes": ("a", "b"),
    }
    return datasets.Dataset(**(fields | changes))


def test_sound_data_have_no_fault(spd: Callable) -> None:
    points = spd(6, 3)
    values = np.linalg.eigvalsh(points)
    found = check(record(points, subjects=np.array([1, 1, 2, 2, 2, 3])))
    text = "\n".join(found.lines)
    assert found.faults == ()
    assert "toy: 6 samples of shape (3, 3), float64, spd" in text
    assert "classes: 2, of 3 to 3 samples" in text
    assert "subjects: 3, of 1 to 3 samples" in text
    assert f"smallest eigenvalue: {values.min():.3g}" in text
    assert f"most {(values[:, -1] / values[:, 0]).max():.3g}" in text
    assert "zero samples: 0; exact duplicates: none" in text
    assert "loader: changed nothing" in text


def test_simulated_data_are_called_simulated(spd: Callable) -> None:
    assert "toy (simulated)" in check(record(spd(2, 3), simulated=True)).lines[0]


def test_duplicates_and_leaks_are_found(spd: Callable) -> None:
    points = spd(6, 3)
    points[4] = points[1]
    points[5] = points[1]
    train = np.array([True, True, True, False, True, False])
    data = record(points, protocols={"official": splits.fixed(train)})
    points[2] = points[0]
    groups = duplicates(points)
    assert groups == [(0, 2), (1, 4, 5)]
    assert leaks(data.splits("official")[0], groups) == [(1, 4, 5)]
    text = "\n".join(check(data).lines)
    assert "exact duplicates: 2 (0=2, 1=4=5)" in text
    assert "first 4/2 train/test; duplicates across: 1 (1=4=5)" in text


def test_a_leak_between_two_later_copies_is_found() -> None:
    """Samples 0, 1, 2 agree; 0 is in neither part."""
    split = datasets.Split("s", train=np.array([1]), test=np.array([2]))
    points = np.stack([np.eye(2)] * 3)
    assert leaks(split, duplicates(points)) == [(0, 1, 2)]


def test_matrices_that_are_not_definite(spd: Callable) -> None:
    points = spd(4, 3)
    points[2] = np.diag([1.0, 1.0, -1.0])
    assert check(record(points)).faults == ("1 matrices are not positive definite",)


def test_zero_matrices(spd: Callable) -> None:
    points = spd(4, 3)
    points[0] = 0
    assert check(record(points)).faults == ("1 samples are zero",)
    assert check(record(0 * points)).faults == ("4 samples are zero",)


def test_matrices_that_are_not_symmetric(spd: Callable) -> None:
    points = spd(4, 3)
    points[1, 0, 1] += 0.01
    found = check(record(points))
    assert found.faults == ("1 matrices are not symmetric",)


@pytest.mark.parametrize("space", ["spd", "rotation", "signal"])
def test_values_that_are_no_numbers(space: str) -> None:
    points = np.stack([np.eye(3)] * 2)
    points[1, 0, 0] = np.nan
    assert check(record(points, space=space)).faults == ("some values are NaN or infinite",)


def test_rotations() -> None:
    points = np.stack([np.stack([np.eye(3)] * 4)] * 2)
    assert check(record(points, space="rotation")).faults == ()
    points[1, 2] = np.diag([1.0, 1.0, -1.0])
    assert check(record(points, space="rotation")).faults == ("some matrices are not rotations",)
    points[1, 2] = 1.001 * np.eye(3)
    assert check(record(points, space="rotation")).faults == ("some matrices are not rotations",)


def test_a_class_that_is_never_trained_on(spd: Callable) -> None:
    train = np.array([True, False, True, False])
    found = check(record(spd(4, 3), protocols={"official": splits.fixed(train)}))
    assert found.faults == ()
    assert "protocol official, official: tested, never trained on: b" in found.lines
