"""Paired comparisons of methods that were tried on the same splits with the same seeds."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from liebn.experiments.report.variants import Record, conditions

LEAST = 5
"""A comparison needs so many pairs: with fewer, no signed-rank test can tell anything."""

Scores = dict[tuple[str, int], float]


@dataclass(frozen=True)
class Comparison:
    """One method with another.

    Attributes:
        method: the one.
        other: the other.
        splits: whether a pair is a split, with the mean over its seeds; otherwise it is a run.
        differences: of the scores, method − other, in points of per cent, by pair.
        t: the p value of the paired t-test, two-sided; None where all differences are the same.
        wilcoxon: that of Wilcoxon's signed-rank test; None where all differences are zero.
        holm: the latter, corrected by Holm for the comparisons it is listed with.
    """

    method: str
    other: str
    splits: bool
    differences: Mapping[str, float]
    t: float | None = None
    wilcoxon: float | None = None
    holm: float | None = None

    @property
    def mean(self) -> float:
        """The mean difference."""
        return statistics.fmean(self.differences.values())

    @property
    def std(self) -> float:
        """The sample standard deviation of the differences."""
        return statistics.stdev(self.differences.values())


def scores_of(records: Iterable[Record]) -> dict[str, Scores]:
    """The scores of finished runs in per cent, by method, then by split and seed."""
    found: dict[str, Scores] = {}
    for record in records:
        if record["status"] == "finished":
            own = record["configuration"]
            scores = found.setdefault(own["method"], {})
            scores[own["split"], own["seed"]] = 100 * record["score"]
    return found


def first_of_each(records: Iterable[Record]) -> dict[str, Record]:
    """The first record of each method."""
    first: dict[str, Record] = {}
    for record in records:
        first.setdefault(record["configuration"]["method"], record)
    return first


def comparisons(records: Sequence[Record], baseline: str) -> dict[str, list[Comparison]]:
    """By question: every method with the baseline, and with none; each refitted one with itself.

    Holm's correction is for the comparisons of one question.
    """
    scores = scores_of(records)
    first = first_of_each(records)
    found = {}
    for question, asked in _questions(first, baseline).items():
        own = [
            comparison
            for method, other in asked
            if method in scores and other in scores
            for comparison in _compare(method, other, scores[method], scores[other])
        ]
        corrected = holm([comparison.wilcoxon for comparison in own])
        if own:
            found[question] = [replace(c, holm=p) for c, p in zip(own, corrected, strict=True)]
    return found


def _questions(first: Mapping[str, Record], baseline: str) -> dict[str, list[tuple[str, str]]]:
    questions = {}
    plain = [m for m, r in first.items() if r["configuration"]["norm"]["kind"] == "none"]
    if baseline in first:
        questions["against the baseline"] = [(m, baseline) for m in first if m != baseline]
    if plain and plain[0] != baseline:
        others = [m for m in first if m not in (*plain, baseline)]
        questions["against no normalization"] = [(m, plain[0]) for m in others]
    questions["refitted against not refitted"] = [
        (method, other)
        for method, record in first.items()
        for other, candidate in first.items()
        if record["configuration"]["refit"]
        and conditions(candidate) == conditions(record) | {"refit": False}
    ]
    return questions


def _compare(method: str, other: str, one: Scores, two: Scores) -> Iterator[Comparison]:
    by_split: dict[str, list[float]] = {}
    by_run: dict[str, float] = {}
    for split, seed in one:
        if (split, seed) in two:
            difference = one[split, seed] - two[split, seed]
            by_split.setdefault(split, []).append(difference)
            by_run[f"{split}, seed {seed}"] = difference
    splits = len(by_split) >= LEAST
    pairs = {s: statistics.fmean(own) for s, own in by_split.items()} if splits else by_run
    if len(pairs) >= LEAST:
        t, wilcoxon = p_values(list(pairs.values()))
        yield Comparison(method, other, splits, pairs, t, wilcoxon)


def p_values(differences: Sequence[float]) -> tuple[float | None, float | None]:
    """Of the paired t-test and of Wilcoxon's signed-rank test, both two-sided."""
    from scipy import stats

    # Scores are quotients of counts: what differs in the last digits only is a tie.
    d = np.round(np.asarray(differences), 9)
    t = None if np.ptp(d) == 0 else float(stats.ttest_1samp(d, 0.0).pvalue)
    return t, None if not d.any() else float(stats.wilcoxon(d).pvalue)


def holm(values: Sequence[float | None]) -> list[float | None]:
    """Holm's correction of p values for their number."""
    known = sorted((p, place) for place, p in enumerate(values) if p is not None)
    found: list[float | None] = [None] * len(values)
    least = 0.0
    for rank, (p, place) in enumerate(known):
        least = max(least, min(1.0, (len(known) - rank) * p))
        found[place] = least
    return found


def varied(records: Iterable[Record], parameter: str) -> list[tuple[dict[str, Any], Any]]:
    """Where methods differ in nothing but one number of their metric.

    Gives:
        for each such family its other settings, and its scores in per cent by that number.
    """
    key = f"norm.{parameter}"
    families: list[tuple[dict[str, Any], dict[float, list[float]]]] = []
    for record in records:
        own = conditions(record)
        if own.get(key) is None or record["status"] != "finished":
            continue
        value = own.pop(key)
        scores = next((known for settings, known in families if settings == own), None)
        if scores is None:
            families.append((own, scores := {}))
        scores.setdefault(value, []).append(100 * record["score"])
    return [(settings, dict(sorted(s.items()))) for settings, s in families if len(s) > 1]
