"""What a run has found, and its record in JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.accuracy import Errors
from benchmarks.memory import Footprint
from benchmarks.processes import Throughput
from benchmarks.timing import Seconds

Accuracy = dict[tuple[str, str], dict[str, Errors]]
"""Errors of every layer by dtype and kind of batch."""


@dataclass
class Results:
    """The parts of a run; what was not measured is empty.

    Attributes:
        machine: facts by name.
        spd: times by (batch, n).
        rotations: times by batch.
        by_size: times by n.
        by_batch: times by batch.
        accuracy: on positive definite matrices.
        rotation_accuracy: on rotations.
        memory: of a step, by layer.
        networks: seconds per epoch, by problem.
        throughput: of two processes.
        profile: where the time goes, as text.
    """

    machine: dict[str, str]
    spd: dict[tuple[int, int], Seconds] = field(default_factory=dict)
    rotations: dict[int, Seconds] = field(default_factory=dict)
    by_size: dict[int, Seconds] = field(default_factory=dict)
    by_batch: dict[int, Seconds] = field(default_factory=dict)
    accuracy: Accuracy = field(default_factory=dict)
    rotation_accuracy: Accuracy = field(default_factory=dict)
    memory: dict[str, Footprint] = field(default_factory=dict)
    networks: dict[str, Seconds] = field(default_factory=dict)
    throughput: Throughput | None = None
    profile: str = ""

    def record(self) -> dict[str, Any]:
        """Plain data for JSON: every time of every round, so that any ratio can be formed."""
        return {
            "machine": self.machine,
            "spd seconds": {f"{b}x{n}": _plain(s) for (b, n), s in self.spd.items()},
            "rotation seconds": {str(b): _plain(s) for b, s in self.rotations.items()},
            "seconds by n": {str(n): _plain(s) for n, s in self.by_size.items()},
            "seconds by batch": {str(b): _plain(s) for b, s in self.by_batch.items()},
            "accuracy": dict(_errors(self.accuracy)),
            "rotation accuracy": dict(_errors(self.rotation_accuracy)),
            "memory": {name: found._asdict() for name, found in self.memory.items()},
            "seconds per epoch": {name: _plain(s) for name, s in self.networks.items()},
            "throughput": self.throughput and self.throughput._asdict(),
        }


def _plain(seconds: Seconds) -> dict[str, list[float]]:
    return {name: [float(f"{v:.4g}") for v in np.asarray(s)] for name, s in seconds.items()}


def _errors(accuracy: Accuracy) -> Iterator[tuple[str, Any]]:
    for (dtype, kind), table in accuracy.items():
        # JSON has no number for a layer that failed.
        yield (
            f"{dtype}, {kind}",
            {
                name: {k: v if np.isfinite(v) else None for k, v in e._asdict().items()}
                for name, e in table.items()
            },
        )
