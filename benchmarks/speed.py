"""Time of a step, by layer, dtype and mode, all interleaved."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch import Tensor

from benchmarks import data
from benchmarks.contenders import (
    ROTATION_FLOORS,
    SPD_FLOORS,
    Contender,
    rotation_layers,
    spd_layers,
)
from benchmarks.timing import Seconds, Step, evaluation_step, interleave, training_step

MODES = ("training", "evaluation")
FLOOR = "floor"
GROWING = (
    "AIM exact",
    "AIM fast",
    "AIM θ=0.5 fast",
    "LEM exact",
    "LCM exact",
    "spd_learn Lie AIM",
    "spd_learn Lie LEM",
    "spd_learn Lie LCM",
)
"""The layers whose growth is measured."""

Progress = Callable[[], object]


def key(name: str, dtype: str, mode: str) -> str:
    """The name of a step in the record of its times."""
    return f"{name}, {dtype}, {mode}"


def _steps(
    layers: Iterable[Contender],
    floors: dict[str, Callable[[Tensor], object]],
    batches: dict[str, Tensor],
    modes: Iterable[str],
) -> dict[str, Step]:
    steps: dict[str, Step] = {}
    for dtype, x in batches.items():
        gradient = torch.ones_like(x) / x.numel()
        for contender in layers:
            for mode in modes:
                layer = contender.make(x.shape[-1], x.dtype)
                step = training_step(layer, x, gradient)
                step()  # a running mean other than the identity
                if mode == "evaluation":
                    step = evaluation_step(layer, x)
                steps[key(contender.name, dtype, mode)] = step
        for name, floor in floors.items():
            steps[key(name, dtype, FLOOR)] = lambda f=floor, x=x: f(x)  # type: ignore[misc]
    return steps


def matrices(
    batch: int, n: int, dtypes: dict[str, torch.dtype], rounds: int, progress: Progress
) -> Seconds:
    """Every layer on positive definite matrices, in both modes, and the floors."""
    batches = {name: data.matrices(batch, n, dtype) for name, dtype in dtypes.items()}
    steps = _steps(spd_layers(), SPD_FLOORS, batches, MODES)
    return interleave(steps, rounds, progress=progress)


def rotations(
    batch: int, dtypes: dict[str, torch.dtype], rounds: int, progress: Progress
) -> Seconds:
    """Every layer on rotations, in both modes, and the floor."""
    batches = {name: data.rotations(batch, dtype) for name, dtype in dtypes.items()}
    steps = _steps(rotation_layers(), ROTATION_FLOORS, batches, MODES)
    return interleave(steps, rounds, warm_up=1, progress=progress)


def growth(batch: int, n: int, rounds: int, progress: Progress) -> Seconds:
    """Some layers in float64 and training mode, and one eigendecomposition."""
    layers = [c for c in spd_layers() if c.name in GROWING]
    floors = {"one eigh": SPD_FLOORS["one eigh"]}
    batches = {"float64": data.matrices(batch, n, torch.float64)}
    return interleave(
        _steps(layers, floors, batches, MODES[:1]), rounds, warm_up=1, progress=progress
    )
