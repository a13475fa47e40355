"""G3D: the public index and sequences, and rotations from raw joints."""

from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat
from scipy.spatial.transform import Rotation

from liebn import datasets
from liebn.datasets import g3d
from tests.datasets.tolerances import ROTATION_FLOAT32


def sequence(seed: int) -> np.ndarray:
    """Rotations (342, 100, 3, 3)."""
    return Rotation.random(342 * 100, rng=seed).as_matrix().reshape(342, 100, 3, 3)


def write_sequence(path: Path, rotations: np.ndarray) -> None:
    cells = np.empty((len(rotations), 1), dtype=object)
    for i, joint in enumerate(rotations):
        cells[i, 0] = joint.transpose(1, 2, 0)
    savemat(path, {"fea": cells})


def write_index(folder: Path, names: list[str], labels: list[int], sets: list[int]) -> None:
    lie = {
        "id": np.arange(1, len(names) + 1),
        "name": np.array(names, dtype=object),
        "set": np.array(sets),
        "label": np.array(labels),
    }
    savemat(folder / g3d.INDEX, {"lie_train": {"lieDir": "data/g3d", "lie": lie}})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two sequences in the public layout."""
    result = tmp_path / "g3d"
    result.mkdir()
    for i in range(2):
        write_sequence(result / f"lie_{i}.mat", sequence(i))
    write_index(result, ["lie_0.mat", "lie_1.mat"], labels=[2, 1], sets=[1, 2])
    return result


def test_index_and_sequences(folder: Path) -> None:
    data = datasets.load("g3d", root=folder.parent)
    assert data.points.shape == (2, 342, 100, 3, 3)
    for i in range(2):
        np.testing.assert_allclose(data.points[i], sequence(i), atol=ROTATION_FLOAT32)
    assert data.labels.tolist() == [1, 0]
    (split,) = data.splits("official")
    assert (split.train.tolist(), split.test.tolist()) == ([0], [1])


def test_a_listed_file_outside_the_folder_is_refused(folder: Path) -> None:
    write_index(folder, ["../other.mat", "lie_1.mat"], labels=[1, 2], sets=[1, 2])
    with pytest.raises(datasets.DatasetError, match=r"names .*other.mat.*outside its folder"):
        datasets.load("g3d", root=folder.parent)


def test_a_listed_file_that_is_absent_is_named(folder: Path) -> None:
    (folder / "lie_1.mat").unlink()
    with pytest.raises(datasets.DatasetError, match=r"lie_1.mat: not a readable .mat"):
        datasets.load("g3d", root=folder.parent)


def test_an_index_of_another_form_is_refused(folder: Path) -> None:
    savemat(folder / g3d.INDEX, {"lie_train": {"other": 1}})
    with pytest.raises(datasets.DatasetError, match=r"expected lie_train.lie with the fields"):
        datasets.load("g3d", root=folder.parent)


def test_an_index_of_uneven_columns_is_refused(folder: Path) -> None:
    write_index(folder, ["lie_0.mat", "lie_1.mat"], labels=[1], sets=[1, 2])
    with pytest.raises(datasets.DatasetError, match="got 1, 2 and 2"):
        datasets.load("g3d", root=folder.parent)


def test_too_few_cells_are_refused(folder: Path) -> None:
    write_sequence(folder / "lie_0.mat", sequence(0)[:341])
    with pytest.raises(datasets.DatasetError, match=r"lie_0.mat: expected fea with 342 .* got 341"):
        datasets.load("g3d", root=folder.parent)


def test_a_cell_of_another_length_is_refused(folder: Path) -> None:
    write_sequence(folder / "lie_0.mat", sequence(0)[:, :99])
    with pytest.raises(datasets.DatasetError, match=r"lie_0.mat cell 0: expected shape"):
        datasets.load("g3d", root=folder.parent)


def test_matrices_that_are_no_rotations_are_refused(folder: Path) -> None:
    write_sequence(folder / "lie_0.mat", 1.01 * sequence(0))
    with pytest.raises(datasets.DatasetError, match=r"lie_0.mat: expected rotation matrices"):
        datasets.load("g3d", root=folder.parent)


def test_bones_form_a_tree_over_all_joints() -> None:
    assert g3d.BONES.shape == (19, 2)
    assert sorted(g3d.BONES[:, 1].tolist()) == list(range(1, 20))
    assert (g3d.BONES[:, 0] < g3d.BONES[:, 1]).all()


def test_raw_joints_become_rotations_of_the_public_shape() -> None:
    positions = np.random.default_rng(0).standard_normal((37, 20, 3))
    positions[5] = 0
    result = g3d.rotations_from_joints(positions)
    assert result.shape == (342, 100, 3, 3)
    gram = result.swapaxes(-1, -2) @ result
    assert np.abs(gram - np.eye(3)).max() < ROTATION_FLOAT32
    assert np.linalg.det(result).min() > 0.999
