"""`liebn bench`: speed, accuracy and memory, beside the peers."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

import torch

from benchmarks.plan import DTYPES, PARTS, Plan, Shape, quick


class BenchmarkError(Exception):
    """What the user can put right."""


EXPECTED: tuple[type[Exception], ...] = (BenchmarkError,)
NEEDED = ("matplotlib", "psutil", "rich", "spd_learn")

DESCRIPTION = """\
Measure the layers beside spd_learn's and beside what no layer can pass: one batched
eigendecomposition, Cholesky factorisation and product of the same shape.

In every round each layer takes one step, in a new order, and ratios are formed round by round, so
that a slow spell of the machine cancels. One thread; processor time.
"""
EPILOG = f"""\
parts:
  speed      SPD layers, forward + backward in training and forward in evaluation
  rotations  SO(3) on large batches, beside the usual formulas
  growth     cost against n and against batch size, with a plot
  accuracy   distance of the output mean from B, error of the output variance
  memory     peak memory of a step, and its eigendecompositions
  networks   seconds per epoch of SPDNet, beside the paper's
  processes  throughput of two processes over that of one
  profile    where the time of a step goes

written to --out:
  tables.md     what is printed
  results.json  every time of every round, machine and versions
  growth.svg    the plot
  profile.txt   the profile

examples:
  --quick                                  tiny sizes, in seconds, to see that all works
  --parts speed accuracy --dtype float64   two of {len(PARTS)} parts in one dtype
  --shapes 30x20 256x30 --rounds 60        other sizes, more rounds
"""


def _shape(text: str) -> Shape:
    batch, cross, n = text.partition("x")
    if not (cross and batch.isdecimal() and n.isdecimal() and int(batch) > 1 and int(n) > 1):
        raise argparse.ArgumentTypeError(
            f"expected BATCHxN with both at least 2, such as 30x20, got {text!r}"
        )
    return int(batch), int(n)


def _rounds(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, got {text!r}")
    return int(text)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add all options to a parser, and what it runs."""
    full = Plan()
    shapes = " ".join(f"{b}x{n}" for b, n in full.shapes)
    parser.add_argument("--quick", action="store_true", help="tiny sizes; figures mean nothing")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("results/benchmarks"),
        metavar="DIR",
        help="where to write (results/benchmarks)",
    )
    parser.add_argument("--dtype", choices=DTYPES, help="only this one; both by default")
    parser.add_argument(
        "--shapes",
        type=_shape,
        nargs="+",
        metavar="BATCHxN",
        help=f"of the matrices in part speed ({shapes})",
    )
    parser.add_argument(
        "--rounds",
        type=_rounds,
        metavar="K",
        help=f"in part speed; a quarter in heavier parts ({full.rounds})",
    )
    parser.add_argument(
        "--parts", nargs="+", choices=PARTS, metavar="PART", help="only these parts"
    )
    parser.set_defaults(run=run)


def register(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "bench",
        help="measure speed, accuracy and memory beside the peers",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_options(parser)


def plan_of(arguments: argparse.Namespace) -> Plan:
    """The plan that the options ask for."""
    plan = quick() if arguments.quick else Plan()
    given = {
        "shapes": arguments.shapes and tuple(arguments.shapes),
        "rounds": arguments.rounds,
        "dtypes": arguments.dtype and (arguments.dtype,),
        "parts": arguments.parts and tuple(p for p in PARTS if p in arguments.parts),
    }
    return replace(plan, **{name: value for name, value in given.items() if value})


Track = Callable[[str, int], Callable[[], object]]


@contextmanager
def _tracking() -> Iterator[Track]:
    """Progress on standard error: bars in a terminal, a line for each piece of work elsewhere."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    start = perf_counter()
    with Progress(
        *columns, TimeElapsedColumn(), console=console, disable=not console.is_terminal
    ) as bars:

        def track(name: str, total: int) -> Callable[[], object]:
            if not console.is_terminal:
                print(f"{perf_counter() - start:6.0f} s  {name}", file=sys.stderr, flush=True)
            task = bars.add_task(name, total=total)
            return lambda: bars.advance(task)

        yield track


@contextmanager
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def run(arguments: argparse.Namespace) -> int:
    """Measure, print the tables and write everything down."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise BenchmarkError(f"{missing[0]} is not installed: run  pip install 'liebn[bench]'")
    # The recorder of memory and operators announces its starts and stops below this level.
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")
    from benchmarks.figure import draw
    from benchmarks.report import report
    from benchmarks.run import measure

    plan, out = plan_of(arguments), arguments.out
    out.mkdir(parents=True, exist_ok=True)
    with _one_thread(), _tracking() as track:
        results = measure(plan, track)
    installed = Path(sys.argv[0]).name == "liebn"
    program = ["liebn"] if installed else ["python", "-m", "benchmarks"]
    results.machine["command"] = f"`{shlex.join([*program, *sys.argv[1:]])}`"
    text = report(results, plan)
    (out / "tables.md").write_text(text)
    (out / "results.json").write_text(json.dumps(results.record(), indent=1, ensure_ascii=False))
    if results.by_size:
        sizes = plan.growth_batch, plan.growth_size
        draw(results.by_size, results.by_batch, *sizes, out / "growth.svg")
    if results.profile:
        (out / "profile.txt").write_text(results.profile)
    print(text)
    print(f"written to {out}")
    return 0
