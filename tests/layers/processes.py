"""What each of two processes computes when statistics are synchronised; a test compares.

A case is a function of the part of the batch that a process holds. Every process runs every case,
catches what it raises, and saves all outcomes to a file.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from liebn import DomainLieBatchNorm, LieBatchNorm, MomentumLieBatchNorm
from liebn.groups import SO, Euclidean, Gyrogroup, spd
from liebn.nn import convert_sync_lie_batchnorm
from tests.layers.spaces import CATALOG, points

WORLD = 2
PATIENCE = datetime.timedelta(seconds=10)
"""After which a process that waits for another gives up."""

NAMES = ("euclidean", "spd-lem", "spd-lcm", "spd-aim", "spd-gyro-aim", "so")
MODES = ("exact", "fast", "reference")
SPLITS = {"even": 4, "uneven": 2, "empty": 0, "empty at the end": 8}
"""How many of the eight samples the first process holds."""

Outcome = dict[str, Any]
Part = Callable[[Tensor], Tensor]


def everything(x: Tensor) -> Tensor:
    """The whole batch: what one process sees."""
    return x


def part_of(rank: int, first: int) -> Part:
    """The samples that a process of two holds."""
    return lambda x: x[:first] if rank == 0 else x[first:]


def seeded(space: Gyrogroup, *sizes: int, spread: float = 0.25) -> Tensor:
    """The same batch on every process."""
    return points(space, *sizes, generator=torch.Generator().manual_seed(11), spread=spread)


def set_parameters(layer: torch.nn.Module) -> None:
    """The same parameters on every process, not the neutral ones."""
    generator = torch.Generator().manual_seed(12)
    with torch.no_grad():
        for p in layer.parameters():
            p.add_(0.2 * torch.randn(p.shape, generator=generator, dtype=p.dtype))


def outcome(layer: torch.nn.Module, part: Part, x: Tensor, *others: Tensor) -> Outcome:
    """Two training steps and one of evaluation: outputs, gradients and running averages."""
    if part is not everything:
        convert_sync_lie_batchnorm(layer)
    set_parameters(layer)
    along = torch.linspace(-1, 1, x.numel(), dtype=x.dtype).reshape(x.shape)
    result: Outcome = {}
    for number in range(2):
        own = part(x.roll(number, 0)).clone().requires_grad_()
        y = layer(own, *(part(o) for o in others))
        layer.zero_grad()
        (y * part(along)).sum().backward()
        result[f"output {number}"] = y.detach()
        result[f"input gradient {number}"] = own.grad
        for name, p in layer.named_parameters():
            result[f"summed {number} {name}"] = p.grad
    result["evaluation"] = layer.eval()(part(x), *(part(o) for o in others)).detach()
    for name, b in layer.named_buffers():
        result[f"same {name}"] = b.clone()
    return result


def plain(part: Part, name: str, mode: str) -> Outcome:
    """LieBatchNorm."""
    layer = LieBatchNorm(CATALOG[name], statistics=mode, dtype=torch.float64)
    return outcome(layer, part, seeded(CATALOG[name], 8))


def larger(part: Part, name: str) -> Outcome:
    """Channels, extra dimensions, and torch's correction."""
    layer = LieBatchNorm(CATALOG[name], 2, correction=1, dtype=torch.float64)
    return outcome(layer, part, seeded(CATALOG[name], 8, 2, 3))


def weighted(part: Part, name: str) -> Outcome:
    """Weights that are zero for all that the first process holds."""
    weights = torch.tensor([0.0, 0, 1, 0.5, 2, 1, 1, 1], dtype=torch.float64)
    layer = LieBatchNorm(CATALOG[name], momentum=None, dtype=torch.float64)
    return outcome(layer, part, seeded(CATALOG[name], 8).roll(1, 0), weights)


def momentum(part: Part, name: str) -> Outcome:
    """MomentumLieBatchNorm in the middle of its schedule."""
    layer = MomentumLieBatchNorm(CATALOG[name], schedule=(5, 0.3), dtype=torch.float64)
    layer.set_epoch(3)
    return outcome(layer, part, seeded(CATALOG[name], 8))


def domains(part: Part, name: str, mixed: bool) -> Outcome:
    """DomainLieBatchNorm, with domains of their own on each process or with some in common."""
    domain = torch.tensor([4, 4, 7, 7, 9, 9, 9, 9] if not mixed else [4, 7, 4, 7, 4, 9, 7, 4])
    layer = DomainLieBatchNorm(CATALOG[name], [4, 7, 9, 11], gamma=0.3, dtype=torch.float64)
    return outcome(layer, part, seeded(CATALOG[name], 8), domain)


def new_domains(part: Part, name: str) -> Outcome:
    """Domains that the layer meets for the first time, some on one process only."""
    domain = torch.tensor([9, 4, 9, 4, 4, 9, -2, 9])
    layer = DomainLieBatchNorm(CATALOG[name], 0, allow_unseen=True, dtype=torch.float64)
    return outcome(layer, part, seeded(CATALOG[name], 8), domain)


def cases() -> dict[str, tuple[int, Callable[[Part], Outcome]]]:
    """Name -> (samples of the first process, what to compute)."""
    found: dict[str, tuple[int, Callable[[Part], Outcome]]] = {}
    for name in NAMES:
        for mode in MODES:
            found[f"{name} {mode}"] = 3, lambda p, n=name, m=mode: plain(p, n, m)
        for split, first in SPLITS.items():
            found[f"{name} {split}"] = first, lambda p, n=name: plain(p, n, "exact")
        found[f"{name} channels"] = 3, lambda p, n=name: larger(p, n)
        found[f"{name} momentum"] = 3, lambda p, n=name: momentum(p, n)
        found[f"{name} own domains"] = 4, lambda p, n=name: domains(p, n, mixed=False)
        found[f"{name} mixed domains"] = 3, lambda p, n=name: domains(p, n, mixed=True)
        found[f"{name} new domains"] = 3, lambda p, n=name: new_domains(p, n)
        found[f"{name} weights"] = 2, lambda p, n=name: weighted(p, n)
    return found


