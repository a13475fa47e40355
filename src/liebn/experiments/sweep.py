"""Many runs, in parallel, resumed where a sweep was cut off."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed, parallel_config

from liebn.datasets import Dataset
from liebn.experiments.configuration import Configuration, key_of
from liebn.experiments.display import Display, make_display
from liebn.experiments.errors import ExperimentError
from liebn.experiments.listeners import Post, TensorBoard
from liebn.experiments.run import run
from liebn.experiments.store import Claim, Record, Store

POLL_SECONDS = 1.0
CONNECT_SECONDS = 10


@dataclass(frozen=True)
class Means:
    """How a sweep is carried out; nothing of it changes a number.

    Attributes:
        data: the data root.
        jobs: processes, of one thread each.
        cluster: the address of a Dask scheduler, which then has the jobs.
        tensorboard: TensorBoard's folder.
        retry: make failed runs again.
    """

    data: str | None = None
    jobs: int = 1
    cluster: str | None = None
    tensorboard: Path | None = None
    retry: bool = False


def sweep(
    configurations: Sequence[Configuration], store: Store, means: Means, data: Dataset
) -> list[Record]:
    """Make all runs that have no record yet; the records of all, in the order of configurations.

    Args:
        configurations: of the runs.
        store: where the records are.
        means: how it is carried out.
        data: what the runs are made on; records of other data are refused.
    """
    keys = {key_of(c): c for c in configurations}
    found = {key: store.find(c, key) for key, c in keys.items()}
    _require_same_data(found, store, data)
    missing = {key: c for key, c in keys.items() if not _settled(found[key], means)}
    with ExitStack() as stack:
        posts = None
        if means.cluster is None:
            posts = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="liebn-")))
        if missing:
            stack.enter_context(_backend(means))
            known = len(keys) - len(missing)
            display = stack.enter_context(closing(make_display(len(keys), known, posts)))
            if known:
                display.say(f"{known} of {len(keys)} runs have a record already")
            _make(missing, store, means, display, posts)
    records = [store.read(c["experiment"], key) for key, c in keys.items()]
    return [record for record in records if record is not None]


def _settled(record: Record | None, means: Means) -> bool:
    return record is not None and not (means.retry and record["status"] == "failed")


def _require_same_data(found: Mapping[str, Record | None], store: Store, data: Dataset) -> None:
    """Refuse to put runs on simulated and on measured data, or on other classes, into one table."""
    kinds = {True: "simulated", False: "measured"}
    for key, record in found.items():
        if record is None:
            continue
        of_record, at_hand = (
            f"{kinds[simulated]} data of {len(classes)} classes"
            for simulated, classes in (
                (record["simulated"], record["classes"]),
                (data.simulated, data.classes),
            )
        )
        if of_record != at_hand:
            path = store.path(record["configuration"]["experiment"], key)
            raise ExperimentError(
                f"{path}: expected a record of {at_hand}, as they are found now, got one of "
                f"{of_record}; choose another folder with --results"
            )


def _make(
    missing: Mapping[str, Configuration],
    store: Store,
    means: Means,
    display: Display,
    posts: Path | None,
) -> None:
    """Make runs until all have a record, waiting for those that another sweep makes."""
    remaining = dict(missing)
    claims: dict[str, Claim] = {}
    told = False

    def finish(record: Record) -> None:
        remaining.pop(record["key"], None)
        display.finished(record)

    def tasks() -> Iterator[Any]:
        for key, configuration in list(remaining.items()):
            claim = store.claim(key)
            if claim is None:
                continue
            record = store.find(configuration, key)
            if record is not None and _settled(record, means):  # by another sweep, meanwhile
                claim.release()
                finish(record)
                continue
            claims[key] = claim
            display.started(key, configuration)
            yield delayed(_task)(configuration, means.data, posts, means.tensorboard)

    try:
        while remaining:
            before = len(remaining)
            # Runs are claimed as they are handed out, so that a second sweep finds others to make.
            parallel = Parallel(
                return_as="generator_unordered", pre_dispatch="n_jobs", batch_size=1
            )
            for record in parallel(tasks()):
                store.write(record)
                claims.pop(record["key"]).release()
                finish(record)
            if remaining and len(remaining) == before:
                if not told:
                    display.say(f"waiting for {len(remaining)} runs that another sweep is making")
                    told = True
                time.sleep(POLL_SECONDS)
    finally:
        for claim in claims.values():
            claim.release()


def _task(
    configuration: Configuration, data: str | None, posts: Path | None, tensorboard: Path | None
) -> Record:
    """One run, in a process of its own."""
    with ExitStack() as stack:
        listeners: list[Any] = []
        post = None if posts is None else posts / f"{key_of(configuration)}.json"
        if post is not None:
            stack.callback(post.unlink, missing_ok=True)
            listeners.append(Post(post))
        if tensorboard is not None:
            listeners.append(stack.enter_context(closing(TensorBoard(tensorboard, configuration))))
        return run(configuration, data, listeners)


@contextmanager
def _backend(means: Means) -> Iterator[None]:
    if means.cluster is None:
        if means.jobs == 1:
            with parallel_config(backend="sequential"):
                yield
        else:
            with parallel_config(backend="loky", n_jobs=means.jobs, inner_max_num_threads=1):
                yield
        return
    try:
        from distributed import Client
    except ImportError:
        raise ExperimentError("--cluster needs Dask: run  pip install 'liebn[cluster]'") from None
    try:
        client = Client(means.cluster, timeout=CONNECT_SECONDS)  # type: ignore[no-untyped-call]
    except (OSError, TimeoutError, ValueError) as error:
        raise ExperimentError(
            f"no Dask scheduler at {means.cluster} ({type(error).__name__}); start one with  "
            "dask scheduler"
        ) from None
    with client, parallel_config(backend="dask", n_jobs=-1):
        yield
