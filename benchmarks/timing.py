"""Interleaved timing: every contender once in every round, compared round by round.

What slows the machine for a while slows all contenders of a round alike, and cancels in the ratio
of two of them. Contenders run on one thread and are charged the processor time of the process, so
that waiting for other users of the machine does not count; on an idle machine it is the wall-clock
time. The order within a round is drawn anew each time, so that nobody always follows the same
neighbour.
"""

from __future__ import annotations

import gc
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from time import process_time
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

Step = Callable[[], object]
Seconds = dict[str, np.ndarray]


def brief(value: float) -> str:
    """Three digits, without an exponent."""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


class Ratio(NamedTuple):
    """Median and quartiles of paired ratios."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: np.ndarray) -> Ratio:
        """Of one value per round."""
        low, median, high = map(float, np.percentile(values, [25, 50, 75]))
        return cls(median, low, high)

    def __str__(self) -> str:
        return f"{brief(self.median)} [{brief(self.low)}, {brief(self.high)}]"


@contextmanager
def _no_collection() -> Iterator[None]:
    """Without Python's garbage collector, and without what existed before in any collection."""
    gc.collect()
    enabled = gc.isenabled()
    gc.disable()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        if enabled:
            gc.enable()


def settle_heap() -> None:
    """Free one large block, after which the C library keeps freed memory instead of returning it.

    Until a process has done so, small steps may pay page faults for memory they had a moment ago.
    """
    torch.ones(1 << 22)


def interleave(
    steps: Mapping[str, Step],
    rounds: int,
    warm_up: int = 2,
    progress: Callable[[], object] = lambda: None,
    clock: Callable[[], float] = process_time,
    seed: int = 0,
) -> Seconds:
    """Seconds of every step in every round, (rounds,) by name; `progress` is called after each."""
    settle_heap()
    order = list(steps)
    shuffle = random.Random(seed).shuffle  # noqa: S311 - no secret hangs on it
    seconds: dict[str, list[float]] = {name: [] for name in order}
    with _no_collection():
        for number in range(warm_up + rounds):
            shuffle(order)
            gc.collect()
            for name in order:
                start = clock()
                steps[name]()
                elapsed = clock() - start
                if number >= warm_up:
                    seconds[name].append(elapsed)
            progress()
    return {name: np.array(values) for name, values in seconds.items()}


def ratio(seconds: Seconds, name: str, base: str) -> Ratio:
    """How many times as long as `base` a step takes."""
    return Ratio.of(seconds[name] / seconds[base])


def training_step(layer: nn.Module, x: Tensor, gradient: Tensor) -> Step:
    """Forward and backward in training mode, to the input and all parameters."""
    layer.train()
    x = x.clone().requires_grad_()
    wanted = [x, *layer.parameters()]
    return lambda: torch.autograd.grad(layer(x), wanted, gradient)


def evaluation_step(layer: nn.Module, x: Tensor) -> Step:
    """Forward in evaluation mode."""
    layer.eval()

    def step() -> Tensor:
        with torch.no_grad():
            y: Tensor = layer(x)
        return y

    return step
