"""Watching a run from within skorch's training loop."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from skorch.callbacks import Callback

from liebn.experiments.scores import Counts, scores

EVERY = 10
"""The test part is looked at in every tenth epoch, and after the last."""


class DivergedError(Exception):
    """The loss is not finite."""


@dataclass(frozen=True)
class Epoch:
    """What listeners are told.

    Attributes:
        number: of the epoch, from 1.
        of: how many there will be.
        train_loss: its mean over the epoch.
        seconds: of the processor, for the training in the epoch; waiting for other work that the
            machine does is not counted.
        test_score: in [0, 1], where it was looked at.
    """

    number: int
    of: int
    train_loss: float
    seconds: float
    test_score: float | None


Listener = Callable[[Epoch], None]


class Watch(Callback):  # type: ignore[misc]  # skorch ships no types
    """Keeps the history of a run, tests now and then, and stops where the loss is not finite.

    Args:
        epochs: how many there will be.
        score: which score to keep.
        listeners: are told of each epoch.

    Attributes:
        batches: how many have given gradients.
        test: makes the confusion on the test part as the network is now.
    """

    def __init__(self, epochs: int, score: str, listeners: Sequence[Listener]) -> None:
        self.epochs = epochs
        self.score = score
        self.listeners = listeners
        self.losses: list[float] = []
        self.scores: list[float | None] = []
        self.seconds: list[float] = []
        self.batches = 0
        self.test: Callable[[], Counts] | None = None
        self._begin = 0.0

    def on_epoch_begin(self, net: Any, **_: Any) -> None:
        """Start the clock."""
        self._begin = time.thread_time()

    def on_grad_computed(self, net: Any, named_parameters: Any, **_: Any) -> None:
        """Count the batch: from here on it is the training that can go wrong."""
        self.batches += 1

    def on_batch_end(self, net: Any, training: bool = False, **_: Any) -> None:
        """Stop at once: the next batch would fail for reasons that only follow from this one."""
        loss = net.history[-1, "batches", -1].get("train_loss")
        if training and loss is not None and not math.isfinite(loss):
            raise DivergedError(f"the loss is {loss} in epoch {len(net.history)}")

    def on_epoch_end(self, net: Any, **_: Any) -> None:
        """Note the epoch."""
        self.seconds.append(time.thread_time() - self._begin)
        epoch = net.history[-1]
        self.losses.append(float(epoch["train_loss"]))
        self.scores.append(None)
        if len(self.losses) == self.epochs:
            return  # `end` follows
        if len(self.losses) % EVERY == 0 and self.test is not None:
            self.scores[-1] = scores(self.test())[self.score]
        self._tell()

    def end(self, table: Counts) -> None:
        """Note the score of the trained network."""
        self.scores[-1] = scores(table)[self.score]
        self._tell()

    def _tell(self) -> None:
        epoch = Epoch(
            len(self.losses), self.epochs, self.losses[-1], self.seconds[-1], self.scores[-1]
        )
        for listener in self.listeners:
            listener(epoch)
