"""The report of one experiment, and the page that lists several."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
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


def experiment(protocol: Protocol, records: Sequence[Record], results: str, output: str) -> Page:
    """The report of one experiment.

    Args:
        protocol: of the experiment.
        records: at least one.
        results: the folder of results, for the commands.
        output: the folder of the report, likewise.
    """
    parts = _parts(protocol, records)
    blocks: list[Block] = [Text(protocol.note.strip())] if protocol.note else []
    for place, variant in enumerate(parts):
        stem = protocol.name if place == 0 else f"{protocol.name}-{place + 1}"
        own = list(_sections(protocol, variant, stem))
        if len(parts) > 1:
            said = ", ".join(f"{key} {facts.word(v)}" for key, v in variant.settings.items())
            own = [Section(f"Runs with {said}", own)]
        blocks += own
    blocks += [layer()]
    if any(list(figures.parameters(protocol, variant.records)) for variant in parts):
        blocks += [morphing()]
    blocks += [_again(protocol, parts, results, output)]
    return Page(protocol.name, protocol.title, blocks)


def _parts(protocol: Protocol, records: Sequence[Record]) -> list[Variant]:
    return variants(records, [method.name for method in protocol.methods])


def _sections(protocol: Protocol, variant: Variant, stem: str) -> Iterator[Section]:
    records = variant.records
    mark = "Simulated data. " if any(record["simulated"] for record in records) else ""
    yield Section("Results", list(_results(protocol, records)))
    found = list(_comparisons(protocol, records, stem, mark))
    if found:
        yield Section("Paired comparisons", [Text(OF_PAIRS), *found])
    yield Section("Figures", list(_figures(protocol, records, stem, mark)))
    yield Section("Settings", list(_settings(records)))
    yield Section("Where the numbers come from", [Items(list(_origin(records)))])


def _results(protocol: Protocol, records: Sequence[Record]) -> Iterator[Block]:
    remarks = facts.remarks(protocol, records)
    if remarks:
        yield Items(remarks)
    yield tables.results(protocol, records)
    failed = tables.failures(records)
    if failed is not None:
        yield failed
    by_split = tables.by_split(records)
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
    yield Figure(
        f"{mark}Fit time of a training epoch. A hollow diamond is a published ratio, measured on "
        "another machine, with other code.",
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
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


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
    for samples in _distinct(record["samples"] for record in records):
        yield f"Samples: {samples['train']} train, {samples['test']} test."
    for note in dict.fromkeys(note for record in records for note in record["notes"]):
        yield f"Data: {note}."


def _distinct(tables: Iterator[Mapping[str, object]]) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for table in tables:
        if dict(table) not in found:
            found.append(dict(table))
    return found


def _again(protocol: Protocol, parts: Sequence[Variant], results: str, output: str) -> Section:
    blocks: list[Block] = []
    for variant in parts:
        lines = facts.commands(protocol, variant, results)
        if lines:
            blocks.append(Code("\n".join(lines)))
        else:
            changed = ", ".join(facts.departures(protocol, variant.records))
            blocks.append(Text(
                "Runs were made with a protocol of the same name that is not the one at hand; "
                f"it differs in: {changed}."
            ))  # fmt: skip
    words = ["liebn", "report", protocol.name, "--results", results, "--output", output]
    blocks += [
        Text("The runs are made by the above, which goes on where it stopped, and this page by:"),
        Code(shlex.join(words)),
    ]
    return Section("To make it again", blocks)


def overview(experiments: Sequence[tuple[Protocol, Sequence[Record]]]) -> Page:
    """The page that lists all reports."""
    columns = [Column("experiment", number=False), Column("what", number=False)]
    columns += [Column("data", number=False), *map(Column, ("methods", "runs", "not finished"))]
    columns += [Column("best mean", number=False), Column("training, h")]
    lines: list[list[Cell]] = []
    for protocol, records in experiments:
        for place, variant in enumerate(_parts(protocol, records)):
            own = variant.records
            shown = rows(protocol, own)
            said = ", ".join(f"{key} {facts.word(v)}" for key, v in variant.settings.items())
            best = max(
                (r for r in shown if r.mean is not None), key=lambda r: r.mean or 0.0, default=None
            )
            lines.append([
                Link(protocol.name, protocol.name),
                protocol.title if place == 0 and not said else f"{protocol.title} ({said})",
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
