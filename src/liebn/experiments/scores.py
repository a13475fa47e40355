"""What is measured on the test part."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]


def confusion(labels: NDArray[Any], predicted: NDArray[Any], classes: int) -> Counts:
    """How often each class (row) was taken for each (column), (classes, classes)."""
    table = np.zeros((classes, classes), dtype=np.int64)
    np.add.at(table, (labels, predicted), 1)
    return table


def scores(table: Counts) -> dict[str, float]:
    """The share of right predictions, and its mean over the classes that the test part has."""
    right, of_class = np.diag(table), table.sum(1)
    there = of_class > 0
    return {
        "accuracy": float(right.sum() / of_class.sum()),
        "balanced_accuracy": float(np.mean(right[there] / of_class[there])),
    }