# Batches that one process cannot take. Every process must raise, and keep its averages.


def spoilt(rank: int, bad: float, name: str) -> tuple[torch.nn.Module, tuple[Any, ...]]:
    """A sample that is not finite, or not a point, on the second process."""
    x = seeded(CATALOG[name], 4)
    if rank == 1:
        x[2] *= bad
    return LieBatchNorm(CATALOG[name], dtype=torch.float64), (x,)


def numerically_singular(rank: int, metric: str) -> tuple[torch.nn.Module, tuple[Any, ...]]:
    """A matrix that is positive definite to one algorithm and not to another."""
    space, x = spd(4, metric), seeded(spd(4), 4)
    generator = torch.Generator().manual_seed(1)
    values = torch.tensor([1e-17, 1.0, 2.0, 3.0], dtype=torch.float64)
    while True:
        basis = SO(4).random(generator=generator, dtype=torch.float64)
        odd = (basis * values) @ basis.mT
        odd = 0.5 * (odd + odd.mT)
        if bool(space.violation(odd) < 1) and int(torch.linalg.cholesky_ex(odd)[1]):
            break
    if rank == 1:
        x[2] = odd
    return LieBatchNorm(space, dtype=torch.float64), (x,)


def wrong_shape(rank: int) -> tuple[torch.nn.Module, tuple[Any, ...]]:
    """Vectors of the wrong length on one process."""
    return LieBatchNorm(Euclidean(2)), (torch.ones(3, 2 + rank),)


def wrong_weights(rank: int) -> tuple[torch.nn.Module, tuple[Any, ...]]:
    """Too many weights on one process."""
    return LieBatchNorm(Euclidean(2)), (torch.ones(3, 2), torch.ones(3 + rank))


def unseen_domain(rank: int) -> tuple[torch.nn.Module, tuple[Any, ...]]:
    """A domain that only one process asks for, and that the layer does not know."""
    return DomainLieBatchNorm(Euclidean(2), 2), (torch.ones(3, 2), 9 * rank)


def bad_sample_in_a_domain(rank: int) -> tuple[torch.nn.Module, tuple[Any, ...]]:
    """A matrix that is not positive definite, in a domain of one process."""
    x = seeded(spd(3), 4)
    if rank == 1:
        x[2] = -x[2]
    return DomainLieBatchNorm(spd(3), 4, dtype=torch.float64), (
        x,
        torch.tensor([0, 0, 1, 2]) + rank,
    )


def nothing_at_all(rank: int, name: str) -> tuple[torch.nn.Module, tuple[Any, ...]]:
    """No process has a sample."""
    return LieBatchNorm(CATALOG[name], dtype=torch.float64), (seeded(CATALOG[name], 4)[:0],)


BAD = {
    **{f"nan {n}": lambda r, n=n: spoilt(r, torch.nan, n) for n in NAMES},
    **{f"no point {n}": lambda r, n=n: spoilt(r, -1.0, n) for n in NAMES if n.startswith("spd")},
    "reflection": lambda r: spoilt(r, -1.0, "so"),
    **{f"nothing {n}": lambda r, n=n: nothing_at_all(r, n) for n in NAMES},
    "bad sample in a domain": bad_sample_in_a_domain,
    "singular lcm": lambda r: numerically_singular(r, "lcm"),
    "singular aim": lambda r: numerically_singular(r, "aim"),
    "wrong shape": wrong_shape,
    "wrong weights": wrong_weights,
    "unseen domain": unseen_domain,
}


def refusal(rank: int, make: Callable[[int], tuple[torch.nn.Module, tuple[Any, ...]]]) -> Outcome:
    """The error of a batch, and whether the layer is as before."""
    layer, arguments = make(rank)
    convert_sync_lie_batchnorm(layer)
    before = {k: v.clone() for k, v in layer.state_dict().items()}
    raised, clear = "nothing", False
    try:
        layer(*arguments)
    except Exception as error:
        raised, clear = f"{type(error).__name__}: {error}", isinstance(error, ValueError)
    same = all(torch.equal(v, before[k]) for k, v in layer.state_dict().items())
    return {"raised": raised, "clear": clear, "unchanged": same}


def run(rank: int, port: int, folder: str, good: bool) -> None:
    """The body of a process. Every case has a group of its own, so that none spoils another."""
    torch.set_num_threads(1)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    store = dist.TCPStore("127.0.0.1", port)
    work: dict[str, Callable[[], Outcome]] = {}
    if good:
        for name, (first, compute) in cases().items():
            work[name] = partial(compute, part_of(rank, first))
    else:
        for name, make in BAD.items():
            work[name] = partial(refusal, rank, make)
    results: dict[str, Outcome] = {}
    for name, compute_outcome in work.items():
        dist.init_process_group(
            "gloo",
            store=dist.PrefixStore(name, store),
            rank=rank,
            world_size=WORLD,
            timeout=PATIENCE,
        )
        try:
            results[name] = compute_outcome()
        except Exception as error:
            results[name] = {"failed": f"{type(error).__name__}: {error}"}
        dist.destroy_process_group()
    torch.save(results, Path(folder) / f"{rank}.pt")
