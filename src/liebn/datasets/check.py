"""What a look at a dataset finds: the figures behind `liebn data check`."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from .record import Dataset, Floats, Integers, Split

# Largest entry of |R'R - I| that rounding in float32 can explain.
ROTATION_TOLERANCE = 1e-5
# Largest asymmetry, relative to the largest entry, that rounding in float32 can explain.
SYMMETRY_TOLERANCE = 1e-6
SHOWN = 8


@dataclass(frozen=True)
class Findings:
    """The lines to print, and the reasons, if any, why the data cannot be used."""

    lines: tuple[str, ...]
    faults: tuple[str, ...]


def duplicates(points: Floats) -> list[tuple[int, ...]]:
    """Return groups of samples that agree in every bit, as indices in increasing order."""
    groups: dict[bytes, list[int]] = {}
    for index, point in enumerate(points):
        digest = hashlib.sha256(np.ascontiguousarray(point).tobytes()).digest()
        groups.setdefault(digest, []).append(index)
    return [tuple(group) for group in groups.values() if len(group) > 1]


def leaks(split: Split, groups: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return the groups of duplicates with both training and test samples."""
    train, test = set(split.train.tolist()), set(split.test.tolist())
    return [group for group in groups if train & set(group) and test & set(group)]


def _listed(groups: list[tuple[int, ...]]) -> str:
    if not groups:
        return "none"
    shown = ", ".join("=".join(map(str, group)) for group in groups[:SHOWN])
    return f"{len(groups)} ({shown}{', ...' if len(groups) > SHOWN else ''})"


def _spread(groups: Integers) -> str:
    counts = np.unique(groups, return_counts=True)[1]
    return f"{len(counts)}, of {counts.min()} to {counts.max()} samples"


def _spd_lines(points: Floats) -> tuple[list[str], list[str]]:
    """Describe positive definite matrices (n, size, size), none of them zero."""
    values = np.linalg.eigvalsh(points)
    smallest, largest = values[:, 0], values[:, -1]
    asymmetry = np.abs(points - np.swapaxes(points, 1, 2)).max(axis=(1, 2))
    asymmetry = asymmetry / np.abs(points).max(axis=(1, 2))
    relative = (smallest / values.sum(axis=1)).min()
    lines = [f"smallest eigenvalue: {smallest.min():.3g}, over trace {relative:.3g}"]
    faults = []
    if (smallest > 0).all():
        condition = largest / smallest
        lines.append(f"condition: median {np.median(condition):.3g}, most {condition.max():.3g}")
    else:
        faults.append(f"{int((smallest <= 0).sum())} matrices are not positive definite")
    lines.append(f"asymmetry: {asymmetry.max():.1e} of the largest entry")
    if asymmetry.max() > SYMMETRY_TOLERANCE:
        faults.append(f"{int((asymmetry > SYMMETRY_TOLERANCE).sum())} matrices are not symmetric")
    return lines, faults


def _rotation_lines(points: Floats) -> tuple[list[str], list[str]]:
    """Describe rotations (n, ..., 3, 3), sample by sample, for they fill much memory."""
    worst, least = 0.0, np.inf
    for point in points:
        gram = np.swapaxes(point, -1, -2) @ point
        worst = max(worst, float(np.abs(gram - np.eye(3, dtype=point.dtype)).max()))
        least = min(least, float(np.linalg.det(point).min()))
    lines = [f"rotations: |R'R - I| at most {worst:.1e}, determinant at least {least:.6f}"]
    good = worst <= ROTATION_TOLERANCE and least > 0
    return lines, [] if good else ["some matrices are not rotations"]


def _protocol_lines(dataset: Dataset, groups: list[tuple[int, ...]]) -> list[str]:
    """Describe every protocol: the sizes of its splits, leakage, classes never trained on."""
    lines = []
    for name in dataset.protocols:
        splits = dataset.splits(name)
        sizes = f"{len(splits[0].train)}/{len(splits[0].test)}"
        leaked = sorted({group for split in splits for group in leaks(split, groups)})
        lines.append(
            f"protocol {name}: {len(splits)} split(s), the first {sizes} train/test; "
            f"duplicates across: {_listed(leaked)}"
        )
        for split in splits:
            untrained = set(dataset.labels[split.test]) - set(dataset.labels[split.train])
            if untrained:
                classes = ", ".join(dataset.classes[c] for c in sorted(untrained))
                lines.append(f"protocol {name}, {split.name}: tested, never trained on: {classes}")
    return lines


def check(dataset: Dataset) -> Findings:
    """Look at a loaded dataset: counts, numerical health, duplicates, leakage."""
    points = dataset.points
    counts = np.bincount(dataset.labels, minlength=len(dataset.classes))
    lines = [
        f"{dataset.name}{' (simulated)' if dataset.simulated else ''}: {len(dataset)} samples of "
        f"shape {points.shape[1:]}, {points.dtype}, {dataset.space}",
        f"classes: {len(counts)}, of {counts.min()} to {counts.max()} samples",
    ]
    if dataset.subjects is not None:
        lines.append(f"subjects: {_spread(dataset.subjects)}")
    if dataset.domains is not None:
        lines.append(f"domains: {_spread(dataset.domains)}")
    if not all(np.isfinite(point).all() for point in points):
        return Findings(tuple(lines), ("some values are NaN or infinite",))
    filled = np.array([point.any() for point in points])
    zero = int((~filled).sum())
    faults = [f"{zero} samples are zero"] if zero else []
    describe = {"spd": _spd_lines, "rotation": _rotation_lines}.get(dataset.space)
    if describe is not None and filled.any():
        more, wrong = describe(points if filled.all() else points[filled])
        lines += more
        faults += wrong
    groups = duplicates(points)
    lines.append(f"zero samples: {zero}; exact duplicates: {_listed(groups)}")
    lines += _protocol_lines(dataset, groups)
    lines += [f"loader: {line}" for line in dataset.report or ("changed nothing",)]
    return Findings(tuple(lines), tuple(faults))
