"""FPHA: the four layouts, and the real file."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from liebn import datasets
from liebn.datasets import fpha
from tests.datasets.tolerances import FLOAT64


def write_npy(root: Path, points: np.ndarray, labels: list[int], trains: list[bool]) -> None:
    for i, (point, label, train) in enumerate(zip(points, labels, trains, strict=True)):
        folder = root / "fpha" / ("train" if train else "val")
        folder.mkdir(parents=True, exist_ok=True)
        np.save(folder / f"clip_{i}_{label}.npy", point)


LABELS = [0, 1, 0, 1]
TRAINS = [True, True, False, False]


def test_folders_of_npy(tmp_path: Path, spd: Callable) -> None:
    points = spd(4, 63)
    write_npy(tmp_path, points, LABELS, TRAINS)
    data = datasets.load("fpha", root=tmp_path)
    (split,) = data.splits("official")
    assert (split.train.tolist(), split.test.tolist()) == ([0, 1], [2, 3])
    assert data.labels.tolist() == LABELS
    np.testing.assert_array_equal(data.points, points)
    assert data.report == ()
    assert data.subjects is None


def test_class_folders_of_mat(tmp_path: Path, spd: Callable) -> None:
    points = spd(4, 63)
    for i, (label, train) in enumerate(zip([1, 2, 1, 2], TRAINS, strict=True)):
        folder = tmp_path / "FPHA" / ("train" if train else "val") / str(label)
        folder.mkdir(parents=True, exist_ok=True)
        savemat(folder / f"{i}.mat", {"temp_2": points[i]})
    data = datasets.load("fpha", root=tmp_path)
    (split,) = data.splits("official")
    np.testing.assert_array_equal(data.points[split.train], points[:2])
    np.testing.assert_array_equal(data.points[split.test], points[2:])
    assert data.labels.tolist() == LABELS
    assert data.classes == ("1", "2")


def test_class_folders_sort_by_number_of_the_class(tmp_path: Path, spd: Callable) -> None:
    points = spd(24, 63)
    for part in ("train", "val"):
        for label in range(1, 13):
            folder = tmp_path / "fpha" / part / str(label)
            folder.mkdir(parents=True)
            savemat(folder / "1.mat", {"temp_2": label * points[0]})
    data = datasets.load("fpha", root=tmp_path)
    first = data.points[:, 0, 0] / points[0, 0, 0]
    np.testing.assert_allclose(first, [int(data.classes[label]) for label in data.labels])


def write_skeletons(root: Path, frames: int = 12) -> dict[str, np.ndarray]:
    """Write four takes and the split file; return the tables by folder."""
    rng = np.random.default_rng(3)
    folders = [f"Subject_{s}/{a}/1" for s in (1, 2) for a in ("open_jar", "pour_milk")]
    tables = {}
    for folder in folders:
        take = root / "fpha" / folder
        take.mkdir(parents=True)
        table = np.column_stack([np.arange(frames), rng.standard_normal((frames, 63))])
        np.savetxt(take / "skeleton.txt", table)
        tables[folder] = table
    lines = ["Training 2", f"{folders[0]} 0", f"{folders[1]} 1", "Test 2"]
    lines += [f"{folders[2]} 0", f"{folders[3]} 1", ""]
    (root / "fpha" / fpha.SPLIT_FILE).write_text("\n".join(lines))
    return tables


def test_skeleton_text_files(tmp_path: Path) -> None:
    tables = write_skeletons(tmp_path)
    data = datasets.load("fpha", root=tmp_path)
    for point, table in zip(data.points, tables.values(), strict=True):
        plain = np.cov(table[:, 1:].T)
        expected = plain + 1e-3 * np.trace(plain) * np.eye(63)
        np.testing.assert_allclose(point, expected, rtol=FLOAT64, atol=FLOAT64)
    (split,) = data.splits("official")
    assert split.train.tolist() == [0, 1]
    assert data.subjects.tolist() == [1, 1, 2, 2]


@pytest.mark.parametrize(
    "content",
    ["", "0 1 2\n1 2 3\n", "0 " + "x " * 63, "0 " + "1 " * 63, "0 " + "nan " * 63 + "\n" * 2],
    ids=["empty", "too few columns", "no numbers", "one frame", "not a number"],
)
@pytest.mark.filterwarnings("ignore:loadtxt:UserWarning")
def test_bad_skeleton_files_are_named(tmp_path: Path, content: str) -> None:
    write_skeletons(tmp_path)
    bad = tmp_path / "fpha" / "Subject_2" / "open_jar" / "1" / "skeleton.txt"
    bad.write_text(content)
    with pytest.raises(datasets.DatasetError, match=str(bad)):
        datasets.load("fpha", root=tmp_path)


@pytest.mark.parametrize("line", ["Subject_1/open_jar/1", "Subject_1/open_jar/1 zero"])
def test_bad_split_lines_are_named_with_their_number(tmp_path: Path, line: str) -> None:
    write_skeletons(tmp_path)
    path = tmp_path / "fpha" / fpha.SPLIT_FILE
    path.write_text(f"Training 1\n{line}\n")
    with pytest.raises(datasets.DatasetError, match=f"{path}:2: expected 'Subject_"):
        datasets.load("fpha", root=tmp_path)


def test_a_split_file_cannot_lead_outside(tmp_path: Path) -> None:
    write_skeletons(tmp_path)
    path = tmp_path / "fpha" / fpha.SPLIT_FILE
    path.write_text("Training 1\nSubject_1/../../../secret 0\n")
    with pytest.raises(datasets.DatasetError, match=r"secret.*outside"):
        datasets.load("fpha", root=tmp_path)


def test_zero_matrices_are_dropped_with_their_name(tmp_path: Path, spd: Callable) -> None:
    points = spd(5, 63)
    points[2] = 0
    write_npy(tmp_path, points, [0, 1, 0, 0, 1], [True, True, False, False, False])
    data = datasets.load("fpha", root=tmp_path)
    assert len(data) == 4
    assert data.labels.tolist() == [0, 1, 0, 1]
    assert "dropped 1 all-zero matrix" in data.report[0]
    assert "val/clip_2_0.npy" in data.report[0]
    (split,) = data.splits("official")
    assert (split.train.tolist(), split.test.tolist()) == ([0, 1], [2, 3])


def test_an_empty_class_folder_is_named(tmp_path: Path, spd: Callable) -> None:
    write_npy(tmp_path, spd(4, 63), LABELS, TRAINS)
    (tmp_path / "fpha" / "train" / "3").mkdir()
    with pytest.raises(datasets.DatasetError, match=r"train/3: expected files \*.mat, found none"):
        datasets.load("fpha", root=tmp_path)


def test_a_class_that_only_had_a_zero_matrix_is_empty(tmp_path: Path, spd: Callable) -> None:
    points = spd(4, 63)
    points[1] = 0
    write_npy(tmp_path, points, [0, 1, 2, 2], TRAINS)
    with pytest.raises(datasets.DatasetError, match=r"fpha: class 1 is empty"):
        datasets.load("fpha", root=tmp_path)


def test_a_folder_of_neither_layout_says_what_was_expected(tmp_path: Path) -> None:
    (tmp_path / "fpha" / "train").mkdir(parents=True)
    (tmp_path / "fpha" / "train" / "a_0.npy").touch()
    with pytest.raises(datasets.DatasetError, match=r"expected fpha_cov63.npz, .* train/ and val/"):
        datasets.load("fpha", root=tmp_path)


@pytest.mark.data
def test_the_real_file(real: Callable[[str], Path]) -> None:
    root = real("fpha_cov63")
    data = datasets.load("fpha", root=root)
    raw = np.load(root / "fpha_cov63" / "fpha_cov63.npz")
    assert data.points.shape == (1174, 63, 63)
    assert np.unique(data.subjects).tolist() == [1, 2, 3, 4, 5, 6]
    np.testing.assert_array_equal(data.points, raw["cov"][~raw["is_zero"]])
    np.testing.assert_array_equal(data.labels, raw["label"][~raw["is_zero"]])
    assert data.report == (
        "dropped 1 all-zero matrix, not positive definite: clip 907",
        fpha.INFERRED,
    )
    (split,) = data.splits("official")
    assert (len(split.train), len(split.test)) == (600, 574)
