"""A reader of MATLAB files (format 5, versions 5 to 7.2) that a damaged file cannot crash.

scipy's reader looks up type numbers of the file in tables without checking them, so that a flipped
byte can end the process. This one reads what datasets hold, real arrays, text, cells and structs,
and raises ValueError on everything else.

A file is a header of 128 bytes and then elements. An element is a tag, which gives type and size,
and its data, padded to 8 bytes; up to four bytes of data fit into the tag itself. A variable is an
element of type MATRIX, whose own elements are flags, dimensions, name and content, or such an
element deflated.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

HEADER = 128
MATRIX, COMPRESSED = 14, 15
CELL, STRUCT, CHAR = 1, 2, 4
COMPLEX_FLAG = 0x0800
# Types of stored numbers, and classes of arrays in memory, as numpy spells them.
INTEGERS = ("i1", "u1", "i2", "u2", "i4", "u4")
STORED = dict(enumerate(INTEGERS, start=1)) | {7: "f4", 9: "f8", 12: "i8", 13: "u8"}
CLASSES = {6: "f8", 7: "f4"} | dict(enumerate((*INTEGERS, "i8", "u8"), start=8))
# How text is stored; MATLAB's own 16-bit characters come as type 4.
ENCODINGS = {1: "latin-1", 2: "latin-1", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}
# No variable of a dataset inflates to more; a file that claims to is refused.
LARGEST = 1 << 30


def _elements(data: memoryview, order: str) -> Iterator[tuple[int, memoryview]]:
    """Split data into elements; yield the type and the data of each."""
    at = 0
    while at < len(data):
        if len(data) - at < 8:
            raise ValueError("an element without a whole tag")
        kind, size = struct.unpack_from(f"{order}2I", data, at)
        start, after = at + 8, at + 8 + size
        if kind >> 16:
            kind, size, start = kind & 0xFFFF, kind >> 16, at + 4
            after = at + 8
        elif kind != COMPRESSED:
            after += -size % 8
        if start + size > min(len(data), after):
            raise ValueError("an element reaches beyond its end")
        yield kind, data[start : start + size]
        at = after


def _numbers(kind: int, data: memoryview, order: str) -> NDArray[Any]:
    if kind not in STORED:
        raise ValueError(f"type {kind} where numbers were expected")
    return np.frombuffer(data, dtype=f"{order}{STORED[kind]}")


def _integers(kind: int, data: memoryview, order: str) -> list[int]:
    numbers = _numbers(kind, data, order)
    if numbers.dtype.kind == "f" or not numbers.size:
        raise ValueError("no integers where some were expected")
    return [int(number) for number in numbers]


def _text(kind: int, data: memoryview, order: str) -> str:
    if kind not in ENCODINGS:
        raise ValueError(f"type {kind} where text was expected")
    encoding = ENCODINGS[kind]
    if encoding in ("utf-16", "utf-32"):
        encoding += "-le" if order == "<" else "-be"
    return bytes(data).decode(encoding)


def _structs(parts: list[tuple[int, memoryview]], count: int, order: str) -> Any:
    """Return a dict, or a list of them where the struct array has not exactly one entry."""
    if len(parts) < 2:
        raise ValueError("a struct without field names")
    width, names = _integers(*parts[0], order)[0], bytes(parts[1][1])
    if width <= 0:
        raise ValueError("field names of no length")
    fields = [
        names[i : i + width].split(b"\0")[0].decode("latin-1") for i in range(0, len(names), width)
    ]
    values = [_value(part, order)[1] for part in parts[2:]]
    if len(values) != count * len(fields):
        raise ValueError(f"{len(values)} values for {count} structs of {len(fields)} fields")
    rows = [values[i * len(fields) : (i + 1) * len(fields)] for i in range(count)]
    dicts = [dict(zip(fields, row, strict=True)) for row in rows]
    return dicts[0] if count == 1 else dicts


def _value(element: tuple[int, memoryview], order: str) -> tuple[str, Any]:
    """Return the name and the value of a MATRIX element."""
    kind, data = element
    if kind != MATRIX:
        raise ValueError(f"type {kind} where a variable was expected")
    if not data:
        return "", np.empty((0, 0))
    parts = list(_elements(data, order))
    if len(parts) < 3:
        raise ValueError("a variable without flags, dimensions and name")
    flags, shape = _integers(*parts[0], order)[0], _integers(*parts[1], order)
    name = bytes(parts[2][1]).decode("latin-1")
    of_class, content, count = flags & 0xFF, parts[3:], math.prod(shape)
    if min(shape) < 0:
        raise ValueError(f"dimensions {shape}")
    if of_class == STRUCT:
        return name, _structs(content, count, order)
    if of_class == CELL:
        if len(content) != count:
            raise ValueError(f"{len(content)} cells where {count} were expected")
        return name, [_value(part, order)[1] for part in content]
    if of_class == CHAR:
        return name, "".join(_text(*part, order) for part in content)
    if of_class not in CLASSES or flags & COMPLEX_FLAG or len(content) != 1:
        raise ValueError(f"an array of class {of_class} that is not a plain real one")
    array = _numbers(*content[0], order)
    if array.size != count:
        raise ValueError(f"{array.size} numbers for dimensions {shape}")
    return name, array.astype(CLASSES[of_class]).reshape(shape, order="F")


def _inflated(data: memoryview, order: str) -> tuple[int, memoryview]:
    """Return the one element inside a COMPRESSED element."""
    stream = zlib.decompressobj()
    content = stream.decompress(data, LARGEST)
    if not stream.eof:
        raise ValueError("a compressed variable that is truncated or too large")
    (element,) = _elements(memoryview(content), order)
    return element


def read(content: bytes) -> dict[str, Any]:
    """Return the variables of a MATLAB file.

    Args:
        content: the whole file.

    Returns:
        For each name its value: an array of numbers; a string; for a cell array the list of its
        cells, column by column; for a struct a dict (a list of dicts for an array of structs).

    Raises:
        ValueError: the file is damaged or holds something else; RecursionError and zlib.error too.
    """
    if len(content) < HEADER or content[126:128] not in (b"IM", b"MI"):
        raise ValueError("no MATLAB 5 header; save it with version 7 or earlier, not 7.3")
    order = "<" if content[126:128] == b"IM" else ">"
    variables = {}
    for kind, data in _elements(memoryview(content)[HEADER:], order):
        element = _inflated(data, order) if kind == COMPRESSED else (kind, data)
        name, value = _value(element, order)
        variables[name] = value
    return variables
