"""Reading files nobody vouches for. Nothing here can execute what a file holds.

Every failure is a `DatasetError` of one line that starts with the path.
"""

from __future__ import annotations

import os
import re
import tokenize
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import matlab
from .errors import DatasetError

# One entry per axis: a length, None for any, or a letter for a length that all arrays of a file
# with that letter share. A kind is a numpy dtype kind ("f", "i", "b", ...).
Shape = tuple[int | str | None, ...]
# What numpy raises on a damaged file, on an impossible size, or on an encrypted member.
BROKEN = (
    *(OSError, ValueError, EOFError, LookupError, RuntimeError, MemoryError, OverflowError),
    *(SyntaxError, tokenize.TokenError, zipfile.BadZipFile, zlib.error),
)


def one_line(error: BaseException) -> str:
    """Return the first line of an error's message, or its type where it has none."""
    return next(iter(str(error).splitlines()), "") or type(error).__name__


def _fits(got: tuple[int, ...], want: Shape) -> bool:
    return len(got) == len(want) and all(
        not isinstance(w, int) or w == g for w, g in zip(want, got, strict=True)
    )


def _in_words(shape: Shape) -> str:
    return "(" + ", ".join("any" if n is None else str(n) for n in shape) + ")"


def check_array(array: Any, where: str, *shapes: Shape, kinds: str) -> NDArray[Any]:
    """Return ``array`` if its dtype kind, its shape (one of ``shapes``) and values are usable.

    Raises:
        DatasetError: a dtype, a shape or a value (NaN or infinity) that was not expected.
    """
    if not isinstance(array, np.ndarray):
        raise DatasetError(f"{where}: expected an array, got {type(array).__name__}")
    if array.dtype.kind not in kinds:
        raise DatasetError(f"{where}: expected a dtype of kind {kinds!r}, got {array.dtype}")
    if not any(_fits(array.shape, shape) for shape in shapes):
        wanted = " or ".join(map(_in_words, shapes))
        raise DatasetError(f"{where}: expected shape {wanted}, got {array.shape}")
    if array.dtype.kind in "fc" and not np.isfinite(array).all():
        bad = int((~np.isfinite(array)).sum())
        raise DatasetError(f"{where}: expected finite numbers, got {bad} NaN or infinite values")
    return array


def load_npy(path: Path, *shapes: Shape, kinds: str = "f") -> NDArray[Any]:
    """Read one ``.npy`` file of a known shape (or one of several) and kind, refusing pickles."""
    try:
        with path.open("rb") as stream:  # numpy itself leaves a damaged file open
            array = np.load(stream, allow_pickle=False)
            single = isinstance(array, np.ndarray)
    except BROKEN as error:
        raise DatasetError(f"{path}: not a readable .npy file ({one_line(error)})") from error
    if not single:
        raise DatasetError(f"{path}: expected one array, got an archive of several")
    return check_array(array, str(path), *shapes, kinds=kinds)


def load_npz(path: Path, fields: Mapping[str, tuple[Shape, str]]) -> dict[str, NDArray[Any]]:
    """Read named arrays of an ``.npz`` file, refusing pickles.

    Args:
        path: the file.
        fields: for each wanted array its shape and dtype kinds.
    """
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            absent = [name for name in fields if name not in archive.files]
            arrays = {name: archive[name] for name in fields if name not in absent}
    except (*BROKEN, AttributeError, TypeError) as error:
        raise DatasetError(f"{path}: not a readable .npz file ({one_line(error)})") from error
    if absent:
        raise DatasetError(f"{path}: expected the arrays {', '.join(fields)}; missing: {absent}")
    lengths: dict[str, int] = {}
    for name, (shape, kinds) in fields.items():
        check_array(arrays[name], f"{path}[{name}]", shape, kinds=kinds)
        for letter, length in zip(shape, arrays[name].shape, strict=True):
            if isinstance(letter, str) and lengths.setdefault(letter, length) != length:
                raise DatasetError(
                    f"{path}[{name}]: expected {lengths[letter]} entries, as in the other arrays, "
                    f"got {length}"
                )
    return arrays


def save_npz(path: Path, **arrays: NDArray[Any]) -> None:
    """Write an ``.npz`` file that appears whole or not at all, whatever else writes it too."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with unfinished.open("wb") as stream, zipfile.ZipFile(stream, "w") as archive:
            for name, array in arrays.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, array, allow_pickle=False)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def load_mat(path: Path) -> dict[str, Any]:
    """Read the variables of a MATLAB file (up to version 7.2); see `matlab.read`."""
    try:
        return matlab.read(path.read_bytes())
    except BROKEN as error:
        raise DatasetError(f"{path}: not a readable .mat file ({one_line(error)})") from error


def load_mat_matrix(path: Path, shape: Shape) -> NDArray[Any]:
    """Read the only variable of a MATLAB file as a real matrix, whatever its name."""
    content = load_mat(path)
    if len(content) != 1:
        raise DatasetError(f"{path}: expected one variable, got {sorted(content) or 'none'}")
    return check_array(next(iter(content.values())), str(path), shape, kinds="f")


def label_from_name(path: Path) -> int:
    """Return the integer after the last underscore of a file's name (``take_12_3.npy`` -> 3)."""
    match = re.fullmatch(r".*_(\d+)", path.stem)
    if match is None:
        raise DatasetError(f"{path}: no label; expected a name ending in _<integer>{path.suffix}")
    return int(match.group(1))


def files_in(folder: Path, pattern: str) -> list[Path]:
    """Return the files of a folder that match, sorted by name.

    Raises:
        DatasetError: there is none.
    """
    found = sorted(folder.glob(pattern))
    if not found:
        raise DatasetError(f"{folder}: expected files {pattern}, found none")
    return found


def inside(folder: Path, name: str, listed_in: Path) -> Path:
    """Return the path of a file that an index names, refusing one that leads out of the folder."""
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise DatasetError(f"{listed_in}: names {name!r}, which is outside its folder")
    return path


def index_labels(labels: Sequence[int], where: Path) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Turn integer labels into indices from 0 and class names.

    Raises:
        DatasetError: a number between the smallest and the largest label has no sample.
    """
    names, indices = np.unique(np.asarray(labels), return_inverse=True)
    gaps = sorted(set(range(int(names[0]), int(names[-1]) + 1)) - {int(name) for name in names})
    if gaps:
        raise DatasetError(
            f"{where}: class {gaps[0]} is empty; expected samples of every class "
            f"from {names[0]} to {names[-1]}"
        )
    return indices.astype(np.int64), tuple(str(name) for name in names)


def require_every_class(
    labels: NDArray[np.int64], classes: tuple[str, ...], where: Path
) -> NDArray[np.int64]:
    """Return ``labels`` if each of the named classes has a sample and no label is out of range."""
    if len(labels) == 0 or labels.min() < 0 or labels.max() >= len(classes):
        raise DatasetError(f"{where}: expected labels from 0 to {len(classes) - 1}")
    counts = np.bincount(labels, minlength=len(classes))
    if (counts == 0).any():
        empty = classes[int(np.argmin(counts))]
        raise DatasetError(f"{where}: class {empty!r} is empty; expected a sample of every class")
    return labels.astype(np.int64)
