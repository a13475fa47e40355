"""What a layer does on an accelerator, compared with the same on the CPU.

`python -m tests.layers.devices` prints a table for every device of this machine; it needs neither
pytest nor geoopt. An error is relative to the largest entry that the CPU gives, or to 1.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from liebn import DomainLieBatchNorm, LieBatchNorm, MomentumLieBatchNorm
from liebn.groups import SO, Gyrogroup, catalog, spd
from liebn.linalg import InvalidPointError
from liebn.models import LieNet, SPDNet, TSMNet
from liebn.nn import LieGroupNorm, LieInstanceNorm, LieLayerNorm
from tests.laws.samples import condition
from tests.layers.tolerances import error, tolerance

DTYPES = (torch.float64, torch.float32)
LAWS = {torch.float64: "search", torch.float32: "formula"}
"""Values may differ as two searches for one mean do; in float32 rounding is larger than that."""


DOUBLE_ONLY = {"TSMNet"}
"""Cases that compute in float64 whatever they are given."""


def devices() -> list[str]:
    """The accelerators of this machine."""
    found = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    return [name for name, there in found.items() if there]


def dtypes_of(device: str) -> tuple[torch.dtype, ...]:
    """The precisions that a device has."""
    return DTYPES[1:] if device == "mps" else DTYPES


def cases_in(dtype: torch.dtype) -> list[str]:
    """The cases that can be of a dtype."""
    return [name for name in CASES if dtype == torch.float64 or name not in DOUBLE_ONLY]


class Case(NamedTuple):
    """A module, its inputs and what to do with it, all made on the CPU.

    Attributes:
        module: what is tested.
        batches: the arguments of every pass, the first being differentiated.
        after: what else is done to it, once trained.
    """

    module: nn.Module
    batches: list[tuple[Any, ...]]
    after: Callable[[nn.Module, list[tuple[Any, ...]]], None] | None = None


def points(
    space: Gyrogroup, *sizes: int, generator: torch.Generator, spread: float = 0.3
) -> Tensor:
    """Points about a centre, near enough to have one mean."""
    draw = {"generator": generator, "dtype": torch.float64}
    centre, x = space.random(**draw), space.random(*sizes, **draw)
    return space.compose(centre, space.exp(spread * space.log(x))).detach()


def perturbed(layer: nn.Module, generator: torch.Generator) -> nn.Module:
    """Other parameters than those it starts with."""
    with torch.no_grad():
        for p in layer.parameters():
            p.add_(0.2 * torch.randn(p.shape, generator=generator, dtype=p.dtype))
    return layer


def _layer(make: Callable[..., nn.Module], *rest: Any) -> Callable[..., Case]:
    """A layer over two channels, given (batch, channels, extra, *point) three times."""

    def case(space: Gyrogroup, generator: torch.Generator) -> Case:
        batches = [(points(space, 5, 2, 3, generator=generator), *rest) for _ in range(3)]
        return Case(perturbed(make(space, 2).double(), generator), batches)

    return case


def _masked(space: Gyrogroup, generator: torch.Generator) -> Case:
    case = _layer(LieBatchNorm)(space, generator)
    weights = torch.ones(5, 3)
    weights[1, 2] = weights[3] = 0
    return Case(case.module, [(x, weights) for (x,) in case.batches])


def _domains(space: Gyrogroup, generator: torch.Generator) -> Case:
    layer = DomainLieBatchNorm(space, [4, 9], 2, allow_unseen=True).double()
    domains = torch.tensor([4, 9, 7, 9, 4])
    batches = [(points(space, 5, 2, 3, generator=generator), domains) for _ in range(2)]

    def refit(module: nn.Module, inputs: list[tuple[Any, ...]]) -> None:
        module.refit(*inputs[0])
        module.refit(inputs)

    return Case(perturbed(layer, generator), batches, refit)


PER_SPACE: dict[str, Callable[[Gyrogroup, torch.Generator], Case]] = {
    "exact": _layer(LieBatchNorm),
    "fast": _layer(partial(LieBatchNorm, statistics="fast")),
    "reference": _layer(partial(LieBatchNorm, statistics="reference", correction=1)),
    "mean only": _layer(partial(LieBatchNorm, mean_only=True, momentum=None)),
    "masked": _masked,
    "momentum": _layer(partial(MomentumLieBatchNorm, schedule=(3, 0.2))),
    "domains, refit": _domains,
    "instance": _layer(partial(LieInstanceNorm, affine=True, track_running_stats=True)),
    "group": _layer(lambda space, channels: LieGroupNorm(space, 1, channels)),
    "layer": _layer(lambda space, channels: LieLayerNorm(space, (channels, 3))),
}
"""What is done on every space of the catalog."""


def _large(metric: str, generator: torch.Generator) -> Case:
    """Matrices larger than the batched solvers of some devices are made for."""
    batches = [(points(spd(40), 6, generator=generator),) for _ in range(2)]
    return Case(LieBatchNorm(spd(40, metric)).double(), batches)


def _many(generator: torch.Generator) -> Case:
    x = points(SO(3), 40, 5, 100, generator=generator)
    return Case(LieBatchNorm(SO(3), 5).double(), [(x,)])


def _spdnet(generator: torch.Generator) -> Case:
    def norm(n: int) -> nn.Module:
        return LieBatchNorm(spd(n, theta=0.5))

    network = SPDNet([8, 6, 4], 3, norm=norm, weight="parametrized", dtype=torch.float64)
    return Case(network, [(points(spd(8), 6, generator=generator),) for _ in range(2)])


def _tsmnet(generator: torch.Generator) -> Case:
    def norm(n: int) -> nn.Module:
        return DomainLieBatchNorm(spd(n, "lem"), 2)

    options = {"temporal_filters": 2, "temporal_kernel": 5, "spatial_filters": 6, "subspace": 4}
    network = TSMNet(5, 3, norm, weight="parametrized", dtype=torch.float64, **options)
    domains = torch.tensor([0, 0, 0, 1, 1, 1])
    signals = torch.randn(2, 6, 5, 40, generator=generator, dtype=torch.float64)
    return Case(network, [(x, domains) for x in signals])


def _lienet(generator: torch.Generator) -> Case:
    network = LieNet(
        4, 16, 3, lambda n: LieBatchNorm(SO(3), n), blocks=2, weight="parametrized"
    ).double()
    return Case(network, [(points(SO(3), 5, 4, 16, generator=generator),) for _ in range(2)])


ALONE: dict[str, Callable[[torch.Generator], Case]] = {
    "aim, n = 40": partial(_large, "aim"),
    "lem, n = 40": partial(_large, "lem"),
    "lcm, n = 40": partial(_large, "lcm"),
    "gyro-aim, n = 40": partial(_large, "gyro-aim"),
    "so(3), 20000 rotations": _many,
    "SPDNet": _spdnet,
    "TSMNet": _tsmnet,
    "LieNet": _lienet,
}
"""What needs no choice of a space."""

CASES: dict[str, Callable[[torch.Generator], Case]] = ALONE | {
    f"{name}: {what}": lambda g, make=make, space=space: make(space(3), g)
    for name, space in catalog.items()
    for what, make in PER_SPACE.items()
}


def to(value: Any, device: str, dtype: torch.dtype) -> Any:
    """Tensors and modules on a device, of a dtype unless they are whole numbers."""
    if isinstance(value, nn.Module):
        return copy.deepcopy(value).to(device, dtype)
    if isinstance(value, Tensor) and value.is_floating_point():
        return value.to(device, dtype)
    return value.to(device) if isinstance(value, Tensor) else value


def outcome(case: Case, device: str, dtype: torch.dtype) -> tuple[nn.Module, dict[str, Tensor]]:
    """All that a module gives in training and then in evaluation, and its state."""
    module = to(case.module, device, dtype)
    batches = [tuple(to(v, device, dtype) for v in batch) for batch in case.batches]
    found: dict[str, Tensor] = {}

    def passes(mode: str) -> None:
        for i, (x, *rest) in enumerate(batches):
            x = x.clone().requires_grad_()
            y = module(x, *rest)
            along = torch.linspace(-1, 1, y.numel(), dtype=y.dtype, device=y.device).reshape(
                y.shape
            )
            named = {k: p for k, p in module.named_parameters() if p.requires_grad}
            gradients = torch.autograd.grad((y * along).sum(), [x, *named.values()])
            results = [y, *gradients]
            found.update(zip((f"{mode} {i} {k}" for k in ("y", "x", *named)), results, strict=True))

    module.train()
    passes("train")
    if case.after is not None:
        case.after(module, batches)
    module.eval()
    passes("eval")
    found |= module.state_dict()
    wrong = {k: str(v.device) for k, v in found.items() if v.device.type != device}
    assert not wrong, f"on another device: {wrong}"
    return module, {k: v.detach().cpu() for k, v in found.items()}


def strain(module: nn.Module, expected: dict[str, Tensor]) -> float:
    """How far the condition of what a layer gives is beyond the 1e2 that tolerances are for."""
    if not hasattr(module, "group"):
        return 1.0
    given = [value for name, value in expected.items() if name.endswith(" y")]
    return max(1.0, *(condition(module.group, y) / 1e2 for y in given))


def deviation(name: str, device: str, dtype: torch.dtype, inside: Any = nullcontext) -> float:
    """The largest error of anything a case gives on a device, and of its state on the CPU.

    Divided by the `strain`, since a normalized sample far out may be ill-conditioned.

    Args:
        name: one of `CASES`.
        device: where.
        dtype: of everything.
        inside: makes a context for what happens on the device.
    """
    case = CASES[name](torch.Generator().manual_seed(7))
    plain, expected = outcome(case, "cpu", dtype)
    context: AbstractContextManager[Any] = inside()
    with context:
        module, found = outcome(case, device, dtype)
    worst = max(error(found[k], expected[k]) for k in expected)
    # A state moves from one device to the other and back, into a module that knows nothing.
    fresh = to(case.module, "cpu", dtype).eval()
    fresh.load_state_dict(module.state_dict())
    module.load_state_dict(fresh.state_dict())
    x, *rest = (to(v, "cpu", dtype) for v in case.batches[0])
    worst = max(worst, error(fresh(x, *rest), found["eval 0 y"]))
    worst = max(worst, error(module.cpu()(x, *rest), plain(x, *rest)))
    return worst / strain(plain, expected)


def refuses(device: str, dtype: torch.dtype) -> str:
    """What is said of a sample that is not finite, and of one that is not positive definite."""
    said = []
    for bad in (torch.nan, -1.0):
        x = torch.eye(4).expand(3, 2, 4, 4).clone()
        x[2, 1] *= bad
        layer = LieBatchNorm(spd(4), 2, device=device, dtype=dtype)
        try:
            layer(x.to(device, dtype))
        except InvalidPointError as raised:
            said.append(str(raised))
        assert int(layer.num_batches_tracked) == 0
    return "; ".join(said)


def rows(chosen: list[str]) -> Iterator[tuple[str, str, str, str, bool]]:
    """Device, dtype, case, outcome, and whether it is as it should be."""
    for device in chosen:
        for dtype in dtypes_of(device):
            allowed = tolerance(LAWS[dtype], dtype)
            kind = str(dtype).removeprefix("torch.")
            for name in cases_in(dtype):
                try:
                    found = deviation(name, device, dtype)
                    text, good = f"{found:.1e} of {allowed:.1e}", found <= allowed
                except Exception as raised:  # a table of all that fails, not the first
                    text, good = f"{type(raised).__name__}: {raised}".splitlines()[0], False
                yield device, kind, name, text, good
            try:
                text = refuses(device, dtype)
                good = text.count("sample [2, 1]") == 2
            except Exception as raised:
                text, good = f"{type(raised).__name__}: {raised}".splitlines()[0], False
            yield device, kind, "bad samples", text, good


def main() -> int:
    """Print the table; 1 if anything in it is not as it should be."""
    chosen = sys.argv[1:] or devices()
    if not chosen:
        print("no accelerator here: torch sees neither cuda nor mps (give 'cpu' to try this out)")
        return 0
    count, failed = 0, 0
    for device in chosen:
        name = torch.cuda.get_device_name() if device == "cuda" else device
        print(f"torch {torch.__version__}, {name}")
    for device, dtype, case, text, good in rows(chosen):
        print(f"{device:5} {dtype:8} {case:30} {'ok  ' if good else 'FAIL'} {text}", flush=True)
        count, failed = count + 1, failed + (not good)
    print(f"{count - failed} of {count} as on the CPU")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
