"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from benchmarks.contenders import (
    PLAIN_ROTATION,
    ROTATION_FLOORS,
    SPD_FLOORS,
    rotation_layers,
    spd_layers,
)
from benchmarks.data import KINDS
from benchmarks.networks import NORMS, PAPER
from benchmarks.plan import Plan
from benchmarks.results import Accuracy, Results
from benchmarks.speed import FLOOR, MODES, key
from benchmarks.targets import verdicts
from benchmarks.timing import Seconds, brief, ratio

NOTE = """\
Median and quartiles of ratios taken round by round: in every round each layer takes one step, in an
order drawn anew. One thread. Time is processor time of the process, since the machine is shared
with other work: waiting for it does not count, but what it does to caches and memory does."""

EIGH, CLONE = "one eigh", "one clone"
Columns = dict[str, Seconds]
Cell = Callable[[Seconds, str], str]


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table, the first column to the left and all others to the right."""
    lines = [header, [":--", *["--:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _milliseconds(seconds: np.ndarray) -> str:
    return f"{brief(float(np.median(seconds)) * 1e3)} ms"


def _cells(columns: Columns, step: str, base: str) -> list[str]:
    return [
        str(ratio(seconds, step, base)) if step in seconds and base in seconds else "–"
        for seconds in columns.values()
    ]


def _floors(columns: Columns, names: Iterable[str], dtype: str, base: str) -> Iterator[list[str]]:
    unit = key(base, dtype, FLOOR)
    yield [f"*{base}*", *(_milliseconds(seconds[unit]) for seconds in columns.values())]
    for name in names:
        if name != base:
            yield [f"*{name}*", *_cells(columns, key(name, dtype, FLOOR), unit)]


def _speed(
    columns: Columns, layers: Sequence[str], floors: Iterable[str], base: str, dtypes: Iterable[str]
) -> Iterator[str]:
    for dtype in dtypes:
        for mode in MODES:
            what = "forward and backward" if mode == "training" else "forward"
            yield f"#### {dtype}, {mode} ({what}): time as a multiple of {base}"
            rows = list(_floors(columns, floors, dtype, base))
            unit = key(base, dtype, FLOOR)
            rows += [[n, *_cells(columns, key(n, dtype, mode), unit)] for n in layers]
            yield table([dtype, *columns], rows)


def _faster(
    columns: Columns, pairs: Sequence[tuple[str, str]], dtypes: Iterable[str]
) -> Iterator[str]:
    for dtype in dtypes:
        for mode in MODES:
            yield f"#### {dtype}, {mode}: how many times as fast as the peer"
            rows = [
                [name, peer, *_cells(columns, key(peer, dtype, mode), key(name, dtype, mode))]
                for name, peer in pairs
            ]
            yield table([dtype, "peer", *columns], rows)


def _single_over_double(columns: Columns, layers: Sequence[str]) -> Iterator[str]:
    yield "#### float32 over float64: time, training and evaluation"
    rows = [
        [
            f"{name}, {mode}",
            *_cells(columns, key(name, "float32", mode), key(name, "float64", mode)),
        ]
        for name in layers
        for mode in MODES
    ]
    yield table(["layer", *columns], rows)


def _accuracy(accuracy: Accuracy, layers: Sequence[str]) -> str:
    header = ["layer", *(f"{kind}, {dtype}" for dtype, kind in accuracy)]

    def cell(mean: float, variance: float) -> str:
        return "fails" if np.isnan(mean) else f"{mean:.0e} / {variance:.0e}"

    rows = [[name, *(cell(*found[name]) for found in accuracy.values())] for name in layers]
    return table(header, rows)


def _growth(columns: dict[int, Seconds], what: str) -> str:
    steps = list(next(iter(columns.values())))
    rows = [
        [step.split(",")[0], *(_milliseconds(s[step]) for s in columns.values())] for step in steps
    ]
    return table([what, *map(str, columns)], rows)


def _networks(results: Results) -> Iterator[str]:
    published = {problem.name: problem.published for problem in PAPER}
    for name, seconds in results.networks.items():
        rows = []
        for norm, (paper, _) in NORMS.items():
            cited = published.get(name, {})
            theirs = f"{cited[paper] / cited['none']:.2f}" if paper in cited else "–"
            rows.append(
                [
                    norm,
                    str(ratio(seconds, norm, "none")),
                    f"{np.median(seconds[norm]):.3f} s",
                    theirs,
                ]
            )
        yield f"#### {name}"
        header = ["normalization", "epoch, over none", "epoch", "over none, *published*"]
        yield table(header, rows)


def _mark(met: bool) -> str:
    return "met" if met else "**missed**"


def report(results: Results, plan: Plan) -> str:
    """All tables of a run."""
    parts = ["### Machine", table(["", ""], results.machine.items()), NOTE]
    found = list(verdicts(results))
    if found:
        parts += [
            "### Targets",
            f"{sum(v.met for v in found)} of {len(found)} met.",
            table(
                ["target", "at", "wanted", "measured", ""],
                [[*v[:4], _mark(v.met)] for v in found],
            ),
        ]
    layers = [c.name for c in spd_layers()]
    ours = [c.name for c in spd_layers() if c.peer]
    if results.spd:
        columns = {f"({b}, {n})": s for (b, n), s in results.spd.items()}
        pairs = [(c.name, c.peer) for c in spd_layers() if c.peer]
        parts.append("### Positive definite matrices, (batch, n)")
        parts += _faster(columns, pairs, plan.dtypes)
        parts += _speed(columns, layers, SPD_FLOORS, EIGH, plan.dtypes)
        if len(plan.dtypes) > 1:
            parts += _single_over_double(columns, ours)
    if results.rotations:
        columns = {f"{b} rotations": s for b, s in results.rotations.items()}
        names = [c.name for c in rotation_layers()]
        pairs = [(n, PLAIN_ROTATION) for n in names if n != PLAIN_ROTATION]
        parts.append("### Rotations of space")
        parts += _faster(columns, pairs, plan.dtypes)
        parts += _speed(columns, names, ROTATION_FLOORS, CLONE, plan.dtypes)
    if results.accuracy:
        parts += [
            f"### Accuracy, at (batch, n) = {plan.accuracy}",
            "Distance of the output mean from B / relative error of the output variance, in "
            f"training; medians of {plan.seeds} batches.",
            _accuracy(results.accuracy, layers),
            _accuracy(results.rotation_accuracy, [c.name for c in rotation_layers()]),
        ]
    if results.memory:
        parts += [
            f"### Memory and decompositions of a training step, at (batch, n) = {plan.memory}",
            "Memory in copies of the input, float64, as torch's allocator records it: everything "
            "handed out during forward and backward and not yet taken back, outputs, gradients "
            "and workspace included; the input itself not. Saved are the eigenvectors and "
            "eigenvalues that wait for the backward pass. Eighs are batched eigendecompositions of "
            "the whole step, by kind of batch.",
            table(
                [
                    "layer",
                    *(f"eighs, {kind}" for kind in KINDS),
                    "peak",
                    "of it saved",
                    "beyond",
                    "peak inside",
                ],
                [
                    [
                        n,
                        *map(str, f.eighs.values()),
                        *map(brief, (f.peak, f.saved, f.peak - f.saved)),
                        f"`{f.where}`",
                    ]
                    for n, f in results.memory.items()
                ],
            ),
        ]
    if results.by_size:
        parts += [
            "### Growth: a training step in float64",
            _growth(results.by_size, f"n, at batch {plan.growth_batch}"),
            _growth(results.by_batch, f"batch, at n = {plan.growth_size}"),
        ]
    if results.networks:
        parts += [
            "### SPDNet: seconds per training epoch",
            "Random data of the size of the paper's training sets, batches of 30, Riemannian "
            "AMSGrad, float64. The last column is the paper's, measured by its authors on another "
            "machine with the published code.",
            *_networks(results),
        ]
    if results.throughput is not None:
        parts += [
            "### Two processes of one thread on two cores",
            "Work per second of both together over that of one alone: by wall-clock time "
            f"{results.throughput.wall}; by processor time {results.throughput.processor}. The "
            "first counts waiting for other work on the machine, the second does not.",
        ]
    return "\n\n".join(parts) + "\n"
