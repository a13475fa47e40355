"""Protocols: one TOML file for each table, read and checked."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from liebn.experiments.errors import ExperimentError
from liebn.experiments.values import (
    at_least,
    of_kind,
    one_line,
    plain,
    require_known,
    require_one_of,
)

Table = Mapping[str, Any]

SCORES = ("accuracy", "balanced_accuracy")
REQUIRED = ("title", "dataset", "protocol", "network", "methods")
TOP: dict[str, tuple[type, Any]] = {
    "title": (str, None),
    "dataset": (str, None),
    "dataset_options": (dict, {}),
    "protocol": (str, None),
    "seeds": (int, 1),
    "splits": (int, 0),
    "score": (str, "accuracy"),
    "baseline": (str, ""),
    "note": (str, ""),
    "network": (dict, None),
    "training": (dict, {}),
    "quick": (dict, {}),
    "published": (dict, {}),
}
"""Every key but `methods`: its kind and its default."""
QUICK = ("seeds", "splits", "dataset_options")
"""What `quick` can replace, beside the training."""
RESULT = ("mean", "std", "max", "seconds")
"""What a published row can have."""


@dataclass(frozen=True)
class Method:
    """A row of the table.

    Attributes:
        name: the row's name.
        norm: the kind of normalization layer.
        norm_options: those given.
        refit: whether the statistics of a new domain are refitted before the test; None where the
            layer is not domain-specific.
        network: options that replace those of the protocol.
        training: likewise.
    """

    name: str
    norm: str
    norm_options: Table = field(default_factory=dict)
    refit: bool | None = None
    network: Table = field(default_factory=dict)
    training: Table = field(default_factory=dict)


@dataclass(frozen=True)
class Protocol:
    """What one table compares, and how.

    Attributes:
        name: of the experiment.
        title: a heading.
        dataset: its name, and its options.
        dataset_options: for its loader.
        protocol: how the data set is divided.
        seeds: how many; they are 0, 1, ...
        splits: only the first of them; 0 for all.
        score: which score the table shows.
        baseline: the method that fit times are compared with; "" for none.
        note: a sentence for the caption.
        network: its name and options.
        training: how it is trained.
        quick: what a quick look replaces.
        methods: the rows.
        published: `source`, and published rows by method.
    """

    name: str
    title: str
    dataset: str
    dataset_options: Table
    protocol: str
    seeds: int
    splits: int
    score: str
    baseline: str
    note: str
    network: Table
    training: Table
    quick: Table
    methods: tuple[Method, ...]
    published: Table


def packaged() -> dict[str, Path]:
    """The protocols that come with the package, by name."""
    folder = Path(str(resources.files("liebn.experiments") / "protocols"))
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def read_protocol(name: str) -> Protocol:
    """Read a protocol of the package by its name, or a file by its path."""
    known = packaged()
    path = Path(name)
    if name in known:
        path = known[name]
    elif path.suffix != ".toml":
        listed = ", ".join(known)
        raise ExperimentError(
            f"unknown experiment {name!r}; expected one of: {listed}; or a file that ends in .toml"
        )
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ExperimentError(f"{path}: expected a protocol file, found none") from None
    except (ValueError, RecursionError) as error:
        raise ExperimentError(f"{path}: expected TOML, got an error in it: {error}") from None
    return parse_protocol(path.stem, content)


def parse_protocol(name: str, content: Table) -> Protocol:
    """Check the content of a protocol file, as far as that needs neither data nor networks."""
    require_known(content, [*TOP, "methods"], name)
    for key in REQUIRED:
        if key not in content:
            raise ExperimentError(f"{name}: expected the key {key!r}, found none")
    values = {
        key: of_kind(content.get(key, default), kind, f"{name}, {key}")
        for key, (kind, default) in TOP.items()
    }
    one_line(values["title"], f"{name}, title")
    _check_extent(values, name)
    _check_quick(values["quick"], f"{name}, quick")
    require_one_of(values["score"], SCORES, f"{name}, score")
    methods = _methods(name, content["methods"])
    names = [method.name for method in methods]
    if values["baseline"]:
        require_one_of(values["baseline"], names, f"{name}, baseline")
    _check_published(values["published"], names, f"{name}, published")
    return Protocol(name=name, methods=methods, **values)


def _check_extent(values: Table, where: str) -> None:
    """What says how many runs there are, and on what."""
    for key, least in (("seeds", 1), ("splits", 0)):
        at_least(values[key], least, f"{where}, {key}")
    for key, value in values["dataset_options"].items():
        plain(value, f"{where}, dataset_options, {key}")


def _check_quick(quick: Table, where: str) -> None:
    own = {
        key: of_kind(quick.get(key, TOP[key][1]), TOP[key][0], f"{where}, {key}") for key in QUICK
    }
    _check_extent(own, where)


def _methods(name: str, rows: Any) -> tuple[Method, ...]:
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise ExperimentError(f"{name}: expected at least one table [[methods]], got {rows!r}")
    methods = []
    for number, row in enumerate(rows, start=1):
        options = dict(row)
        where = f"{name}, method {row.get('name', number)}"
        own: dict[str, Any] = {}
        for key in ("name", "norm"):
            if key not in options:
                raise ExperimentError(f"{where}: expected the key {key!r}, found none")
            own[key] = of_kind(options.pop(key), str, f"{where}, {key}")
        one_line(own["name"], f"{name}, method {number}, name")
        for key, kind in (("refit", bool), ("network", dict), ("training", dict)):
            if key in options:
                own[key] = of_kind(options.pop(key), kind, f"{where}, {key}")
        methods.append(Method(**own, norm_options=options))
    names = [method.name for method in methods]
    for twice in names:
        if names.count(twice) > 1:
            raise ExperimentError(f"{name}: expected different names, got two methods {twice!r}")
    return tuple(methods)


def _check_published(published: Table, methods: list[str], where: str) -> None:
    if not published:
        return
    require_known(published, ["source", *methods], where)
    if "source" not in published:
        raise ExperimentError(f"{where}: expected the key 'source', found none")
    of_kind(published["source"], str, f"{where}, source")
    for method in methods:
        row = of_kind(published.get(method, {}), dict, f"{where}, {method}")
        require_known(row, RESULT, f"{where}, {method}")
        for key, value in row.items():
            of_kind(value, float, f"{where}, {method}, {key}")
