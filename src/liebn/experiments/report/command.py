"""`liebn report`."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from liebn.experiments.errors import ExperimentError
from liebn.experiments.protocol import packaged, read_protocol

if TYPE_CHECKING:
    from liebn.experiments.report.blocks import Page
    from liebn.experiments.report.compose import Experiment

EXPECTED = (ExperimentError,)

REPORT = """\
Write reports from the records of runs: for each experiment Markdown, with its figures beside it,
and one HTML page that needs nothing else. Nothing is trained, and no data are needed.

  liebn report                           of every experiment under results/records
  liebn report radar fpha                of these
  liebn report mine.toml                 of runs of a protocol of your own

An overview with links, index.md and index.html, is written where several are reported on.
"""


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "report",
        help="tables and figures from the records of runs",
        description=REPORT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    option = parser.add_argument
    option("names", metavar="NAME", nargs="*", help="an experiment, or a protocol file (all)")
    option("--results", metavar="DIR", type=Path, default=Path("results"),
           help="where the records are (results)")  # fmt: skip
    option("--output", metavar="DIR", type=Path, help="where the report goes (DIR/report)")
    parser.set_defaults(run=_report)


def _report(arguments: argparse.Namespace) -> int:
    # These import matplotlib, torch and scikit-learn: not before they are needed.
    from liebn.experiments.report import compose

    output = arguments.output or arguments.results / "report"
    found = list(_experiments(arguments.names, arguments.results))
    pages = [compose.report(own, str(arguments.results), str(output)) for own in found]
    if len(pages) > 1:
        pages.append(compose.overview(found))
    for page in pages:
        write(page, output)
    print(f"report: {output / f'{pages[-1].name}.html'}")
    return 0


def _experiments(names: Sequence[str], results: Path) -> Iterator[Experiment]:
    from liebn.experiments.report.compose import Experiment
    from liebn.experiments.store import Store

    folder = results / "records"
    there = sorted(path.name for path in folder.glob("*/") if any(path.glob("*.json")))
    if not there:
        raise ExperimentError(
            f"{folder}: expected records of runs, found none; make some with  "
            f"liebn reproduce radar --quick --results {results}"
        )
    for source in dict.fromkeys(names or there):
        own = Path(source).suffix == ".toml"
        name = Path(source).stem if own else source
        if name not in there:
            raise ExperimentError(
                f"no records of {name!r} under {folder}; there are: {', '.join(there)}"
            )
        protocol = read_protocol(source) if own or name in packaged() else None
        yield Experiment(name, protocol, source, list(Store(results).records(name)))


def write(page: Page, output: Path) -> None:
    """Write a page in both forms."""
    from liebn.experiments.report.html import html
    from liebn.experiments.report.markdown import FIGURES, markdown, pictures
    from liebn.experiments.report.svg import standalone

    (output / FIGURES).mkdir(parents=True, exist_ok=True)
    for panel in pictures(page.blocks):
        _replace(output / FIGURES / f"{panel.name}.svg", standalone(panel.svg))
    _replace(output / f"{page.name}.md", markdown(page))
    _replace(output / f"{page.name}.html", html(page))


def _replace(path: Path, content: str) -> None:
    """Write a file whole or not at all."""
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=path.parent, suffix=".tmp", delete=False
    ) as file:
        new = Path(file.name)
        try:
            file.write(content)
        except BaseException:
            new.unlink()
            raise
    new.chmod(0o644)
    new.replace(path)
