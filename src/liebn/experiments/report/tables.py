"""The tables of a report."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence

from liebn.experiments.norms import KINDS
from liebn.experiments.protocol import Protocol
from liebn.experiments.report.blocks import Column, Table
from liebn.experiments.report.facts import unfinished, word
from liebn.experiments.report.pairs import Comparison, first_of_each, scores_of
from liebn.experiments.report.variants import Record, conditions, differing, natural
from liebn.experiments.table import Row, rows

NAME = Column("method", number=False)


def results(protocol: Protocol, records: Sequence[Record]) -> Table:
    """The table of the experiment, beside what was published."""
    score = protocol.score.replace("_", " ")
    base = protocol.baseline
    unit = f" relative to {base}" if base else ""
    columns = [NAME, *map(Column, (f"{score}, %", "max, %", "runs", "not finished"))]
    columns += [Column("fit time, s per epoch")] + ([Column(f"fit time{unit}")] if base else [])
    found = rows(protocol, records)
    published = any(row.published for row in found)
    if published:
        names = [f"published {score}, %", "published max, %"]
        names += [f"published fit time{unit}"] if base else []
        columns += [Column(name, published=True) for name in names]
    lines = []
    for row in found:
        cells = [row.method, spread(row.mean, row.std), number(row.best), str(row.runs)]
        time = spread(row.seconds, _spread_of_times(records, row.method), 3)
        cells += [str(row.others), time, *([number(row.relative)] if base else [])]
        if published:
            own = row.published
            cells += [spread(own.get("mean"), own.get("std")), number(own.get("max"))]
            cells += [number(published_relative(protocol, row))] if base else []
        lines.append(cells)
    return Table(_caption(protocol, records, published), columns, lines)


def _spread_of_times(records: Sequence[Record], method: str) -> float | None:
    times = [
        record["fit_seconds"]
        for record in records
        if record["configuration"]["method"] == method and record["status"] == "finished"
    ]
    return statistics.stdev(times) if len(times) > 1 else None


def _caption(protocol: Protocol, records: Sequence[Record], published: bool) -> str:
    parts = [f"{protocol.title}: mean ± sample standard deviation over the finished runs."]
    if any(record["simulated"] for record in records):
        parts.insert(0, "Simulated data.")
    if published:
        source = protocol.published["source"]
        parts.append(f"Columns that begin with “published” are no measurements of ours: {source}.")
    parts.append(
        "The fit time is the processor time of a training epoch on one thread, over the last ten "
        "epochs."
    )
    return " ".join(parts)


def published_relative(protocol: Protocol, row: Row) -> float | None:
    """The published fit time over that of the baseline."""
    own = row.published.get("seconds")
    base = protocol.published.get(protocol.baseline, {}).get("seconds")
    return own / base if own and base else None


def failures(records: Sequence[Record], mark: str) -> Table | None:
    """The runs that did not finish, and why."""
    names = ("method", "split", "seed", "what happened", "reason")
    lines = [
        [*(str(r["configuration"][k]) for k in names[:3]), r["status"], r["reason"] or "-"]
        for r in unfinished(records)
    ]
    if not lines:
        return None
    counts = Counter(record["status"] for record in unfinished(records))
    said = " and ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    caption = f"{mark}Runs without a score: {said}. They count in no mean."
    return Table(caption, [Column(name, number=False) for name in names], lines)


def paired(question: str, found: Sequence[Comparison], mark: str) -> Table:
    """The comparisons of one question."""
    names = ("pairs", "mean difference, points", "better", "equal", "worse")
    tests = ("p, paired t", "p, signed rank", "p, signed rank, Holm")
    columns = [Column("comparison", number=False), *map(Column, names + tests)]
    lines = []
    for own in found:
        values = [round(d, 9) for d in own.differences.values()]
        cells = [
            f"{own.method} − {own.other}",
            str(len(values)),
            f"{own.mean:+.2f} ± {own.std:.2f}",
        ]
        cells += [str(sum(map(test, values))) for test in (_above, _equal, _below)]
        lines.append([*cells, *map(p_value, (own.t, own.wilcoxon, own.holm))])
    pair = "a split, with the mean over its seeds" if found[0].splits else "a seed of one split"
    caption = f"{mark}Methods {question}, pair by pair. A pair is {pair}."
    return Table(caption, columns, lines)


def _above(value: float) -> bool:
    return value > 0


def _equal(value: float) -> bool:
    return value == 0


def _below(value: float) -> bool:
    return value < 0


def by_split(records: Sequence[Record], mark: str) -> Table | None:
    """The score of every split, where there are several."""
    scores = scores_of(records)
    splits = sorted({split for own in scores.values() for split, _ in own}, key=natural)
    if len(splits) < 2:
        return None
    lines = []
    for split in splits:
        cells = [split]
        for own in scores.values():
            here = [score for (where, _), score in own.items() if where == split]
            cells.append(number(sum(here) / len(here)) if here else "-")
        lines.append(cells)
    columns = [Column("split", number=False), *map(Column, scores)]
    return Table(f"{mark}The score in per cent by split, mean over the seeds.", columns, lines)


def settings(records: Sequence[Record]) -> tuple[Table, Mapping[str, str]]:
    """The settings in which methods differ, as a table; and those that all share."""
    own = {name: conditions(record) for name, record in first_of_each(records).items()}
    keys = [key for key in differing(own.values()) if key != "norm.kind"]
    columns = [NAME, Column("normalization", number=False)]
    columns += [Column(key.removeprefix("norm."), number=False) for key in keys]
    lines = []
    for name, values in own.items():
        kind = KINDS[values["network"]][values["norm.kind"]].help
        cells = [word(values[key]) if key in values else "-" for key in keys]
        lines.append([name, kind, *cells])
    common = next(iter(own.values()))
    shared = {k: word(v) for k, v in common.items() if k not in keys and k != "norm.kind"}
    return Table("In what the methods differ.", columns, lines), shared


def number(value: float | None, digits: int = 2) -> str:
    """A figure of a table."""
    return "-" if value is None else f"{value:.{digits}f}"


def spread(mean: float | None, std: float | None, digits: int = 2) -> str:
    """A mean and its standard deviation, where there is one."""
    said = number(mean, digits)
    return said if std is None else f"{said} ± {number(std, digits)}"


def p_value(p: float | None) -> str:
    """To two digits."""
    return "-" if p is None else "< 0.0001" if p < 1e-4 else f"{p:.2g}"
