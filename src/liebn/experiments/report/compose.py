"""The report of one experiment, and the page that lists several."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from liebn.experiments.protocol import Protocol
from liebn.experiments.report import facts, figures, tables
from liebn.experiments.report.batches import layer, morphing
from liebn.experiments.report.blocks import (
    Block,
    Cell,
    Code,
    Column,
    Figure,
    Items,
    Link,
    Page,
    Panel,
    Section,
    Table,
    Text,
)
from liebn.experiments.report.pairs import comparisons
from liebn.experiments.report.svg import svg
from liebn.experiments.report.variants import Record, Variant, flat, variants
from liebn.experiments.single import NAME as SINGLE
from liebn.experiments.table import rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

INDEX = "index"
OF_PAIRS = (
    "Differences of the score in points of per cent, mean ± sample standard deviation over the "
    "pairs. The p values are two-sided. Those of the paired t-test and of Wilcoxon's signed-rank "
    "test are not corrected for the number of comparisons; the last column is the latter, "
    "corrected by Holm for the comparisons of its table. Where training parts overlap, pairs are "
    "not independent, and p values come out too small."
)


@dataclass(frozen=True)
class Experiment:
    """What a report is about.

    Attributes:
        name: of the folder of its records.
        protocol: if its file is at hand.
        source: what `liebn reproduce` and `liebn report` know it by.
        records: at least one.
    """

    name: str
    protocol: Protocol | None
    source: str
    records: Sequence[Record]

    @property
    def title(self) -> str:
        """A heading."""
        return self.name if self.protocol is None else self.protocol.title

    def parts(self) -> list[tuple[Protocol, Variant]]:
        """The records that may stand in one table, and what they are to be held against."""
        methods = [] if self.protocol is None else [m.name for m in self.protocol.methods]
        return [
            (self.protocol or facts.protocol_of(self.name, variant.records), variant)
            for variant in variants(self.records, methods)
        ]


def report(experiment: Experiment, results: str, output: str) -> Page:
    """The report of one experiment.

    Args:
        experiment: what it is about.
        results: the folder of results, for the commands.
        output: the folder of the report, likewise.
    """
    parts = experiment.parts()
    note = parts[0][0].note.strip()
    blocks: list[Block] = [Text(note)] if note else []
    for place, (protocol, variant) in enumerate(parts):
        stem = _slug(experiment.name) + (f"-{place + 1}" if place else "")
        own = list(_sections(protocol, variant, stem))
        blocks += [Section(f"Runs with {_said(variant)}", own)] if len(parts) > 1 else own
    blocks.append(layer())
    if any(list(figures.parameters(protocol, variant.records)) for protocol, variant in parts):
        blocks.append(morphing())
    blocks.append(_again(experiment, parts, results, output))
    return Page(experiment.name, experiment.title, blocks)


def _said(variant: Variant) -> str:
    return ", ".join(f"{key} {facts.word(value)}" for key, value in variant.settings.items())


def _sections(protocol: Protocol, variant: Variant, stem: str) -> Iterator[Section]:
    records = variant.records
    mark = "Simulated data. " if any(record["simulated"] for record in records) else ""
    yield Section("Results", list(_results(protocol, records, mark)))
    found = list(_comparisons(protocol, records, stem, mark))
    if found:
        yield Section("Paired comparisons", [Text(OF_PAIRS), *found])
    yield Section("Figures", list(_figures(protocol, records, stem, mark)))
    yield Section("Settings", list(_settings(records)))
    yield Section("Where the numbers come from", [Items(list(_origin(records)))])


def _results(protocol: Protocol, records: Sequence[Record], mark: str) -> Iterator[Block]:
    remarks = facts.remarks(protocol, records)
    if remarks:
        yield Items(remarks)
    yield tables.results(protocol, records)
    failed = tables.failures(records, mark)
    if failed is not None:
        yield failed
    by_split = tables.by_split(records, mark)
    if by_split is not None:
        yield by_split


def _comparisons(
    protocol: Protocol, records: Sequence[Record], stem: str, mark: str
) -> Iterator[Block]:
    for question, found in comparisons(records, protocol.baseline).items():
        yield tables.paired(question, found, mark)
        drawing = figures.differences(found)
        alt = f"The differences of every pair, {question}; the table above has their means."
        panel = _panel(f"{stem}-{_slug(question)}", drawing, alt)
        caption = f"{mark}Every pair as a dot, the mean as a diamond; {question}."
        yield Figure(caption, [panel])


def _figures(
    protocol: Protocol, records: Sequence[Record], stem: str, mark: str
) -> Iterator[Figure]:
    drawn = [figures.curves(protocol, records, key) for key in ("train_loss", "test_score")]
    alts = ("Training loss against the epoch, a line for each method.",
            "Test score against the epoch, a line for each method.")  # fmt: skip
    yield Figure(
        f"{mark}Training curves, mean over the finished runs; the band is one standard deviation. "
        "The test part is looked at in every tenth epoch and after the last, and decides nothing.",
        [_panel(f"{stem}-{name}", drawing, alt)
         for name, drawing, alt in zip(("loss", "score"), drawn, alts, strict=True)],
    )  # fmt: skip
    for parameter, drawing in figures.parameters(protocol, records):
        letter = figures.GREEK[parameter]
        yield Figure(
            f"{mark}Score against {letter}, mean and standard deviation over the finished runs. A "
            f"line joins methods that differ in {letter} alone.",
            [_panel(f"{stem}-{parameter}", drawing, f"Test score against {letter}.")],
        )
    alt = "Bars of the fit time of an epoch, one for each method; the table has the figures."
    caption = f"{mark}Fit time of a training epoch."
    if any(row.published for row in rows(protocol, records)):
        caption += " A hollow diamond is a published ratio, of other code on another machine."
    yield Figure(
        caption,
        [_panel(f"{stem}-time", figures.times(protocol, records), alt)],
    )
    panels = [
        _panel(f"{stem}-confusion-{place}", drawing, f"Confusion matrix of {method}.")
        for place, (method, drawing) in enumerate(figures.confusions(protocol, records), start=1)
    ]
    if panels:
        caption = (
            f"{mark}Confusion matrices, summed over the finished runs, as shares of the true class."
        )
        yield Figure(caption, panels, least=15)


def _panel(name: str, drawing: Drawing, alt: str) -> Panel:
    return Panel(name, svg(drawing), alt)


def _slug(text: str) -> str:
    return re.sub(r"[^\w]+", "-", text.lower(), flags=re.ASCII).strip("-")


def _settings(records: Sequence[Record]) -> Iterator[Block]:
    differing, shared = tables.settings(records)
    yield differing
    columns = [Column("setting", number=False), Column("value", number=False)]
    lines = [[key, value] for key, value in shared.items()]
    yield Table("What all methods share.", columns, lines)


def _origin(records: Sequence[Record]) -> Iterator[str]:
    for record in _distinct(flat(r["environment"]) for r in records):
        said = ", ".join(f"{key} {facts.word(value)}" for key, value in record.items())
        yield f"Versions and machine: {said}."
    sources = dict.fromkeys(record["source"] for record in records)
    yield f"Digest of the source: {', '.join(sources)}."
    total = facts.seconds(records)
    yield (
        f"Training took {total:.0f} s of one processor in all ({total / 3600:.2f} h), without the "
        "time for tests and loading."
    )
    dates = sorted(record["finished_at"] for record in records)
    yield f"Runs finished from {dates[0]} to {dates[-1]}."
    parts = (_range(record["samples"][part] for record in records) for part in ("train", "test"))
    yield "Samples of a run: {} train, {} test.".format(*parts)
    for note in dict.fromkeys(note for record in records for note in record["notes"]):
        yield f"Data: {note}."


def _range(counts: Iterable[int]) -> str:
    known = sorted(set(counts))
    return f"{known[0]} to {known[-1]}" if len(known) > 1 else str(known[0])


def _distinct(tables: Iterator[Mapping[str, object]]) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for table in tables:
        if dict(table) not in found:
            found.append(dict(table))
    return found


def _again(
    experiment: Experiment, parts: Sequence[tuple[Protocol, Variant]], results: str, output: str
) -> Section:
    blocks: list[Block] = []
    for protocol, variant in parts:
        if experiment.name == SINGLE:
            lines = facts.single_commands(variant, results)
        elif experiment.protocol is None:
            lines = []
        else:
            lines = facts.commands(protocol, experiment.source, variant, results)
        if lines:
            blocks.append(Code("\n".join(lines)))
        else:
            blocks.append(Text(
                f"The protocol of {len(variant.records)} runs is not at hand, or not as it was: "
                "give liebn reproduce the file they were made with."
            ))  # fmt: skip
    words = ["liebn", "report", experiment.source, "--results", results, "--output", output]
    blocks += [
        Text("So the runs are made, or go on where they were cut off; and this page is made by:"),
        Code(shlex.join(words)),
    ]
    return Section("To make it again", blocks)


def overview(experiments: Sequence[Experiment]) -> Page:
    """The page that lists all reports."""
    columns = [Column("experiment", number=False), Column("what", number=False)]
    columns += [Column("data", number=False), *map(Column, ("methods", "runs", "not finished"))]
    columns += [Column("best mean", number=False), Column("training, h")]
    lines: list[list[Cell]] = []
    for experiment in experiments:
        for protocol, variant in experiment.parts():
            own = variant.records
            shown = rows(protocol, own)
            scored = [row for row in shown if row.mean is not None]
            best = max(scored, key=lambda row: row.mean or 0.0, default=None)
            said = f" ({_said(variant)})" if variant.settings else ""
            lines.append([
                Link(experiment.name, experiment.name),
                experiment.title + said,
                "simulated" if any(record["simulated"] for record in own) else "real",
                str(len(shown)),
                str(len(own)),
                str(len(facts.unfinished(own))),
                f"{best.method}: {tables.spread(best.mean, best.std)} %" if best else "-",
                f"{facts.seconds(own) / 3600:.2f}",
            ])  # fmt: skip
    caption = (
        "All experiments with records. The best mean is that of the method with the largest mean "
        "test score, chosen after the fact; each page has all methods."
    )
    return Page(INDEX, "Experiments", [Table(caption, columns, lines)])
