"""How cost grows with the size of the matrices and of the batch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import Seconds


def _curves(axes: Any, columns: dict[int, Seconds], what: str) -> None:
    for step in next(iter(columns.values())):
        name = step.split(",")[0]
        low, middle, high = np.array(
            [np.percentile(s[step], [25, 50, 75]) * 1e3 for s in columns.values()]
        ).T
        style = "k--" if name.startswith("one") else ":" if name.startswith("spd_learn") else "-"
        (line,) = axes.plot(list(columns), middle, style, marker=".", label=name)
        axes.fill_between(list(columns), low, high, color=line.get_color(), alpha=0.2, linewidth=0)
    axes.set(xscale="log", yscale="log", xlabel=what, ylabel="ms per training step")
    axes.grid(which="both", color="0.9")


def draw(
    by_size: dict[int, Seconds], by_batch: dict[int, Seconds], batch: int, n: int, path: Path
) -> None:
    """Write both plots, log-log, to one file."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.5), layout="constrained")
    left, right = figure.subplots(1, 2)
    _curves(left, by_size, f"n, at batch {batch}")
    _curves(right, by_batch, f"batch, at n = {n}")
    figure.legend(*left.get_legend_handles_labels(), loc="outside right center", frameon=False)
    figure.savefig(path, dpi=110)
