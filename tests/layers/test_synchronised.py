"""Two processes give what one process gives on the joined batch.

The processes are real, connected by gloo over the loopback interface; one pair of them computes all
cases that must succeed, another all that must be refused.
"""

import time

import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from liebn import LieBatchNorm
from liebn.groups import Euclidean
from liebn.nn import convert_sync_lie_batchnorm
from tests.layers.processes import BAD, WORLD, cases, everything, run
from tests.layers.tolerances import close

pytestmark = pytest.mark.distributed

DEADLINE = 240
"""Seconds for all cases of a pair together; a hanging case ends much earlier."""

GOOD = cases()


def spawn(folder, good):
    """The outcomes of every process."""
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)  # a free port
    context = mp.spawn(run, (store.port, str(folder), good), nprocs=WORLD, join=False)
    try:
        deadline = time.monotonic() + DEADLINE
        while not context.join(timeout=deadline - time.monotonic()):  # until the last one ends
            assert time.monotonic() < deadline, "a process is still running at the deadline"
    finally:
        for process in context.processes:
            process.kill()
    return [torch.load(folder / f"{rank}.pt", weights_only=True) for rank in range(WORLD)]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return spawn(tmp_path_factory.mktemp("good"), good=True)


@pytest.fixture(scope="module")
def refused(tmp_path_factory):
    return spawn(tmp_path_factory.mktemp("bad"), good=False)


@pytest.mark.parametrize("name", GOOD)
def test_two_processes_equal_one(name, found):
    parts = [results[name] for results in found]
    assert not any("failed" in p for p in parts), [p.get("failed") for p in parts]
    expected = GOOD[name][1](everything)
    law = "search" if name.split()[1] != "fast" else "formula"
    for key, whole in expected.items():
        pieces = [p[key] for p in parts]
        if key.startswith("same"):
            for piece in pieces:
                close(piece, whole, law)
                assert torch.equal(piece, pieces[0]), f"{key} differs between processes"
        elif key.startswith("summed"):
            close(sum(pieces), whole, law)
        else:
            close(torch.cat(pieces), whole, law)


@pytest.mark.parametrize("name", BAD)
def test_every_process_refuses_a_batch_that_is_bad_on_one(name, refused):
    for results in refused:
        outcome = results[name]
        assert outcome["clear"], outcome["raised"]
        assert outcome["unchanged"], "the state of the layer has changed"


@pytest.mark.parametrize("name", [name for name in BAD if name.startswith(("nan", "no point"))])
def test_the_process_with_the_bad_sample_names_it(name, refused):
    assert "other process" in refused[0][name]["raised"]
    assert "sample [2]" in refused[1][name]["raised"]


def test_conversion_reaches_every_layer_of_a_network():
    norm = LieBatchNorm(Euclidean(2))
    network = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Sequential(norm))
    assert convert_sync_lie_batchnorm(network, "group") is network
    assert norm.synchronised
    assert norm.process_group == "group"
    assert "synchronised=True" in repr(network)


def test_evaluation_needs_no_process_group(generator):
    layer = convert_sync_lie_batchnorm(LieBatchNorm(Euclidean(2))).eval()
    x = torch.randn(3, 2, generator=generator)
    close(layer(x), LieBatchNorm(Euclidean(2)).eval()(x))
