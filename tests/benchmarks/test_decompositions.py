"""How many eigendecompositions a training step makes: the number that its speed hangs on."""

import pytest
import torch
from torch import nn

from benchmarks import data
from benchmarks.decompositions import Decompositions
from liebn import LieBatchNorm, groups
from liebn.groups.mean import RULES

BATCH, N = 12, 5

COUNTS = [
    ("aim", 1.0, "reference", 2),
    ("aim", 1.0, "fast", 2),
    ("aim", 0.5, "reference", 4),
    ("aim", 0.5, "fast", 4),
    ("aim", -0.5, "fast", 4),
    ("aim", 1.5, "fast", 4),
    ("gyro-aim", 1.0, "reference", 2),
    ("gyro-aim", 1.0, "fast", 2),
    ("lem", 1.0, "exact", 2),
    ("lem", 1.0, "fast", 2),
    ("alem", 1.0, "exact", 4),
    ("lcm", 1.0, "exact", 0),
    ("lcm", 0.5, "exact", 2),
    ("lcm", -0.5, "exact", 2),
]
"""Batched eigendecompositions of a step: metric, θ, statistics, number."""


def spd_layer(metric: str, theta: float, mode: str) -> nn.Module:
    return LieBatchNorm(groups.spd(N, metric, theta), statistics=mode, dtype=torch.float64)


def test_it_counts_batched_and_single_ones_apart() -> None:
    x = data.matrices(BATCH, N, torch.float64)
    with Decompositions() as counted:
        torch.linalg.eigh(x)
        torch.linalg.eigvalsh(x)
        torch.linalg.svd(x)
        torch.linalg.cholesky(x)
        torch.linalg.eigh(x[0])
    assert counted.batched == {"eigh": 2, "svd": 1, "cholesky": 1}
    assert counted.single == {"eigh": 1}


def test_it_counts_in_backward_passes() -> None:
    x = data.matrices(BATCH, N, torch.float64).requires_grad_()
    y = torch.linalg.cholesky(x) * 1.0
    y.register_hook(lambda g: g + 0 * torch.linalg.eigvalsh(x.detach()).sum())
    with Decompositions() as counted:
        torch.autograd.grad(y.sum(), x)
    assert counted.batched["eigh"] == 1


@pytest.mark.parametrize("metric,theta,mode,number", COUNTS)
def test_training_makes_no_more_than_it_needs(
    metric: str, theta: float, mode: str, number: int
) -> None:
    x = data.matrices(BATCH, N, torch.float64).requires_grad_()
    layer = spd_layer(metric, theta, mode).train()
    with Decompositions() as forward:
        y = layer(x)
    assert forward.batched["eigh"] == number
    assert forward.batched["svd"] == 0
    with Decompositions() as backward:
        y.square().sum().backward()
    assert backward.batched["eigh"] + backward.batched["svd"] == 0


@pytest.mark.parametrize("theta,around", [(1.0, 0), (0.5, 2)])
def test_the_exact_mean_costs_one_per_step_and_its_gradient_none(theta: float, around: int) -> None:
    x = data.matrices(BATCH, N, torch.float64).requires_grad_()
    layer = spd_layer("aim", theta, "exact").train()
    with Decompositions() as forward:
        y = layer(x)
    # Newton's method converges quadratically; the last of them serves variance and scaling.
    assert 2 <= forward.batched["eigh"] - around <= 5
    with Decompositions() as backward:
        y.square().sum().backward()
    assert backward.batched["eigh"] + backward.batched["svd"] == 0


@pytest.mark.parametrize(
    "metric,theta,number", [("aim", 1.0, 1), ("aim", 0.5, 3), ("lem", 1.0, 2), ("lcm", 1.0, 0)]
)
def test_evaluation_decomposes_the_batch_once(metric: str, theta: float, number: int) -> None:
    x = data.matrices(BATCH, N, torch.float64)
    layer = spd_layer(metric, theta, "exact").eval()
    with Decompositions() as counted:
        layer(x)
    assert counted.batched["eigh"] == number


TIGHT = [
    ("aim", 1.0, torch.float64, 4),
    ("aim", 1.0, torch.float32, 4),
    ("aim", 0.5, torch.float32, 6),
    ("gyro-aim", 1.0, torch.float64, 4),
]
"""Metric, θ, dtype, most eigendecompositions of an exact step on tight, badly conditioned batches.

There the dispersion is known to eps times the condition of the mean only. A search that takes
such noise for growth takes back right steps, and halves them until it gives up.
"""


@pytest.mark.parametrize("metric,theta,dtype,most", TIGHT)
def test_rounding_does_not_prolong_a_search(
    metric: str, theta: float, dtype: torch.dtype, most: int
) -> None:
    for n, seed in ((20, 0), (20, 1), (30, 0)):
        x = data.matrices(30, n, dtype, "tight", seed)
        layer = LieBatchNorm(groups.spd(n, metric, theta), dtype=dtype).train()
        with Decompositions() as counted:
            layer(x)
        assert counted.batched["eigh"] <= most


@pytest.mark.parametrize("metric", ["aim", "gyro-aim"])
def test_rounding_does_not_undo_a_newton_step(metric: str) -> None:
    space = groups.spd(20, metric)
    for seed in range(3):
        x = data.matrices(50, 20, torch.float64, "tight", seed)
        mean = space.mean(x)
        fast = space.centre(x, rule=RULES["fast"]).mean
        assert space.distance(mean, fast) <= 1e-3 * space.distance(mean, x.mean(0))
