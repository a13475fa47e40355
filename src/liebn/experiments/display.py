"""What is seen of a sweep: bars on a terminal, lines elsewhere."""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from liebn.experiments.listeners import read_posts

Record = Mapping[str, Any]

BESIDE_TITLE = 54
"""Columns of a terminal that the bar of a run needs beside its title."""
SHORTEST_TITLE = 16


def title_of(configuration: Mapping[str, Any]) -> str:
    """A run in words."""
    seed = f"seed {configuration['seed']}"
    words = dict.fromkeys([configuration["method"], configuration["split"], seed])
    return ", ".join(words)


def outcome_of(record: Record) -> str:
    """What came of a run, in words."""
    if record["status"] != "finished":
        return f"{record['status']}: {record['reason']}"
    return f"{100 * record['score']:.2f} % ({record['fit_seconds']:.3g} s an epoch)"


class Display(ABC):
    """Shows a sweep.

    Args:
        total: how many runs there are.
        known: how many of them have a record already.
    """

    def __init__(self, total: int, known: int) -> None:
        self.total = total
        self.done = known

    @abstractmethod
    def started(self, key: str, configuration: Mapping[str, Any]) -> None:
        """A run has been handed out."""

    @abstractmethod
    def finished(self, record: Record) -> None:
        """A run has a record now."""

    @abstractmethod
    def say(self, line: str) -> None:
        """A remark."""

    @abstractmethod
    def close(self) -> None:
        """Show no more."""


class Lines(Display):
    """One line for each finished run, with the time left."""

    def __init__(self, total: int, known: int) -> None:
        super().__init__(total, known)
        self._begin, self._known = time.monotonic(), known

    def started(self, key: str, configuration: Mapping[str, Any]) -> None:
        """Nothing: it is told when it is finished."""

    def finished(self, record: Record) -> None:
        """Print the line."""
        self.done += 1
        each = (time.monotonic() - self._begin) / (self.done - self._known)
        left = _duration(each * (self.total - self.done))
        what = f"{title_of(record['configuration'])}: {outcome_of(record)}"
        self.say(f"[{self.done}/{self.total}, {left} left] {what}")

    def say(self, line: str) -> None:
        """Print it."""
        print(line, flush=True)

    def close(self) -> None:
        """Nothing: a line stays."""


class _Bars(Progress):
    """Bars that read the posts of the runs each time they are drawn."""

    def __init__(self, posts: Path | None) -> None:
        # First of all, since the constructor of the base class draws once.
        self.posts = posts
        self.active: dict[str, TaskID] = {}
        self.sweep: TaskID | None = None
        self.done = 0
        super().__init__(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.fields[counts]}"),
            TimeRemainingColumn(),
            TextColumn("left"),
            TextColumn("{task.fields[last]}", markup=False),
            console=Console(stderr=True),
            speed_estimate_period=3600,
        )

    def get_renderables(self) -> Iterable[RenderableType]:
        """The bars, brought up to date."""
        posts = {} if self.posts is None else read_posts(self.posts)
        fraction = 0.0
        for key, task in list(self.active.items()):
            if key not in posts:
                continue
            epoch = posts[key]
            score = epoch.test_score
            last = f"loss {epoch.train_loss:.3f}"
            last += "" if score is None else f", {100 * score:.1f} %"
            self.update(
                task,
                completed=epoch.number,
                counts=f"epoch {epoch.number}/{epoch.of}",
                last=last,
                visible=True,
            )
            fraction += epoch.number / epoch.of
        if self.sweep is not None:
            self.update(self.sweep, completed=self.done + fraction)
        yield from super().get_renderables()


class Bars(Display):
    """A bar for the sweep, and one for each run that is being trained.

    Args:
        total: how many runs there are.
        known: how many of them have a record already.
        posts: where the runs write their epochs; None where they cannot.
    """

    def __init__(self, total: int, known: int, posts: Path | None) -> None:
        super().__init__(total, known)
        self._bars = _Bars(posts)
        self._bars.sweep = self._bars.add_task(
            "all runs", total=total - known, counts=self._counts(), last=""
        )
        self._bars.start()

    def _counts(self) -> str:
        return f"{self.done}/{self.total}"

    def started(self, key: str, configuration: Mapping[str, Any]) -> None:
        """Add its bar, which shows once there is an epoch to show."""
        self._remove(key)  # of a run that begins anew
        room = max(SHORTEST_TITLE, self._bars.console.width - BESIDE_TITLE)
        title = title_of(configuration)
        self._bars.active[key] = self._bars.add_task(
            title if len(title) <= room else f"{title[: room - 1]}…",
            total=configuration["max_epochs"],
            counts="",
            last="",
            visible=False,
        )

    def finished(self, record: Record) -> None:
        """Take its bar away, and print its outcome above the bars."""
        self._remove(record["key"])
        self.done += 1
        self._bars.done += 1
        assert self._bars.sweep is not None  # noqa: S101
        self._bars.update(self._bars.sweep, counts=self._counts())
        self.say(f"{title_of(record['configuration'])}: {outcome_of(record)}")

    def _remove(self, key: str) -> None:
        task = self._bars.active.pop(key, None)
        if task is not None:
            self._bars.remove_task(task)

    def say(self, line: str) -> None:
        """Print it above the bars."""
        self._bars.console.print(line, markup=False, highlight=False)

    def close(self) -> None:
        """Leave the bars as they are now."""
        self._bars.stop()


def make_display(total: int, known: int, posts: Path | None) -> Display:
    """Bars on a terminal, lines elsewhere."""
    return Bars(total, known, posts) if sys.stderr.isatty() else Lines(total, known)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
