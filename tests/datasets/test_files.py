"""Bad files: each gives one line that names the file, and nothing in it is executed."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from liebn.datasets import files
from liebn.datasets.errors import DatasetError


class Bomb:
    """Unpickling it leaves a trace."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple:
        return Path.touch, (self.target,)


def fails(path: Path, *words: str) -> "pytest.RaisesExc":
    """Expect one line that starts with the path and has the words."""

    def one_line(error: DatasetError) -> bool:
        text = str(error)
        return text.startswith(str(path)) and "\n" not in text and all(w in text for w in words)

    return pytest.RaisesExc(DatasetError, check=one_line)


def test_a_good_file_is_read_unchanged(tmp_path: Path) -> None:
    array = np.arange(6.0).reshape(2, 3)
    np.save(tmp_path / "a.npy", array)
    np.testing.assert_array_equal(files.load_npy(tmp_path / "a.npy", (None, 3)), array)


@pytest.mark.parametrize("keep", [0, 5, 60, 150])
def test_truncated_npy(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "a_0.npy"
    np.save(path, np.ones((4, 4)))
    path.write_bytes(path.read_bytes()[:keep])
    with fails(path, "not a readable .npy"):
        files.load_npy(path, (4, 4))


@pytest.mark.parametrize("fraction", [0.0, 0.1, 0.6, 0.99])
def test_truncated_npz(tmp_path: Path, fraction: float) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, x=np.random.default_rng(0).random((20, 20)))
    content = path.read_bytes()
    path.write_bytes(content[: int(fraction * len(content))])
    with fails(path, "not a readable .npz"):
        files.load_npz(path, {"x": ((20, 20), "f")})


def test_npz_with_a_damaged_member(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez_compressed(path, x=np.random.default_rng(0).random((20, 20)))
    content = bytearray(path.read_bytes())
    content[200:300] = bytes(100)
    path.write_bytes(content)
    with fails(path):
        files.load_npz(path, {"x": ((20, 20), "f")})


@pytest.mark.parametrize("fraction", [0.0, 0.3, 0.9])
def test_truncated_mat(tmp_path: Path, fraction: float) -> None:
    path = tmp_path / "1.mat"
    savemat(path, {"temp_2": np.eye(63)}, do_compression=True)
    content = path.read_bytes()
    path.write_bytes(content[: int(fraction * len(content))])
    with fails(path, "not a readable .mat"):
        files.load_mat_matrix(path, (63, 63))


def test_missing_file(tmp_path: Path) -> None:
    with fails(tmp_path / "none.npy", "No such file"):
        files.load_npy(tmp_path / "none.npy", (1,))


def test_wrong_shape(tmp_path: Path) -> None:
    path = tmp_path / "a_0.npy"
    np.save(path, np.ones((3, 4)))
    with fails(path, "expected shape (any, 3)", "got (3, 4)"):
        files.load_npy(path, (None, 3))


def test_wrong_dtype(tmp_path: Path) -> None:
    path = tmp_path / "a_0.npy"
    np.save(path, np.array(["text"]))
    with fails(path, "expected a dtype of kind 'f'", "<U4"):
        files.load_npy(path, (1,))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_not_a_number(tmp_path: Path, value: float) -> None:
    path = tmp_path / "a_0.npy"
    np.save(path, np.array([1.0, value]))
    with fails(path, "expected finite numbers", "got 1"):
        files.load_npy(path, (2,))


def test_pickled_object_array_is_refused_and_not_executed(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    path = tmp_path / "a_0.npy"
    np.save(path, np.array([Bomb(trace)], dtype=object), allow_pickle=True)
    with fails(path, "Object arrays cannot be loaded"):
        files.load_npy(path, (1,))
    assert not trace.exists()


def test_bare_pickle_is_refused_and_not_executed(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    path = tmp_path / "a_0.npy"
    path.write_bytes(pickle.dumps(Bomb(trace)))
    with fails(path, "not a readable .npy"):
        files.load_npy(path, (1,))
    assert not trace.exists()


def test_object_array_inside_an_npz_is_refused_and_not_executed(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    path = tmp_path / "a.npz"
    np.savez(path, x=np.array([Bomb(trace)], dtype=object))
    with fails(path, "Object arrays cannot be loaded"):
        files.load_npz(path, {"x": ((1,), "f")})
    assert not trace.exists()


def test_npz_without_an_array(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, x=np.ones(2))
    with fails(path, "missing: ['y']"):
        files.load_npz(path, {"x": ((2,), "f"), "y": ((2,), "f")})


def test_arrays_of_different_lengths(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, x=np.ones((4, 2)), y=np.ones(3))
    with fails(path, "[y]", "expected 4 entries", "got 3"):
        files.load_npz(path, {"x": (("n", 2), "f"), "y": (("n",), "f")})


def test_npz_where_an_npy_is_expected(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    with path.open("wb") as stream:
        np.savez(stream, x=np.ones(2))
    with fails(path, "expected one array"):
        files.load_npy(path, (2,))


def test_mat_of_two_variables(tmp_path: Path) -> None:
    path = tmp_path / "1.mat"
    savemat(path, {"a": np.eye(2), "b": np.eye(2)})
    with fails(path, "expected one variable", "['a', 'b']"):
        files.load_mat_matrix(path, (2, 2))


@pytest.mark.parametrize("name, label", [("take_12_3.npy", 3), ("x_0.npy", 0), ("_7.npy", 7)])
def test_label_is_the_integer_after_the_last_underscore(name: str, label: int) -> None:
    assert files.label_from_name(Path(name)) == label


@pytest.mark.parametrize("name", ["take.npy", "take_.npy", "take_3b.npy", "take_-1.npy", "3.npy"])
def test_a_name_without_a_label(name: str) -> None:
    with fails(Path(name), "no label"):
        files.label_from_name(Path(name))


def test_labels_become_indices_and_names() -> None:
    indices, classes = files.index_labels([3, 1, 2, 3], Path("x"))
    np.testing.assert_array_equal(indices, [2, 0, 1, 2])
    assert classes == ("1", "2", "3")


def test_a_gap_in_the_labels_is_an_empty_class(tmp_path: Path) -> None:
    with fails(tmp_path, "class 2 is empty"):
        files.index_labels([1, 3], tmp_path)


@pytest.mark.parametrize("labels", [[0, 0], [0, 2, 1, 3], [-1, 0, 1], []])
def test_labels_that_do_not_fit_the_class_names(tmp_path: Path, labels: list[int]) -> None:
    with fails(tmp_path):
        files.require_every_class(np.array(labels, dtype=np.int64), ("a", "b", "c"), tmp_path)


def test_a_written_file_leaves_nothing_unfinished(tmp_path: Path) -> None:
    files.save_npz(tmp_path / "a.npz", x=np.arange(3))
    assert [path.name for path in tmp_path.iterdir()] == ["a.npz"]
    read = files.load_npz(tmp_path / "a.npz", {"x": ((3,), "i")})
    np.testing.assert_array_equal(read["x"], [0, 1, 2])
