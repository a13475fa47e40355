"""Where the time of a training step goes: by kind of work, by operator, and by function."""

from __future__ import annotations

import cProfile
import io
import pstats
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from time import process_time

import numpy as np
from torch.profiler import ProfilerActivity, profile

from benchmarks.timing import Step, settle_heap

PRODUCTS = {"aten::mm", "aten::bmm", "aten::addmm", "aten::baddbmm", "aten::dot", "aten::mv"}
FACTORISATIONS = ("eigh", "svd", "cholesky", "solve", "qr", "lu_")


def _kind(name: str, numbers: int, large: int) -> str:
    size = "large" if 2 * numbers >= large else "small"
    if not name.startswith("aten::"):
        return "autograd functions and engine"
    if any(word in name for word in FACTORISATIONS):
        return f"{size} {next(word for word in FACTORISATIONS if word in name).strip('_')}"
    return f"{size} products" if name in PRODUCTS else f"{size} elementwise, sums, views"


def _numbers(shapes: list[object]) -> int:
    """How many numbers the largest input holds."""
    return max((int(np.prod(s)) for s in shapes if isinstance(s, (list, tuple)) and s), default=0)


def by_operator(step: Step, large: int, repeats: int, rows: int) -> str:
    """Own time of operators, grouped; each place in the step counts by its fastest repeat.

    Args:
        step: deterministic: the same operators in the same order every time.
        large: how many numbers the whole batch holds; operators on half of that are called large.
        repeats: how many times to take the step.
        rows: of the list of single operators.
    """
    settle_heap()
    for _ in range(3):
        step()
    start = process_time()
    for _ in range(repeats):
        step()
    whole = (process_time() - start) / repeats * 1e6
    for _ in range(2):  # the first recording of a process pays for the recorder's own memory
        with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as recorded:
            for _ in range(repeats):
                step()
    times: dict[tuple[str, str], list[float]] = defaultdict(list)
    for event in sorted(recorded.events(), key=lambda e: e.time_range.start):
        kind = _kind(event.name, _numbers(event.input_shapes), large)
        times[kind, event.name].append(event.self_cpu_time_total)
    kinds: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    operators = []
    for (kind, name), values in times.items():
        calls = len(values) // repeats
        if calls == 0:
            continue
        own = float(np.min(np.reshape(values[: calls * repeats], (repeats, calls)), 0).sum())
        kinds[kind][0] += own
        kinds[kind][1] += calls
        operators.append((own, calls, f"{name} ({kind.split()[0]})"))
    inside = sum(own for own, _ in kinds.values())
    lines = [f"{whole:.0f} µs processor time per step unrecorded; {inside:.0f} µs inside operators"]
    for kind, (own, calls) in sorted(kinds.items(), key=lambda item: -item[1][0]):
        lines.append(f"  {own / whole:6.1%} {own:9.0f} µs {calls:5.0f} calls  {kind}")
    lines.append(f"  {1 - inside / whole:6.1%} {whole - inside:9.0f} µs              Python (rest)")
    lines.append("  the heaviest operators:")
    for own, calls, name in sorted(operators, reverse=True)[:rows]:
        lines.append(f"  {own / whole:6.1%} {own:9.0f} µs {calls:5d} calls  {name}")
    return "\n".join(lines)


def by_function(step: Step, repeats: int, rows: int) -> str:
    """Functions by the processor time spent in them and in what they call."""
    step()
    recorder = cProfile.Profile(process_time)
    recorder.enable()
    for _ in range(repeats):
        step()
    recorder.disable()
    statistics = pstats.Stats(recorder, stream=io.StringIO())
    total = statistics.total_tt  # type: ignore[attr-defined]
    lines = ["  cumulative   own  calls  function"]
    entries = sorted(statistics.stats.items(), key=lambda item: -item[1][3])  # type: ignore[attr-defined]
    for (file, line, name), (_, calls, own, cumulative, _) in entries[:rows]:
        place = f"{'/'.join(Path(file).parts[-2:])}:{line} {name}" if line else name
        lines.append(
            f"  {cumulative / total:9.1%} {own / total:6.1%} {calls / repeats:6.1f}  {place}"
        )
    return "\n".join(lines)


def breakdown(steps: Mapping[str, Step], large: int, repeats: int = 20, rows: int = 12) -> str:
    """Both views of every step."""
    parts = []
    for name, step in steps.items():
        parts.append(f"== {name}: {by_operator(step, large, repeats, rows)}")
        parts.append(by_function(step, repeats, 3 * rows))
    return "\n".join(parts)
