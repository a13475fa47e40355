"""`liebn data list`, `fetch` and `check`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .check import check
from .errors import DatasetError
from .fetch import fetch
from .registry import CARDS, card, load
from .root import VARIABLE, data_root
from .spectrogram import draw_spectrograms

EXPECTED = (DatasetError,)

DESCRIPTION = f"""\
Datasets lie under one root: the option --data, else {VARIABLE}, else your cache folder.

  liebn data list              what there is, and whether it is on this machine
  liebn data fetch NAME        get it, or read the steps to get it by hand
  liebn data check NAME        load it and report what is in it
"""


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the group `data` to the command line."""
    group = commands.add_parser(
        "data",
        help="list, fetch and check datasets",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = group.add_subparsers(dest="verb", required=True, metavar="COMMAND")
    root = argparse.ArgumentParser(add_help=False)
    root.add_argument("--data", metavar="DIR", type=Path, help="the data root")
    name = argparse.ArgumentParser(add_help=False)
    name.add_argument("name", metavar="NAME", choices=CARDS, help=", ".join(CARDS))

    verb = verbs.add_parser("list", parents=[root], help="what there is, and whether it was found")
    verb.set_defaults(run=_list)

    verb = verbs.add_parser(
        "fetch",
        parents=[root, name],
        help="get a dataset, or read how to",
        description="Download a dataset (with progress, checksum, and resuming a broken download), "
        "simulate it, or print the steps where a person has to accept a licence.",
    )
    verb.add_argument("--url", help="an archive or .npz to use instead of the public address")
    verb.add_argument("--sha256", metavar="HEX", type=_sha256, help="its checksum")
    verb.set_defaults(run=_fetch)

    verb = verbs.add_parser(
        "check",
        parents=[root, name],
        help="load a dataset and report what is in it",
        description="Counts, shapes, classes, smallest eigenvalue, condition, asymmetry, zero and "
        "duplicate samples, leakage between splits, and what the loader changed. "
        "Exit status: 0 if the data can be used, 1 if not.",
    )
    verb.add_argument(
        "--spectrogram",
        metavar="FILE",
        type=Path,
        help="also write a picture of one simulated signal per class (radar only)",
    )
    verb.set_defaults(run=_check, parser=verb)


def _sha256(text: str) -> str:
    if len(text) != 64 or not set(text.lower()) <= set("0123456789abcdef"):
        raise argparse.ArgumentTypeError("expected 64 hexadecimal digits")
    return text.lower()


def _list(arguments: argparse.Namespace) -> int:
    root = data_root(arguments.data)
    print(f"data root: {root}")
    for entry in CARDS.values():
        found = entry.find(root)
        state = f"found at {found}" if found else "simulated" if entry.embedded else "not found"
        print(f"\n{entry.name}  [{state}]")
        print(f"  {entry.title}")
        print(f"  {entry.points}; {entry.size}")
        print(f"  licence: {entry.licence}")
        print(f"  cite: {entry.citation}")
        print(f"  get it: liebn data fetch {entry.name}")
    return 0


def _fetch(arguments: argparse.Namespace) -> int:
    root = data_root(arguments.data)
    progress = sys.stderr.isatty()
    print(fetch(card(arguments.name), root, arguments.url, arguments.sha256, progress))
    return 0


def _check(arguments: argparse.Namespace) -> int:
    if arguments.spectrogram is not None:
        if arguments.name != "radar":
            arguments.parser.error(f"--spectrogram is for radar, not for {arguments.name}")
        draw_spectrograms(arguments.spectrogram)
    findings = check(load(arguments.name, arguments.data))
    print("\n".join(findings.lines))
    if findings.faults:
        shown = "; ".join(findings.faults[:3])
        raise DatasetError(f"{arguments.name} cannot be used: {shown}")
    print("usable")
    return 0
