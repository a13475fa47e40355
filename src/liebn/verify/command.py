"""`liebn verify`: the paper's claims, measured."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.progress import track

from liebn.groups import catalog
from liebn.verify.claims import CHECKS, verify
from liebn.verify.row import Check, Subject
from liebn.verify.table import page, summary, text

EXPECTED: tuple[type[Exception], ...] = ()
SIZE = 3


def register(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "verify",
        help="test the paper's propositions numerically",
        description="Measure every claim of the paper that can be tested numerically, on every "
        "space it applies to, at size 3. Exit status 1 if a value is not as allowed.",
        epilog="verdicts: holds; holds with a correction, which the row gives; does not hold as "
        "written, and the row is a counterexample; FAILED, which none should.",
    )
    parser.add_argument(
        "--spaces",
        nargs="+",
        choices=list(catalog),
        default=list(catalog),
        metavar="NAME",
        help="only these; all by default; `liebn groups` lists them",
    )
    parser.add_argument("--seed", type=_seed, default=0, metavar="K", help="of all points (0)")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table there too")
    parser.set_defaults(run=run)


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 0, got {text!r}")
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    """Print the table; the exit status."""
    if arguments.markdown and not arguments.markdown.parent.is_dir():
        raise NotADirectoryError(
            f"{arguments.markdown.parent}: expected a folder, got none of that name; make it, or "
            "write elsewhere"
        )
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # one result on every machine
    try:
        spaces = {name: catalog[name](SIZE).double() for name in arguments.spaces}
        rows = verify(spaces, arguments.seed, CHECKS, _watch)
    finally:
        torch.set_num_threads(threads)
    without_law = [name for name, space in spaces.items() if Subject(name, space).law() is None]
    print(text(rows))
    print(summary(rows, without_law))
    if arguments.markdown:
        _write(arguments.markdown, page(rows, without_law, _as_given(arguments)))
    return 0 if all(row.as_expected for row in rows) else 1


def _watch(tasks: list[tuple[Check, Subject]]) -> Iterable[tuple[Check, Subject]]:
    """A bar on a terminal, else nothing."""
    console = Console(stderr=True)
    quiet = not console.is_terminal
    return track(tasks, "measuring", console=console, transient=True, disable=quiet)


def _as_given(arguments: argparse.Namespace) -> list[str]:
    """The command line that repeats a run."""
    given = [] if arguments.spaces == list(catalog) else ["--spaces", *arguments.spaces]
    given += ["--seed", str(arguments.seed)] if arguments.seed else []
    return [*given, "--markdown", str(arguments.markdown)]


def _write(path: Path, text: str) -> None:
    """Whole or not at all."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
