"""Which records may stand in one table."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Record = Mapping[str, Any]
Settings = dict[str, Any]

OF_A_RUN = ("experiment", "method", "split", "seed")
"""What tells runs of one table apart; all else of a configuration tells tables apart."""
COMMON = ("code", "simulated", "dataset", "dataset_options", "protocol", "score")
"""What all rows of a table share, whatever the methods."""


@dataclass(frozen=True)
class Variant:
    """Records that may be compared.

    Attributes:
        settings: what tells them from the other records of the experiment; empty if nothing does.
        records: in the order of methods, then of seeds, then of splits.
    """

    settings: Settings
    records: Sequence[Record]


def flat(settings: Mapping[str, Any], prefix: str = "") -> Settings:
    """Tables within tables as one, with keys such as norm.theta."""
    found: Settings = {}
    for name, value in settings.items():
        if isinstance(value, Mapping):
            found |= flat(value, f"{prefix}{name}.")
        else:
            found[prefix + name] = value
    return found


def conditions(record: Record) -> Settings:
    """All that determines the numbers of a run, apart from its method's name, split and seed."""
    own = {k: v for k, v in record["configuration"].items() if k not in OF_A_RUN}
    return flat(own) | {"code": record["code"], "simulated": record["simulated"]}


def differing(tables: Iterable[Settings]) -> list[str]:
    """The keys at which tables differ, in order."""
    tables = list(tables)
    keys = dict.fromkeys(key for table in tables for key in table)
    return sorted(key for key in keys if len({_word(table.get(key)) for table in tables}) > 1)


def variants(records: Iterable[Record], methods: Sequence[str]) -> list[Variant]:
    """The records, apart where they may not stand in one table; the largest part first.

    A sweep with fewer epochs, other data or an older version of the library leaves records in the
    same folder. Their runs have the same names, and are no more runs of the same thing.

    Args:
        records: of one experiment.
        methods: the order of their names; unknown ones come last.
    """
    rank = {method: place for place, method in enumerate(methods)}

    def order(record: Record) -> tuple[Any, ...]:
        own = record["configuration"]
        place = rank.get(own["method"], len(rank))
        return place, own["method"], own["seed"], natural(own["split"]), record["key"]

    known = sorted(records, key=order)
    keys = set(_dividing(known))
    parts: dict[str, tuple[Settings, list[Record]]] = {}
    for record in known:
        own = conditions(record)
        settings = {key: own.get(key) for key in sorted(keys)}
        parts.setdefault(_word(settings), (settings, []))[1].append(record)
    found = [Variant(settings, part) for settings, part in parts.values()]
    return sorted(found, key=lambda variant: -len(variant.records))


def _dividing(records: Sequence[Record]) -> Iterator[str]:
    for key in differing(map(conditions, records)):
        if key.partition(".")[0] in COMMON:
            yield key
    by_method: dict[str, list[Settings]] = {}
    for record in records:
        by_method.setdefault(record["configuration"]["method"], []).append(conditions(record))
    for own in by_method.values():
        yield from differing(own)


def _word(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def natural(name: str) -> tuple[Any, ...]:
    """Sorts 'session 2' before 'session 10'."""
    parts = re.split(r"(\d+)", name)
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts)
