"""One run: from a configuration to its record."""

from __future__ import annotations

import functools
import textwrap
import threading
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from liebn.datasets import Dataset, Split, load
from liebn.experiments.configuration import key_of
from liebn.experiments.environment import environment, source_digest
from liebn.experiments.errors import ExperimentError
from liebn.experiments.networks import build_estimator
from liebn.experiments.norms import Domains, build_norm
from liebn.experiments.scores import Counts, confusion, scores
from liebn.experiments.store import FORMAT, Record
from liebn.experiments.watch import DivergedError, Listener, Watch
from liebn.linalg import InvalidPointError
from liebn.models import Norm

LAST_EPOCHS = 10
"""Over how many epochs, the last ones, the fit time is averaged."""
REASON_LENGTH = 300
"""Characters of an error that a record keeps, in one line."""

ONE_AT_A_TIME = threading.Lock()
"""torch's generator of random numbers belongs to the process, and so one run at a time has it."""


@functools.lru_cache(maxsize=1)
def _load(name: str, root: str | None, options: tuple[tuple[str, Any], ...]) -> Dataset:
    return load(name, root, **dict(options))


def load_dataset(name: str, root: str | Path | None, options: Mapping[str, Any]) -> Dataset:
    """A data set; the last one stays in memory."""
    try:
        return _load(name, None if root is None else str(root), tuple(sorted(options.items())))
    except (TypeError, ValueError) as error:
        raise ExperimentError(
            f"{name}: its loader does not take the dataset_options {dict(options)} ({error})"
        ) from None


@contextmanager
def _one_thread() -> Any:
    """One thread for all libraries: more are slower on small matrices, and change last digits."""
    before = torch.get_num_threads()
    with threadpool_limits(1):
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(before)


def run(
    configuration: Mapping[str, Any],
    root: str | Path | None = None,
    listeners: Sequence[Listener] = (),
) -> Record:
    """Train and test one network.

    A run that fails or diverges gives a record too, which says why.

    Args:
        configuration: as `configurations` makes them.
        root: the data root.
        listeners: are told of each epoch.
    """
    data, split = _part(configuration, root)
    watch = Watch(configuration["max_epochs"], configuration["score"], listeners)
    status, reason, table = "finished", None, None
    with ONE_AT_A_TIME, _one_thread():
        try:
            table = _fit(configuration, data, split, watch)
        except DivergedError as error:
            status, reason = "diverged", str(error)
        except Exception as error:
            status, reason = _what_failed(error, watch)
    return _record(configuration, data, split, watch, table, {"status": status, "reason": reason})


def lost_run(configuration: Mapping[str, Any], root: str | Path | None, reason: str) -> Record:
    """The record of a run that could not tell why it failed, since its process was killed."""
    data, split = _part(configuration, root)
    watch = Watch(configuration["max_epochs"], configuration["score"], ())
    return _record(configuration, data, split, watch, None, {"status": "failed", "reason": reason})


def _part(configuration: Mapping[str, Any], root: str | Path | None) -> tuple[Dataset, Split]:
    """The data of a run, and how they are divided."""
    data = load_dataset(configuration["dataset"], root, configuration["dataset_options"])
    splits = data.splits(configuration["protocol"], configuration["seed"])
    (split,) = (split for split in splits if split.name == configuration["split"])
    return data, split


def _record(
    configuration: Mapping[str, Any],
    data: Dataset,
    split: Split,
    watch: Watch,
    table: Counts | None,
    outcome: Mapping[str, str | None],
) -> Record:
    found = None if table is None else scores(table)
    seconds = watch.seconds[-LAST_EPOCHS:]
    return {
        "format": FORMAT,
        "key": key_of(configuration),
        "code": environment()["liebn"],
        "source": source_digest(),
        "configuration": dict(configuration),
        **outcome,
        "score": None if found is None else found[configuration["score"]],
        "scores": found,
        "history": {
            "train_loss": watch.losses,
            "test_score": watch.scores,
            "seconds": watch.seconds,
        },
        "fit_seconds": float(np.mean(seconds)) if seconds else None,
        "confusion": None if table is None else table.tolist(),
        "classes": list(data.classes),
        "samples": {"train": len(split.train), "test": len(split.test)},
        "simulated": data.simulated,
        "notes": list(data.report),
        "environment": environment(),
        "finished_at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def _what_failed(error: Exception, watch: Watch) -> tuple[str, str]:
    """The status of a run that raised an error, and the reason in one line."""
    # What TorchScript raises, in geoopt, has the reason in its last line.
    text = str(error).strip()
    told = text.splitlines()[-1] if "TorchScript interpreter" in text else text
    reason = textwrap.shorten(
        f"{type(error).__name__}: {told.removeprefix('RuntimeError: ')}", REASON_LENGTH
    )
    numerical = isinstance(error, InvalidPointError) or (
        isinstance(error, RuntimeError) and "linalg." in told
    )
    if numerical and watch.batches:
        # The data were points: it is the weights that have left all bounds.
        return "diverged", f"after {watch.batches} batches {reason}"
    return "failed", reason


def _fit(configuration: Mapping[str, Any], data: Dataset, split: Split, watch: Watch) -> Any:
    """The confusion on the test part, after training on the training part."""
    estimator = build_estimator(configuration, _norm(configuration, data, split), [watch])
    train, test = ({}, {})
    if configuration["network"] == "tsmnet":
        train, test = ({"domains": _domains(data)[part]} for part in (split.train, split.test))
    points, labels = data.points[split.test], data.labels[split.test]

    def test_now() -> Any:
        # Loading batches draws from torch's generator, and training must not notice.
        with torch.random.fork_rng([]):
            predicted = estimator.predict(points, **test)
        return confusion(labels, predicted, len(data.classes))

    watch.test = test_now
    estimator.fit(data.points[split.train], data.labels[split.train], **train)
    table = test_now()
    watch.end(table)
    return table


def _norm(configuration: Mapping[str, Any], data: Dataset, split: Split) -> Norm | None:
    domains = Domains()
    if configuration["network"] == "tsmnet":
        count = len(np.unique(_domains(data)[split.train]))
        in_batch = min(count, configuration["network_options"]["domains_per_batch"])
        domains = Domains(count, in_batch)
    return build_norm(configuration["norm"], configuration["network"], domains)


def _domains(data: Dataset) -> Any:
    return np.zeros(len(data), dtype=np.int64) if data.domains is None else data.domains
