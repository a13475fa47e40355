"""Ten thousand steps: nothing becomes infinite, and no memory is kept."""

import gc
from itertools import pairwise

import psutil
import pytest
import torch

from liebn import DomainLieBatchNorm, LieBatchNorm
from liebn.groups import SO, spd
from tests.hardening.near_singular import METRICS, STEPS, train
from tests.layers.spaces import points

WARM_UP, WINDOW, WINDOWS = 30, 25, 4
ALLOWED = 1 << 20
"""Bytes by which every window may exceed the one before: 42 kB a step."""


@pytest.mark.parametrize("metric", METRICS)
def test_near_singular_matrices_in_float32_stay_finite(metric):
    """The beginning; `python -m tests.hardening.near_singular` makes ten thousand steps of each."""
    train(metric, 40)


@pytest.mark.slow
def test_ten_thousand_steps_on_near_singular_matrices_stay_finite():
    """The cheapest metric, from end to end."""
    train("lcm", STEPS)


SOAKED = {
    "aim": (spd(12), 64, LieBatchNorm, ()),
    "lcm": (spd(12, "lcm"), 64, LieBatchNorm, ()),
    "so": (SO(3), 1024, LieBatchNorm, ()),
    "domains": (
        spd(12, "lem"),
        64,
        lambda s, **o: DomainLieBatchNorm(s, 4, **o),
        (torch.arange(64) % 4,),
    ),
}


@pytest.mark.parametrize("name", SOAKED)
def test_a_long_training_keeps_no_memory(name, generator):
    """A step that kept one of its tensors, such as its output, would keep 74 kB each time."""
    space, count, make, rest = SOAKED[name]
    layer = make(space, statistics="fast", dtype=torch.float64)
    optimiser = torch.optim.SGD(layer.parameters(), lr=1e-6)
    x = points(space, count, generator=generator)
    process = psutil.Process()

    def steps(count):
        for _ in range(count):
            optimiser.zero_grad()
            layer(x.clone().requires_grad_(), *rest).square().sum().backward()
            optimiser.step()
        gc.collect()
        return process.memory_info().rss

    steps(WARM_UP)
    sizes = [steps(WINDOW) for _ in range(WINDOWS)]
    # Whatever else the process does may grow it once; what every step keeps grows every window.
    growth = min(b - a for a, b in pairwise(sizes))
    assert growth < ALLOWED


def test_the_soak_would_notice(generator):
    """The same measure on a step that keeps its output."""
    kept, process = [], psutil.Process()

    def keep():
        kept.extend(torch.randn(64, 12, 12, dtype=torch.float64) for _ in range(WINDOW))
        return process.memory_info().rss

    before = process.memory_info().rss
    while keep() < before + 8 * ALLOWED:
        pass  # what other tests have given back is used up first
    sizes = [keep() for _ in range(WINDOWS)]
    assert min(b - a for a, b in pairwise(sizes)) > ALLOWED
