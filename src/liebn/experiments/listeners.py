"""What is told of each epoch of a run: the display of a sweep, and TensorBoard."""

from __future__ import annotations

import importlib
import json
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from liebn.experiments.errors import ExperimentError
from liebn.experiments.watch import Epoch

EVERY_SECONDS = 0.3


class Post:
    """Writes the last epoch to a small file, for the process that shows it.

    Args:
        path: of the file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._last = -EVERY_SECONDS

    def __call__(self, epoch: Epoch) -> None:
        """Write, but not too often."""
        now = time.monotonic()
        if now - self._last < EVERY_SECONDS:
            return
        self._last = now
        new = self._path.with_suffix(".new")
        with suppress(OSError):  # the sweep may be gone, and its folder with it
            new.write_text(json.dumps(asdict(epoch)), encoding="utf-8")
            new.replace(self._path)


def read_posts(folder: Path) -> dict[str, Epoch]:
    """The last epoch of each run that is being trained, by key."""
    posts = {}
    for path in folder.glob("*.json"):
        with suppress(OSError, ValueError):
            posts[path.stem] = Epoch(**json.loads(path.read_text(encoding="utf-8")))
    return posts


def require_tensorboard() -> Any:
    """TensorBoard's writer, or how to install it."""
    try:
        return importlib.import_module("torch.utils.tensorboard").SummaryWriter
    except ImportError:
        raise ExperimentError(
            "--tensorboard needs TensorBoard: run  pip install 'liebn[tensorboard]'"
        ) from None


class TensorBoard:
    """Writes loss, score and time of each epoch, one folder for each run.

    Args:
        root: TensorBoard's folder.
        configuration: of the run.
    """

    def __init__(self, root: Path, configuration: Mapping[str, Any]) -> None:
        parts = (configuration[k] for k in ("experiment", "method", "split"))
        names = [re.sub(r"[^\w.()+-]+", "-", str(part)) for part in parts]
        self._writer = require_tensorboard()(
            str(root.joinpath(*names, f"seed-{configuration['seed']}"))
        )

    def __call__(self, epoch: Epoch) -> None:
        """Add the points of an epoch."""
        values = {"train loss": epoch.train_loss, "seconds": epoch.seconds}
        if epoch.test_score is not None:
            values["test score"] = epoch.test_score
        for name, value in values.items():
            self._writer.add_scalar(name, value, epoch.number)

    def close(self) -> None:
        """Write what is not yet written."""
        self._writer.close()
