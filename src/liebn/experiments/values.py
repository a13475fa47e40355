"""Checks of values that users write, and their one form, on which the keys of records rest."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from liebn.experiments.errors import ExperimentError

WORDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a finite number",
    str: "a text",
    list: "a list of whole numbers",
    dict: "a table",
}


def require_known(given: Iterable[str], known: Iterable[str], where: str) -> None:
    """Refuse names that are not known."""
    known = list(known)
    for name in given:
        if name not in known:
            listed = ", ".join(known) or "none"
            raise ExperimentError(f"{where}: unknown key {name!r}; known are: {listed}")


def require_one_of(value: Any, known: Iterable[str], where: str) -> None:
    """Refuse a value that is none of those known."""
    known = list(known)
    if value not in known:
        raise ExperimentError(f"{where}: expected one of {', '.join(known)}, got {value!r}")


def of_kind(value: Any, kind: type, where: str) -> Any:
    """The value in its one form, a whole number where a number is expected as that number."""
    if kind is float:
        if type(value) in (int, float) and abs(value) <= sys.float_info.max:
            return float(value)
    elif kind is list:
        if isinstance(value, list | tuple) and value and all(type(item) is int for item in value):
            return list(value)
    elif type(value) is kind:
        return value
    raise ExperimentError(f"{where}: expected {WORDS[kind]}, got {value!r}")


def plain(value: Any, where: str) -> Any:
    """The value, which must be a text, a truth value or a finite number."""
    kind = type(value)
    if kind not in (str, bool, int, float):
        raise ExperimentError(f"{where}: expected a text, a number, true or false, got {value!r}")
    return of_kind(value, kind, where)


def one_line(text: str, where: str) -> str:
    """The text, which must be one that a line of a table can show."""
    if not text.strip() or not text.isprintable():
        raise ExperimentError(f"{where}: expected one line of text, got {text!r}")
    return text


def at_least(value: Any, least: int, where: str) -> Any:
    """The value, which must not be smaller."""
    if not value >= least:
        raise ExperimentError(f"{where}: expected at least {least}, got {value}")
    return value


def canonical(value: Mapping[str, Any]) -> str:
    """The one way to write a table as JSON."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
