"""What the layers are meant to reach, and whether they did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from benchmarks.contenders import peer_of, spd_layers
from benchmarks.results import Results
from benchmarks.speed import FLOOR, key
from benchmarks.timing import brief, ratio

SMALL, LARGE = (30, 20), (256, 30)
PEER_SHAPES = (SMALL, (50, 20), (30, 30), (30, 33), LARGE)
MOST_COPIES = 6.0
MOST_CLONES = 50.0
MANY_ROTATIONS = 1_000_000
LEAST_THROUGHPUT = 1.8
CLOSER = 10.0
LESS_EXACT, EXACT = 2.0, 1e-10
"""A layer is less exact than its peer where its mean is so many times as far off, and this far."""


@dataclass(frozen=True)
class Target:
    """Of one layer, in float64, forward and backward.

    Attributes:
        layer: its name.
        peer: the layer of spd_learn it is compared with.
        faster: how many times as fast as the peer it should be, at every one of `PEER_SHAPES`.
        eighs: how many times one batched eigendecomposition it may take, at `SMALL` and `LARGE`.
    """

    layer: str
    peer: str
    faster: float
    eighs: tuple[float, float]


TARGETS = (
    Target("AIM reference", peer_of("aim", 1.0), 2.0, (4.8, 3.1)),
    Target("AIM fast", peer_of("aim", 1.0), 1.8, (5.2, 3.5)),
    Target("AIM exact", peer_of("aim", 1.0), 0.65, (13.0, 13.0)),
    Target("AIM θ=0.5 fast", peer_of("aim", 0.5), 1.5, (8.0, 6.0)),
    Target("LEM exact", peer_of("lem", 1.0), 1.2, (3.9, 2.8)),
    Target("LCM exact", peer_of("lcm", 1.0), 1.8, (1.0, 0.55)),
    Target("LCM θ=0.5 exact", peer_of("lcm", 0.5), 1.3, (4.8, 3.5)),
)


class Verdict(NamedTuple):
    """One target as measured."""

    what: str
    where: str
    target: str
    measured: str
    met: bool


def verdicts(results: Results) -> Iterator[Verdict]:
    """Every target whose figures were measured."""
    for target in TARGETS:
        layer, peer = (key(name, "float64", "training") for name in (target.layer, target.peer))
        for shape in PEER_SHAPES:
            if layer in results.spd.get(shape, {}):
                found = ratio(results.spd[shape], peer, layer)
                yield Verdict(
                    f"{target.layer}, times as fast as {target.peer}",
                    f"{shape}",
                    f"≥ {target.faster:g}",
                    str(found),
                    found.median >= target.faster,
                )
        for shape, most in zip((SMALL, LARGE), target.eighs, strict=True):
            if layer in results.spd.get(shape, {}):
                found = ratio(results.spd[shape], layer, key("one eigh", "float64", FLOOR))
                yield Verdict(
                    f"{target.layer}, in eighs",
                    f"{shape}",
                    f"≤ {most:g}",
                    str(found),
                    found.median <= most,
                )
    yield from _of_rotations(results)
    yield from _of_accuracy(results)
    yield from _of_memory(results)
    yield from _of_dtypes(results)
    if results.throughput is not None:
        wall = results.throughput.wall
        yield Verdict(
            "throughput of two processes over that of one",
            "two cores",
            f"≥ {LEAST_THROUGHPUT}",
            str(wall),
            wall.median >= LEAST_THROUGHPUT,
        )


def _of_rotations(results: Results) -> Iterator[Verdict]:
    seconds = results.rotations.get(MANY_ROTATIONS, {})
    for mode in ("exact", "fast", "reference"):
        layer = key(f"SO(3) {mode}", "float64", "training")
        if layer in seconds:
            found = ratio(seconds, layer, key("one clone", "float64", FLOOR))
            yield Verdict(
                f"SO(3) {mode}, in clones of the input",
                f"{MANY_ROTATIONS} rotations",
                f"≤ {MOST_CLONES:g}",
                str(found),
                found.median <= MOST_CLONES,
            )


def _of_accuracy(results: Results) -> Iterator[Verdict]:
    for (dtype, kind), table in results.accuracy.items():
        if dtype != "float64":
            continue
        ours, theirs = table["AIM fast"].mean, table[peer_of("aim", 1.0)].mean
        yield Verdict(
            "AIM fast, times as close to the mean as spd_learn Lie AIM",
            f"{kind} batch",
            f"≥ {CLOSER:g}",
            f"{theirs / ours:.3g}",
            theirs / ours >= CLOSER,
        )
        worse = [
            f"{c.name} ({table[c.name].mean / table[c.peer].mean:.2g} times as far)"
            for c in spd_layers()
            if c.peer and not table[c.name].mean <= max(LESS_EXACT * table[c.peer].mean, EXACT)
        ]
        yield Verdict(
            "no layer farther from the mean than its peer",
            f"{kind} batch",
            "none",
            ", ".join(worse) or "none",
            not worse,
        )


def _of_memory(results: Results) -> Iterator[Verdict]:
    for target in TARGETS:
        if target.layer in results.memory:
            found = results.memory[target.layer]
            beyond = found.peak - found.saved
            yield Verdict(
                f"{target.layer}, memory in copies of the input beyond the saved decomposition",
                "see below",
                f"≤ {MOST_COPIES:g}",
                brief(beyond),
                beyond <= MOST_COPIES,
            )


def _of_dtypes(results: Results) -> Iterator[Verdict]:
    """Counted over layers and modes: slower where the lower quartile of the ratio is above 1."""
    for shape, seconds in results.spd.items():
        pairs = [name for name in seconds if ", float32, " in name and FLOOR not in name]
        pairs = [n for n in pairs if not n.startswith("spd_learn")]
        if not pairs or pairs[0].replace("float32", "float64") not in seconds:
            continue
        found = {n: ratio(seconds, n, n.replace("float32", "float64")) for n in pairs}
        slower = [f"{n.replace(', float32', '')}: {r}" for n, r in found.items() if r.low > 1]
        median = float(np.median([r.median for r in found.values()]))
        yield Verdict(
            "float32 over float64, layers slower beyond the spread",
            f"{shape}",
            "none",
            "; ".join(slower) or f"none (median ratio {brief(median)})",
            not slower,
        )
