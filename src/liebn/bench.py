"""`liebn bench`: the benchmarks, which come with the source and not with the package."""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SOURCE = (ROOT / "benchmarks" / "command.py").is_file()

if SOURCE:
    sys.path.append(str(ROOT))
    benchmarks = importlib.import_module("benchmarks.command")

EXPECTED: tuple[type[Exception], ...] = benchmarks.EXPECTED if SOURCE else ()


def register(commands: Any) -> None:
    """Add the command to the parser."""
    if SOURCE:
        benchmarks.register(commands)
        return
    parser = commands.add_parser("bench", help="compare with other libraries (source only)")
    parser.set_defaults(run=_absent)


def _absent(_: argparse.Namespace) -> int:
    print("liebn: the benchmarks come with the source: clone it, run make bench", file=sys.stderr)
    return 1
