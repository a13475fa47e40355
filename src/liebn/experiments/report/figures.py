"""The figures of a report."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from liebn.experiments.protocol import Protocol
from liebn.experiments.report.pairs import Comparison, varied
from liebn.experiments.report.svg import COLORS, style
from liebn.experiments.report.tables import published_relative
from liebn.experiments.report.variants import Record, differing
from liebn.experiments.table import rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINES = ("-", "--", ":", "-.")
GREEK = {"theta": "θ", "alpha": "α", "beta": "β"}
FEW = 10
"""So many points of a curve are marked."""
MOST_NAMES = 12
"""So many classes are named beside a confusion matrix."""


def _figure(width: float, height: float) -> tuple[Figure, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def look(place: int) -> dict[str, Any]:
    """Colour and line of a method, the same in all figures."""
    return {
        "color": COLORS[place % len(COLORS)],
        "linestyle": LINES[place // len(COLORS) % len(LINES)],
    }


def by_method(protocol: Protocol, records: Sequence[Record]) -> dict[str, list[Record]]:
    """The finished runs of each method, in the order of the table."""
    own: dict[str, list[Record]] = {row.method: [] for row in rows(protocol, records)}
    for record in records:
        if record["status"] == "finished":
            own[record["configuration"]["method"]].append(record)
    return own


def curves(protocol: Protocol, records: Sequence[Record], key: str) -> Figure:
    """The mean of a part of the history over the finished runs, against the epoch."""
    from matplotlib.ticker import LogLocator

    with style():
        own = by_method(protocol, records)
        figure, axes = _figure(5.2, 3.4 + 0.2 * ((len(own) + 1) // 2))
        for place, runs in enumerate(own.values()):
            if not runs:
                continue
            epochs, mean, std = _history([run["history"][key] for run in runs])
            if key == "test_score":
                mean, std = 100 * mean, 100 * std
                axes.fill_between(epochs, mean - std, mean + std, color=look(place)["color"],
                                  alpha=0.12, linewidth=0)  # fmt: skip
            marker = "o" if len(epochs) <= FEW else None
            axes.plot(epochs, mean, linewidth=1.4, marker=marker, markersize=3, **look(place))
        axes.set_xlabel("epoch")
        if key == "train_loss":
            least, most = axes.dataLim.intervaly
            if least > 0:
                axes.set_yscale("log")
                places = (1, 2, 5) if most < 100 * least else (1,)
                axes.yaxis.set_major_locator(LogLocator(subs=places))
                axes.yaxis.set_major_formatter("{x:g}")
                axes.yaxis.set_minor_formatter("")
            axes.set_title("training loss")
        else:
            axes.set_title(f"test {protocol.score.replace('_', ' ')}, %")
        names = [_label(name) for name, runs in own.items() if runs]
        figure.legend(axes.lines, names, ncols=2, loc="outside lower center")
    return figure


def _label(name: str) -> str:
    """A leading underscore would keep a name out of a legend."""
    return f"\u200b{name}" if name.startswith("_") else name


def _history(histories: Sequence[Sequence[float | None]]) -> tuple[Any, Any, Any]:
    """Epochs, mean and standard deviation where there are values; of runs of equal length."""
    values = np.array(histories, dtype=float)
    there = ~np.isnan(values).any(0)
    std = values.std(0, ddof=1) if len(values) > 1 else np.zeros(values.shape[1])
    return np.flatnonzero(there) + 1, values.mean(0)[there], std[there]


def times(protocol: Protocol, records: Sequence[Record]) -> Figure:
    """Fit times as bars, relative to the baseline where there is one, and the published ones."""
    with style():
        shown = [row for row in rows(protocol, records) if row.seconds is not None]
        relative = any(row.relative is not None for row in shown)
        figure, axes = _figure(5.2, 1.1 + 0.32 * len(shown))
        values = [(row.relative if relative else row.seconds) or 0.0 for row in shown]
        places = range(len(shown))
        axes.barh(places, values, color=COLORS[0], height=0.62)
        published = [published_relative(protocol, row) for row in shown] if relative else []
        known = [(value, place) for place, value in enumerate(published) if value is not None]
        if known:
            axes.plot(*zip(*known, strict=True), "D", color="black", markersize=5,
                      markerfacecolor="none", label="published")  # fmt: skip
            axes.legend(loc="lower right")
        ends = dict(enumerate(values)) | {p: max(values[p], value) for value, p in known}
        for place, row in zip(places, shown, strict=True):
            axes.annotate(f"{row.seconds:.3g} s", (ends[place], place), (7, 0), va="center",
                          fontsize=8, textcoords="offset points")  # fmt: skip
        axes.set_yticks(places, [row.method for row in shown])
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")
        axes.margins(x=0.15)
        axes.set_xlim(left=0)
        base = f"relative to {protocol.baseline}" if relative else "in seconds"
        axes.set_title(f"fit time of an epoch, {base}")
    return figure


def parameters(protocol: Protocol, records: Sequence[Record]) -> Iterator[tuple[str, Figure]]:
    """The score against each number of the metric that the methods vary."""
    for parameter, letter in GREEK.items():
        families = varied(records, parameter)
        if not families:
            continue
        with style():
            figure, axes = _figure(5.2, 3.6)
            told = differing([settings for settings, _ in families])
            for place, (settings, scores) in enumerate(families):
                means = [statistics.fmean(own) for own in scores.values()]
                stds = [statistics.stdev(own) if len(own) > 1 else 0.0 for own in scores.values()]
                name = ", ".join(_setting(key, settings.get(key)) for key in told)
                axes.errorbar(list(scores), means, stds, marker="o", markersize=4, capsize=3,
                              label=_label(name or settings["norm.metric"].upper()),
                              **look(place))  # fmt: skip
            axes.set_xlabel(letter)
            axes.set_title(f"test {protocol.score.replace('_', ' ')}, %")
            axes.legend()
        yield parameter, figure


def _setting(key: str, value: Any) -> str:
    if key == "norm.metric":
        return str(value).upper()
    return f"{GREEK.get(key.removeprefix('norm.'), key.removeprefix('norm.'))} {value}"


def confusions(protocol: Protocol, records: Sequence[Record]) -> Iterator[tuple[str, Figure]]:
    """The confusion of each method, summed over its runs, as shares of the true class."""
    from matplotlib.colors import LinearSegmentedColormap, to_rgba

    full, none = to_rgba(COLORS[0]), to_rgba(COLORS[0], 0.0)
    shades = LinearSegmentedColormap.from_list("shades", [none, full])
    for method, runs in by_method(protocol, records).items():
        if not runs:
            continue
        table = np.sum([run["confusion"] for run in runs], 0)
        shares = table / np.maximum(table.sum(1, keepdims=True), 1)
        names = runs[0]["classes"]
        with style():
            figure, axes = _figure(3.3, 3.5)
            axes.imshow(shares, cmap=shades, vmin=0, vmax=1, interpolation="none")
            axes.grid(visible=False)
            if len(names) <= MOST_NAMES:
                axes.set_xticks(range(len(names)), names, rotation=90, fontsize=8)
                axes.set_yticks(range(len(names)), names, fontsize=8)
                for (row, column), share in np.ndenumerate(shares):
                    axes.text(
                        column, row, f"{100 * share:.0f}", ha="center", va="center", fontsize=7
                    )
            axes.set_xlabel("predicted")
            axes.set_ylabel("true")
            axes.set_title(method)
        yield method, figure


def differences(found: Sequence[Comparison]) -> Figure:
    """Every pair of every comparison as a point, and the means."""
    with style():
        figure, axes = _figure(6.4, 1.2 + 0.34 * len(found))
        axes.axvline(0, color="black", linewidth=0.8)
        for place, comparison in enumerate(found):
            values = np.array(list(comparison.differences.values()))
            axes.scatter(values, np.full(len(values), place), s=16, alpha=0.55, linewidths=0,
                         color=COLORS[0])  # fmt: skip
            axes.plot([comparison.mean], [place], "D", color=COLORS[1], markersize=6)
        names = [f"{c.method} − {c.other}" for c in found]
        axes.set_yticks(range(len(found)), names)
        axes.invert_yaxis()
        axes.set_title("difference of the score, points")
    return figure
