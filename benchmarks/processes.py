"""Whether two processes of one thread each, on two cores, do twice the work of one."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection
from time import perf_counter, process_time
from typing import NamedTuple

import numpy as np
import torch

from benchmarks import data
from benchmarks.timing import Ratio, settle_heap, training_step
from liebn import LieBatchNorm, groups


class Throughput(NamedTuple):
    """Work per second of two processes, relative to one.

    Attributes:
        wall: by the clock on the wall, which counts waiting for other users of the machine too.
        processor: by processor time, which counts only what the two cost each other.
    """

    wall: Ratio
    processor: Ratio


def work(calls: Connection, batch: int, n: int) -> None:
    """Take as many training steps as asked for, and answer with their processor time, until 0."""
    torch.set_num_threads(1)
    settle_heap()
    x = data.matrices(batch, n, torch.float64)
    layer = LieBatchNorm(groups.spd(n), dtype=torch.float64)
    step = training_step(layer, x, torch.ones_like(x))
    while steps := calls.recv():
        start = process_time()
        for _ in range(steps):
            step()
        calls.send(process_time() - start)


def _together(calls: list[Connection], steps: int) -> tuple[float, float]:
    """Wall-clock seconds until all are done, and the mean of their processor times."""
    start = perf_counter()
    for call in calls:
        call.send(steps)
    processor = [call.recv() for call in calls]
    return perf_counter() - start, float(np.mean(processor))


def measure(
    batch: int, n: int, steps: int, rounds: int, progress: Callable[[], object]
) -> Throughput:
    """In every round each works alone, and then both together."""
    context = multiprocessing.get_context("spawn")
    pairs = [context.Pipe() for _ in range(2)]
    workers = [context.Process(target=work, args=(theirs, batch, n)) for _, theirs in pairs]
    calls = [ours for ours, _ in pairs]
    for worker in workers:
        worker.start()
    try:
        _together(calls, steps)
        walls, processors = [], []
        for _ in range(rounds):
            alone = np.mean([_together([call], steps) for call in calls], 0)
            both = _together(calls, steps)
            walls.append(2 * alone[0] / both[0])
            processors.append(2 * alone[1] / both[1])
            progress()
        for call in calls:
            call.send(0)
    finally:
        for worker in workers:
            worker.join(timeout=5)
            worker.terminate()
    return Throughput(Ratio.of(np.array(walls)), Ratio.of(np.array(processors)))
