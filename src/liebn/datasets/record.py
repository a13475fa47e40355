"""The one record every loader returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .errors import DatasetError

Floats = NDArray[np.floating]
Integers = NDArray[np.int64]
Space = Literal["spd", "rotation", "signal"]


@dataclass(frozen=True)
class Split:
    """Index arrays of one division of a dataset; ``validation`` is empty where there is none."""

    name: str
    train: Integers
    test: Integers
    validation: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))


# A protocol turns a seed into its splits; a fixed protocol ignores the seed.
Protocol = Callable[[int], tuple[Split, ...]]


@dataclass(frozen=True)
class Dataset:
    """Points with labels, and everything an experiment has to know about them.

    Attributes:
        name: the name under which it was loaded.
        space: what a point is: ``"spd"``, ``"rotation"`` or ``"signal"`` (raw, not on a group).
        points: array of shape (samples, *point shape).
        labels: class indices 0 .. len(classes) - 1, shape (samples,).
        classes: the class names.
        subjects: who was recorded, shape (samples,), or None.
        domains: index of the recording condition (for EEG one session of one subject), or None.
        protocols: named ways to divide the samples.
        report: what the loader dropped, repaired or regularised, and why; one line each.
        simulated: True where no measurement stands behind the numbers.
    """

    name: str
    space: Space
    points: Floats
    labels: Integers
    classes: tuple[str, ...]
    subjects: Integers | None = None
    domains: Integers | None = None
    protocols: Mapping[str, Protocol] = field(default_factory=dict)
    report: tuple[str, ...] = ()
    simulated: bool = False

    def __post_init__(self) -> None:
        """Refuse a record whose parts do not fit together."""
        for part in ("labels", "subjects", "domains"):
            column = getattr(self, part)
            if column is not None and column.shape != (len(self.points),):
                raise DatasetError(
                    f"{self.name}: expected {part} of shape ({len(self.points)},), "
                    f"got {column.shape}"
                )

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.points)

    def splits(self, protocol: str, seed: int = 0) -> tuple[Split, ...]:
        """Return the splits of a named protocol.

        Raises:
            DatasetError: the dataset has no protocol of that name.
        """
        if protocol not in self.protocols:
            known = ", ".join(self.protocols) or "none"
            raise DatasetError(f"{self.name} has no protocol {protocol!r}; it has: {known}")
        return self.protocols[protocol](seed)
