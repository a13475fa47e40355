"""The table of an experiment, from its records."""

from __future__ import annotations

import statistics
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from liebn.experiments.protocol import Protocol

WIDTH = 100
"""Of a caption, in characters."""


@dataclass(frozen=True)
class Row:
    """One method.

    Attributes:
        method: its name.
        runs: how many finished.
        others: how many diverged or failed.
        mean: of the scores, in per cent; None without runs.
        std: their sample standard deviation; None with fewer than two runs.
        best: the largest.
        seconds: the mean training time of an epoch.
        relative: that time over the baseline's.
        published: mean, std, max and seconds as published, for these data.
    """

    method: str
    runs: int
    others: int
    mean: float | None
    std: float | None
    best: float | None
    seconds: float | None
    relative: float | None
    published: Mapping[str, float]


def rows(protocol: Protocol, records: Iterable[Mapping[str, Any]]) -> list[Row]:
    """One row for each method of the protocol that has a record.

    Published figures are for measured data: beside simulated ones there are none.
    """
    records = list(records)
    published = {} if any(record["simulated"] for record in records) else protocol.published
    by_method: dict[str, list[Mapping[str, Any]]] = {m.name: [] for m in protocol.methods}
    for record in records:
        by_method.setdefault(record["configuration"]["method"], []).append(record)
    seconds = {name: _seconds(own) for name, own in by_method.items()}
    base = seconds.get(protocol.baseline)
    found = []
    for name, own in by_method.items():
        if not own:
            continue
        scores = [100 * record["score"] for record in own if record["status"] == "finished"]
        time = seconds[name]
        found.append(
            Row(
                method=name,
                runs=len(scores),
                others=len(own) - len(scores),
                mean=statistics.fmean(scores) if scores else None,
                std=statistics.stdev(scores) if len(scores) > 1 else None,
                best=max(scores, default=None),
                seconds=time,
                relative=time / base if time and base else None,
                published=published.get(name, {}),
            )
        )
    return found


def _seconds(records: Sequence[Mapping[str, Any]]) -> float | None:
    times = [record["fit_seconds"] for record in records if record["status"] == "finished"]
    return statistics.fmean(times) if times else None


def text(protocol: Protocol, records: Sequence[Mapping[str, Any]]) -> str:
    """The table in plain text, with its caption."""
    found = rows(protocol, records)
    published = any(row.published for row in found)
    relative = f"time/{protocol.baseline}" if protocol.baseline else "time"
    head = ["method", f"{protocol.score.replace('_', ' ')} %", "max", "runs", "s/epoch", relative]
    if published:
        head += ["published", "max", "s/epoch"]
    lines = [head]
    for row in found:
        count = str(row.runs) + (f" (+{row.others} not finished)" if row.others else "")
        cells = [row.method, _spread(row.mean, row.std), _number(row.best), count]
        cells += [_number(row.seconds, 3), _number(row.relative)]
        if published:
            own = row.published
            cells += [_spread(own.get("mean"), own.get("std"))]
            cells += [_number(own.get("max")), _number(own.get("seconds"))]
        lines.append(cells)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    caption = [protocol.title]
    if any(record["simulated"] for record in records):
        caption.append("Simulated data: these numbers are no measurement of the real set.")
    table = ["  ".join(c.ljust(w) for c, w in zip(cells, widths, strict=True)) for cells in lines]
    foot = protocol.note.splitlines()
    if published:
        foot.append(f"Published: {protocol.published['source']}.")
    wrapped = [line for part in foot for line in textwrap.wrap(part, WIDTH)]
    return "\n".join([*caption, "", *(line.rstrip() for line in table), "", *wrapped]).rstrip()


def _number(value: float | None, digits: int = 2) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _spread(mean: float | None, std: float | None) -> str:
    return _number(mean) if std is None else f"{_number(mean)} ± {_number(std)}"
