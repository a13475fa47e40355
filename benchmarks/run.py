"""One run: all parts of a plan, in turn."""

from __future__ import annotations

from collections.abc import Callable

import torch

from benchmarks import accuracy, data, memory, networks, processes, speed
from benchmarks.breakdown import breakdown
from benchmarks.contenders import spd_layers
from benchmarks.machine import describe
from benchmarks.plan import DTYPES, Plan, Shape
from benchmarks.results import Results
from benchmarks.timing import training_step

Track = Callable[[str, int], Callable[[], object]]
"""Announces a piece of work of so many rounds; call what it returns after each."""


def measure(plan: Plan, track: Track) -> Results:
    """Measure all parts of the plan."""
    results = Results(describe())
    for part in plan.parts:
        _PARTS[part](plan, results, track)
    return results


def _speed(plan: Plan, results: Results, track: Track) -> None:
    dtypes = {name: DTYPES[name] for name in plan.dtypes}
    for batch, n in plan.shapes:
        progress = track(f"speed at ({batch}, {n})", plan.rounds + 2)
        results.spd[batch, n] = speed.matrices(batch, n, dtypes, plan.rounds, progress)


def _rotations(plan: Plan, results: Results, track: Track) -> None:
    dtypes = {name: DTYPES[name] for name in plan.dtypes}
    for batch in plan.rotations:
        progress = track(f"{batch} rotations", plan.some_rounds + 1)
        results.rotations[batch] = speed.rotations(batch, dtypes, plan.some_rounds, progress)


def _growth(plan: Plan, results: Results, track: Track) -> None:
    rounds = plan.some_rounds
    for n in plan.sizes:
        progress = track(f"growth, n = {n}", rounds + 1)
        results.by_size[n] = speed.growth(plan.growth_batch, n, rounds, progress)
    for batch in plan.batches:
        progress = track(f"growth, batch {batch}", rounds + 1)
        results.by_batch[batch] = speed.growth(batch, plan.growth_size, rounds, progress)


def _accuracy(plan: Plan, results: Results, track: Track) -> None:
    progress = track("accuracy", len(plan.dtypes) * (len(data.KINDS) + len(accuracy.RADII)))
    batch, n = plan.accuracy
    for name in plan.dtypes:
        for kind in data.KINDS:
            results.accuracy[name, kind] = accuracy.matrices(
                batch, n, DTYPES[name], kind, plan.seeds
            )
            progress()
        for kind in accuracy.RADII:
            results.rotation_accuracy[name, kind] = accuracy.rotations(
                batch, DTYPES[name], kind, plan.seeds
            )
            progress()


def _memory(plan: Plan, results: Results, track: Track) -> None:
    progress = track("memory", 1)
    results.memory = memory.footprints(*plan.memory)
    progress()


def _networks(plan: Plan, results: Results, track: Track) -> None:
    for problem in plan.problems:
        progress = track(f"networks, {problem.name}", plan.some_rounds + 1)
        results.networks[problem.name] = networks.measure(problem, plan.some_rounds, progress)


def _processes(plan: Plan, results: Results, track: Track) -> None:
    rounds = 2 * plan.some_rounds
    progress = track("processes", rounds)
    batch, n = plan.memory
    results.throughput = processes.measure(batch, n, plan.process_steps, rounds, progress)


def _profile(plan: Plan, results: Results, track: Track) -> None:
    shapes: tuple[Shape, ...] = tuple(dict.fromkeys((plan.shapes[0], plan.memory)))
    progress = track("profile", len(shapes))
    texts = []
    for batch, n in shapes:
        x = data.matrices(batch, n, torch.float64)
        steps = {
            f"{c.name} at ({batch}, {n})": training_step(
                c.make(n, torch.float64), x, torch.ones_like(x)
            )
            for c in spd_layers()
            if c.name in plan.profiled
        }
        texts.append(breakdown(steps, x.numel(), plan.repeats))
        progress()
    results.profile = "\n".join(texts)


_PARTS = {
    "speed": _speed,
    "rotations": _rotations,
    "growth": _growth,
    "accuracy": _accuracy,
    "memory": _memory,
    "networks": _networks,
    "processes": _processes,
    "profile": _profile,
}
