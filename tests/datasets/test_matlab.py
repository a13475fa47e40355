"""The MATLAB reader: against scipy's writer, and on damaged files."""

import io
import random
import struct
import zlib

import numpy as np
import pytest
from scipy.io import savemat

from liebn.datasets import files, matlab

rng = np.random.default_rng(0)


def written(content: dict, **options: object) -> bytes:
    stream = io.BytesIO()
    savemat(stream, content, **options)
    return stream.getvalue()


COMPRESSION = pytest.mark.parametrize("compressed", [False, True])


@COMPRESSION
@pytest.mark.parametrize(
    "array",
    [
        rng.standard_normal((3, 4)),
        rng.standard_normal((2, 3, 5)).astype(np.float32),
        np.arange(6, dtype=np.int16).reshape(2, 3),
        np.array([[255]], dtype=np.uint8),
        np.arange(4, dtype=np.int64)[None],
        np.array([[True, False]]),
        np.empty((0, 0)),
    ],
    ids=lambda a: f"{a.dtype}{a.shape}",
)
def test_arrays(array: np.ndarray, compressed: bool) -> None:
    result = matlab.read(written({"temp_2": array}, do_compression=compressed))["temp_2"]
    np.testing.assert_array_equal(result, array)
    assert result.dtype == (np.uint8 if array.dtype == bool else array.dtype)


@COMPRESSION
def test_structs_cells_and_text(compressed: bool) -> None:
    cells = np.empty((2, 1), dtype=object)
    cells[0, 0], cells[1, 0] = np.eye(3), "naïve"
    content = {"top": {"inner": {"names": cells, "n": np.array([[1.0, 2.0]])}, "text": "abc"}}
    result = matlab.read(written(content, do_compression=compressed))["top"]
    assert result["text"] == "abc"
    np.testing.assert_array_equal(result["inner"]["n"], [[1, 2]])
    np.testing.assert_array_equal(result["inner"]["names"][0], np.eye(3))
    assert result["inner"]["names"][1] == "naïve"


def test_several_variables_and_an_array_of_structs() -> None:
    rows = np.array([(1.0, 2.0), (3.0, 4.0)], dtype=[("a", object), ("b", object)])
    result = matlab.read(written({"x": np.ones(2), "rows": rows}))
    assert sorted(result) == ["rows", "x"]
    assert [float(row["b"][0, 0]) for row in result["rows"]] == [2.0, 4.0]


def test_small_numbers_may_be_stored_in_fewer_bytes() -> None:
    """MATLAB stores doubles that are small integers as bytes; the class says what they are."""
    flags = struct.pack("<4I", 6, 8, 6, 0)
    shape = struct.pack("<2I2i", 5, 8, 1, 3)
    name = struct.pack("<2H4s", 1, 1, b"x")
    numbers = struct.pack("<2H4s", 2, 3, bytes([7, 8, 9]))
    body = flags + shape + name + numbers
    content = bytes(124) + b"\x00\x01IM" + struct.pack("<2I", 14, len(body)) + body
    result = matlab.read(content)["x"]
    assert result.dtype == np.float64
    np.testing.assert_array_equal(result, [[7, 8, 9]])


def test_big_endian_files() -> None:
    flags = struct.pack(">4I", 6, 8, 6, 0)
    shape = struct.pack(">2I2i", 5, 8, 2, 1)
    name = struct.pack(">2I8s", 1, 1, b"x")
    numbers = struct.pack(">2I2d", 9, 16, 0.5, -2.0)
    body = flags + shape + name + numbers
    content = bytes(124) + b"\x01\x00MI" + struct.pack(">2I", 14, len(body)) + body
    np.testing.assert_array_equal(matlab.read(content)["x"], [[0.5], [-2.0]])


@pytest.mark.parametrize(
    "content, words",
    [
        (b"", "no MATLAB 5 header"),
        (b"\x89HDF" + bytes(200), "not 7.3"),
        (written({"x": 1j * np.eye(2)}), "not a plain real one"),
        (written({"x": np.eye(2)})[:-8], "reaches beyond"),
    ],
    ids=["empty", "hdf5", "complex", "truncated"],
)
def test_what_cannot_be_read_is_refused(content: bytes, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        matlab.read(content)


def test_an_element_that_inflates_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matlab, "LARGEST", 1000)
    packed = zlib.compress(bytes(100_000))
    content = bytes(124) + b"\x00\x01IM" + struct.pack("<2I", 15, len(packed)) + packed
    with pytest.raises(ValueError, match="truncated or too large"):
        matlab.read(content)


SEEDS = {
    "plain": written({"a": np.eye(4), "c": {"t": "text", "u": np.ones((2, 2))}}),
    "deflated": written({"a": np.eye(4)}, do_compression=True),
}


@pytest.mark.parametrize("kind", SEEDS)
def test_damaged_files_are_read_or_refused_but_never_crash(kind: str) -> None:
    """Flipped bytes, two thousand times: nothing but the errors that `files` turns into a line."""
    draw, good, refused = random.Random(0), SEEDS[kind], 0
    for _ in range(2000):
        bad = bytearray(good)
        for _ in range(draw.randint(1, 3)):
            bad[draw.randrange(len(bad))] = draw.randrange(256)
        try:
            matlab.read(bytes(bad))
        except files.BROKEN:
            refused += 1
    assert refused > 200
