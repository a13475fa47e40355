"""Many runs, in parallel, resumed where a sweep was cut off."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky.process_executor import BrokenProcessPool

from liebn.datasets import Dataset
from liebn.experiments.configuration import Configuration, key_of
from liebn.experiments.display import Display, make_display
from liebn.experiments.errors import ExperimentError
from liebn.experiments.listeners import Post, TensorBoard
from liebn.experiments.run import lost_run, run
from liebn.experiments.store import Claim, Record, Store

POLL_SECONDS = 1.0
CONNECT_SECONDS = 10
MOST_LOSSES = 2
"""How often a run may be under way when a process is killed, before it counts as failed."""


@dataclass(frozen=True)
class Means:
    """How a sweep is carried out; nothing of it changes a number.

    Attributes:
        data: the data root.
        jobs: processes, of one thread each.
        cluster: the address of a Dask scheduler, which then has the jobs.
        tensorboard: TensorBoard's folder.
        retry: make runs again that failed or diverged.
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
            lost = stack.enter_context(_backend(means))
            known = len(keys) - len(missing)
            display = stack.enter_context(closing(make_display(len(keys), known, posts)))
            if known:
                display.say(f"{known} of {len(keys)} runs have a record already")
            _Sweep(missing, store, means, display, posts).make(lost)
    records = [store.read(c["experiment"], key) for key, c in keys.items()]
    return [record for record in records if record is not None]


def _settled(record: Record | None, means: Means) -> bool:
    return record is not None and not (means.retry and record["status"] != "finished")


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


class _Sweep:
    """The runs that have no record yet, on their way to one.

    Args:
        missing: their configurations, by key.
        store: where the records go.
        means: how it is carried out.
        display: is told.
        posts: where runs write their epochs.
    """

    def __init__(
        self,
        missing: Mapping[str, Configuration],
        store: Store,
        means: Means,
        display: Display,
        posts: Path | None,
    ) -> None:
        self.remaining = dict(missing)
        self.store, self.means, self.display, self.posts = store, means, display, posts
        self.claims: dict[str, Claim] = {}
        self.losses: Counter[str] = Counter()

    def make(self, lost: tuple[type[Exception], ...]) -> None:
        """Make runs until all have a record, waiting for those that another sweep makes.

        Args:
            lost: what is raised where a process that makes runs is killed.
        """
        told = False
        try:
            while self.remaining:
                before = len(self.remaining)
                try:
                    self._make_those_free()
                except lost:
                    self._after_a_loss()
                    continue
                if self.remaining and len(self.remaining) == before:
                    if not told:
                        self.display.say(f"waiting for {before} runs that another sweep is making")
                        told = True
                    time.sleep(POLL_SECONDS)
        finally:
            for claim in self.claims.values():
                claim.release()

    def _make_those_free(self) -> None:
        # Runs are claimed as they are handed out, so that a second sweep finds others to make.
        parallel = Parallel(return_as="generator_unordered", pre_dispatch="n_jobs", batch_size=1)
        for record in parallel(self._tasks()):
            self._finish(record)

    def _tasks(self) -> Iterator[Any]:
        for key, configuration in list(self.remaining.items()):
            claim = self.store.claim(key)
            if claim is None:
                continue
            record = self.store.find(configuration, key)
            if record is not None and _settled(record, self.means):  # by another sweep, meanwhile
                claim.release()
                self._show(record)
                continue
            self.claims[key] = claim
            self.display.started(key, configuration)
            yield delayed(_task)(configuration, self.means.data, self.posts, self.means.tensorboard)

    def _finish(self, record: Record) -> None:
        self.store.write(record)
        self.claims.pop(record["key"]).release()
        self._show(record)

    def _show(self, record: Record) -> None:
        del self.remaining[record["key"]]
        self.display.finished(record)

    def _after_a_loss(self) -> None:
        """Give up runs that were under way again; which of them is to blame is not known."""
        self.display.say("a process was killed, perhaps for want of memory: its runs begin anew")
        self.losses.update(list(self.claims))
        for key in list(self.claims):
            if self.losses[key] == MOST_LOSSES:
                reason = f"its process was killed {MOST_LOSSES} times, perhaps for want of memory"
                self._finish(lost_run(self.remaining[key], self.means.data, reason))
            else:
                self.claims.pop(key).release()


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
def _backend(means: Means) -> Iterator[tuple[type[Exception], ...]]:
    """Where joblib makes the runs; gives what is raised if a process there is killed."""
    if means.cluster is None:
        if means.jobs == 1:
            with parallel_config(backend="sequential"):
                yield ()
        else:
            with parallel_config(backend="loky", n_jobs=means.jobs, inner_max_num_threads=1):
                yield (BrokenProcessPool,)
        return
    try:
        from distributed import Client, KilledWorker
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
        yield (KilledWorker,)
