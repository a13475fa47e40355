"""`liebn groups`: the table of spaces."""

from __future__ import annotations

import argparse
from typing import Any

from liebn.groups.catalog import catalog

EXPECTED: tuple[type[Exception], ...] = ()


def register(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "groups",
        help="list the spaces that the layers normalize",
        description="List the spaces: their points, their operation, and the model in which layers "
        "compute. In Python, groups.catalog[NAME](SIZE) makes one.",
    )
    parser.add_argument("--size", type=_size, default=3, metavar="N", help="size of the space (3)")
    parser.set_defaults(run=run)


def _size(text: str) -> int:
    if not text.isdecimal() or int(text) < 2:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 2, got {text!r}")
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    """Print the table, one space to a line."""
    rows = [("name", "points", "operation", "one-to-one within", "model")]
    for name, factory in catalog.items():
        space = factory(arguments.size)
        model = str(space.model) if not list(space.model.children()) else type(space.model).__name__
        rows.append(
            (
                name,
                "×".join(map(str, space.point_shape)) or "scalar",
                "group" if space.associative else "gyrogroup",
                f"{space.injectivity_radius:.4g}",
                model,
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip())
    return 0
