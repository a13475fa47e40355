"""What a run measures: sizes, rounds, and which parts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch

from benchmarks.networks import PAPER, Problem
from benchmarks.targets import TARGETS

Shape = tuple[int, int]
DTYPES = {"float64": torch.float64, "float32": torch.float32}
PARTS = (
    "speed",
    "rotations",
    "growth",
    "accuracy",
    "memory",
    "networks",
    "processes",
    "profile",
)


@dataclass(frozen=True)
class Plan:
    """All sizes of a run.

    Attributes:
        shapes: (batch, n) at which the layers of positive definite matrices are timed.
        rounds: of the timing at these shapes; the heavier parts take a share of them.
        dtypes: "float64", "float32" or both.
        parts: of `PARTS`.
        rotations: how many rotations a batch holds.
        sizes: n at which growth is measured, with batches of `growth_batch`.
        batches: at which growth is measured, with matrices of size `growth_size`.
        growth_batch: see there.
        growth_size: see there.
        accuracy: (batch, n) of the batches on which accuracy is measured.
        seeds: how many batches of each kind.
        memory: (batch, n) of the step whose memory is measured.
        problems: networks that are trained.
        process_steps: how many steps each process takes in a round.
        profiled: the layers whose time is broken down.
        repeats: of each profiled step.
    """

    shapes: tuple[Shape, ...] = ((30, 20), (50, 20), (30, 30), (30, 33), (256, 30), (30, 93))
    rounds: int = 24
    dtypes: tuple[str, ...] = tuple(DTYPES)
    parts: tuple[str, ...] = PARTS
    rotations: tuple[int, ...] = (57_000, 1_000_000)
    sizes: tuple[int, ...] = (5, 10, 20, 30, 50, 93)
    batches: tuple[int, ...] = (10, 30, 100, 300, 1000)
    growth_batch: int = 30
    growth_size: int = 20
    accuracy: Shape = (50, 20)
    seeds: int = 5
    memory: Shape = (256, 30)
    problems: tuple[Problem, ...] = PAPER
    process_steps: int = 40
    profiled: tuple[str, ...] = tuple(target.layer for target in TARGETS)
    repeats: int = 20

    @property
    def some_rounds(self) -> int:
        """For what takes seconds a round."""
        return max(2, self.rounds // 4)


def quick() -> Plan:
    """Tiny sizes, to see that everything works."""
    problem = replace(PAPER[0], name="tiny", samples=8, batch=4, sizes=(4, 3))
    return Plan(
        shapes=((4, 3),),
        rounds=2,
        rotations=(20,),
        sizes=(2, 3),
        batches=(2, 4),
        growth_batch=4,
        growth_size=3,
        accuracy=(6, 3),
        seeds=1,
        memory=(4, 3),
        problems=(problem,),
        process_steps=1,
        profiled=("LCM exact",),
        repeats=1,
    )
