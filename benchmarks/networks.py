"""Seconds per training epoch of SPDNet, with each normalization and without, on random data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import nn

from benchmarks import data
from benchmarks.contenders import peer_of
from benchmarks.timing import Seconds, Step, interleave
from liebn.models import SPDNet, SPDNorm
from liebn.nn.baselines import SPDNetBN

LEARNING_RATE = 5e-3


@dataclass(frozen=True)
class Problem:
    """A training set of the size of one in the paper, and the paper's seconds per epoch.

    Attributes:
        name: of the data set.
        samples: for training.
        classes: how many there are.
        sizes: of the matrices in the network.
        batch: samples in a step.
        published: seconds per epoch by normalization, as published.
    """

    name: str
    samples: int
    classes: int
    sizes: tuple[int, ...]
    batch: int = 30
    published: dict[str, float] = field(default_factory=dict)


PAPER = (
    Problem(
        "Radar",
        1500,
        3,
        (20, 16, 8),
        published={
            "none": 0.98,
            "SPDNetBN": 1.56,
            "AIM": 1.62,
            "LEM": 1.28,
            "LCM": 1.11,
            "LCM θ=-0.5": 1.43,
        },
    ),
    Problem(
        "HDM05",
        1043,
        117,
        (93, 30),
        published={
            "none": 0.57,
            "SPDNetBN": 0.97,
            "AIM": 1.14,
            "LEM": 0.87,
            "LCM": 0.66,
            "AIM θ=1.5": 1.46,
            "LCM θ=0.5": 1.01,
        },
    ),
    Problem(
        "FPHA",
        600,
        45,
        (63, 33),
        published={
            "none": 0.32,
            "SPDNetBN": 0.62,
            "AIM": 0.80,
            "LEM": 0.55,
            "LCM": 0.39,
            "AIM θ=1.5": 1.03,
            "LCM θ=0.5": 0.65,
        },
    ),
)
"""Fit times of the paper's table of SPDNet on Radar, HDM05 and FPHA."""

NORMS: dict[str, tuple[str, Callable[[int], nn.Module] | None]] = {
    "none": ("none", None),
    "SPDNetBN": ("SPDNetBN", SPDNetBN),
}
"""Normalization of a network by name, with the name under which the paper has it."""
for _metric, _theta, _name in (
    ("aim", 1.0, "AIM"),
    ("aim", 1.5, "AIM θ=1.5"),
    ("lem", 1.0, "LEM"),
    ("lcm", 1.0, "LCM"),
    ("lcm", 0.5, "LCM θ=0.5"),
    ("lcm", -0.5, "LCM θ=-0.5"),
):
    for _mode in ("exact", "fast", "reference") if _metric == "aim" else ("exact",):
        _norm = SPDNorm(_metric, _theta, statistics=_mode)
        NORMS[f"{_name} {_mode}"] = (_name, _norm)


def _peer(size: int) -> nn.Module:
    from spd_learn.modules import SPDBatchNormLie

    return SPDBatchNormLie(size, dtype=torch.float64)


NORMS[peer_of("aim", 1.0)] = ("AIM", _peer)


def epoch(problem: Problem, norm: Callable[[int], nn.Module] | None) -> Step:
    """One epoch of training in float64 by Riemannian AMSGrad, as published."""
    from geoopt.optim import RiemannianAdam

    torch.manual_seed(0)
    x = data.matrices(problem.samples, problem.sizes[0], torch.float64)
    y = torch.randint(problem.classes, (problem.samples,))
    network = SPDNet(problem.sizes, problem.classes, norm, dtype=torch.float64).train()
    optimizer = RiemannianAdam(network.parameters(), lr=LEARNING_RATE, amsgrad=True)
    loss_of = nn.CrossEntropyLoss()
    batches = list(zip(x.split(problem.batch), y.split(problem.batch), strict=True))

    def step() -> None:
        for points, labels in batches:
            optimizer.zero_grad()
            loss_of(network(points), labels).backward()
            optimizer.step()

    return step


def measure(problem: Problem, rounds: int, progress: Callable[[], object]) -> Seconds:
    """Seconds per epoch with every normalization."""
    steps = {name: epoch(problem, norm) for name, (_, norm) in NORMS.items()}
    return interleave(steps, rounds, warm_up=1, progress=progress)
