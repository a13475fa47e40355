"""The names under which datasets are known, and how to load one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from . import fpha, g3d, hdm05, hdm05_11, hinss2021, msr_action3d, radar, ssvep_exo
from .card import Card
from .errors import DatasetError, MissingDataError
from .record import Dataset
from .root import data_root

CARDS: dict[str, Card] = {
    module.CARD.name: module.CARD
    for module in (radar, hdm05, fpha, hinss2021, g3d, hdm05_11, ssvep_exo, msr_action3d)
}


def card(name: str) -> Card:
    """Return the card of a dataset.

    Raises:
        DatasetError: there is no dataset of that name.
    """
    if name not in CARDS:
        raise DatasetError(f"unknown dataset {name!r}; expected one of: {', '.join(CARDS)}")
    return CARDS[name]


def load(name: str, root: str | Path | None = None, **options: Any) -> Dataset:
    """Load a dataset.

    Args:
        name: one of `CARDS`.
        root: the data root; default: the variable ``LIEBN_DATA``, then the per-user cache.
        **options: what the loader of that dataset takes.

    Raises:
        MissingDataError: its files are not under the root.
        DatasetError: a file cannot be used; the message names it.
    """
    entry = card(name)
    base = data_root(root)
    folder = entry.find(base)
    if folder is None and not entry.embedded:
        raise MissingDataError(
            f"{name}: expected {' or '.join(entry.patterns)} in {base / entry.folders[0]}, "
            f"found none; liebn data fetch {name} says how to get it"
        )
    return entry.load(folder, **options)
