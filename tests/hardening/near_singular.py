"""A long training on matrices that are barely positive definite, in float32.

`python -m tests.hardening.near_singular [STEPS]` makes it under every metric and prints what it
found; ten thousand steps of each are what the library is held to.
"""

from __future__ import annotations

import sys
import time

import torch
from torch import Tensor, nn

from liebn.models import SPDNorm
from liebn.nn import BiMap, LogEig, ReEig

METRICS = ("aim", "lem", "lcm", "gyro-aim", "crim")
STEPS = 10_000
N, CLASSES, BATCH = 5, 3, 12
CONDITION = 1e5
"""The worst for which precision is promised in float32; 1e7 is the worst it can hold at all."""


def batch(generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Matrices of this condition about three centres, with half of their eigenvalues tiny."""
    labels = torch.randint(CLASSES, (BATCH,), generator=generator)
    noise = torch.randn(BATCH, N, N, generator=generator, dtype=torch.float64)
    basis = torch.linalg.qr(noise + 3 * labels[:, None, None] * torch.eye(N)).Q
    exponents = torch.rand(BATCH, N, generator=generator, dtype=torch.float64)
    exponents[:, :2] = 1 - 0.1 * exponents[:, :2]
    exponents[:, 2:] = 0.2 * exponents[:, 2:]
    x = (basis * CONDITION ** -exponents.unsqueeze(-2)) @ basis.mT
    return (0.5 * (x + x.mT)).float(), labels


def network(metric: str) -> nn.Module:
    """BiMap → norm → ReEig → BiMap → norm → LogEig → Linear: the first norm meets the data."""
    norm = SPDNorm(metric, statistics="fast")
    layers = [BiMap(N, N, weight="parametrized"), norm(N), ReEig()]
    layers += [BiMap(N, 3, weight="parametrized"), norm(3), LogEig(), nn.Linear(6, CLASSES)]
    return nn.Sequential(*layers)


def train(metric: str, steps: int) -> nn.Module:
    """Train for so many steps; raises where a loss, a gradient or a state is not finite."""
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    model = network(metric)
    optimiser = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(steps):
        x, labels = batch(generator)
        loss = nn.functional.cross_entropy(model(x), labels)
        optimiser.zero_grad()
        loss.backward()
        gradients = [p.grad for p in model.parameters() if p.grad is not None]
        if not all(bool(torch.isfinite(t).all()) for t in (loss.detach(), *gradients)):
            raise FloatingPointError(f"{metric}: not finite in step {step}")
        optimiser.step()
    if not all(bool(torch.isfinite(t).all()) for t in model.state_dict().values()):
        raise FloatingPointError(f"{metric}: a state that is not finite")
    return model


def main() -> int:
    """All metrics; 1 if any failed."""
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else STEPS
    torch.set_num_threads(1)
    failed = 0
    for metric in METRICS:
        start = time.process_time()
        try:
            train(metric, steps)
            text = "finite"
        except (ValueError, FloatingPointError) as error:
            text, failed = f"{type(error).__name__}: {error}", 1
        seconds = time.process_time() - start
        print(f"{metric:9}{steps:7} steps  {seconds:7.1f} s  {text}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
