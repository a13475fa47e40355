"""The command `liebn`.

Every group of subcommands lives in a module of its own with two names:

``register(commands)``
    adds a parser and sets its default ``run``: a function from the parsed arguments to the exit
    status.
``EXPECTED``
    the exceptions that are a user's to put right; their message is printed without a traceback.

To add a group, list its module in `GROUPS`. Exit status: 0 for success, 1 if the work failed, 2 for
wrong usage.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from types import ModuleType

GROUPS = (
    "liebn.groups.command",
    "liebn.datasets.command",
    "liebn.experiments.command",
    "liebn.experiments.report.command",
    "liebn.verify.command",
    "liebn.bench",
)
INTERRUPTED = 130


def build_parser(groups: Sequence[ModuleType]) -> argparse.ArgumentParser:
    """Return the parser with all groups registered."""
    parser = argparse.ArgumentParser(
        prog="liebn",
        description="Batch normalization on Lie groups.",
        epilog="liebn COMMAND --help explains a command.",
    )
    commands = parser.add_subparsers(dest="group", required=True, metavar="COMMAND")
    for group in groups:
        group.register(commands)
    return parser


def _fail(message: object) -> int:
    print(f"liebn: {message}", file=sys.stderr)
    return 1


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    try:
        groups = [importlib.import_module(name) for name in GROUPS]
    except ModuleNotFoundError as error:
        return _fail(f"{error.name} is not installed: run  pip install 'liebn[experiments]'")
    arguments = build_parser(groups).parse_args(argv)
    expected = tuple(error for group in groups for error in group.EXPECTED)
    try:
        status: int = arguments.run(arguments)
    except BrokenPipeError:  # the reader of our output has seen enough, as in `liebn ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (*expected, OSError) as error:
        return _fail(error)
    except KeyboardInterrupt:
        _fail("interrupted")
        return INTERRUPTED
    return status


if __name__ == "__main__":
    sys.exit(main())
