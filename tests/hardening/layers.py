"""Every layer, and a batch for it; the lists of public names say which there must be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

import liebn
from liebn.groups import SO, Euclidean, Gyrogroup, spd
from liebn.nn import (
    BiMap,
    CovariancePool,
    DelayEmbedding,
    LieGroupNorm,
    LieInstanceNorm,
    LieLayerNorm,
    LogEig,
    LogMap,
    Rectifier,
    ReEig,
    RotMap,
    RotPooling,
    baselines,
)
from tests.hardening.inputs import Case
from tests.hardening.spaces import SPACES

Make = Callable[[], nn.Module]


class Layer(NamedTuple):
    """How to build a layer, and its input from a case.

    Attributes:
        make: builds it.
        batch: its arguments, the first being points.
        space: of the points, where a point of none is to be refused.
    """

    make: Make
    batch: Callable[[Case], tuple[Any, ...]]
    space: Gyrogroup | None = None


def on(space: Gyrogroup, make: Callable[[Gyrogroup], nn.Module], *rest: Any) -> Layer:
    """A normalization layer over five elements, two channels and three more points of each."""
    return Layer(
        lambda: make(space),
        lambda c: (c.points(space, *_sizes(c)), *(_domains(c) if rest else ())),
        space,
    )


def _sizes(case: Case) -> tuple[int, ...]:
    """An empty batch where the case asks for one, else (5, 2, 3)."""
    return (0, 2, 3) if 0 in case.batch else (5, 2, 3)


def _domains(case: Case) -> tuple[Tensor]:
    return (torch.arange(_sizes(case)[0]) % 2,)


NORMS: dict[str, Callable[[Gyrogroup], nn.Module]] = {
    "LieBatchNorm": lambda s: liebn.LieBatchNorm(s, 2),
    "LieBatchNorm fast": lambda s: liebn.LieBatchNorm(s, 2, statistics="fast"),
    "LieBatchNorm reference": lambda s: liebn.LieBatchNorm(s, 2, statistics="reference"),
    "LieBatchNorm mean only": lambda s: liebn.LieBatchNorm(s, 2, mean_only=True, momentum=None),
    "MomentumLieBatchNorm": lambda s: liebn.MomentumLieBatchNorm(s, 2, schedule=(3, 0.5)),
    "LieInstanceNorm": lambda s: LieInstanceNorm(s, 2, affine=True, track_running_stats=True),
    "LieGroupNorm": lambda s: LieGroupNorm(s, 1, 2),
    "LieLayerNorm": lambda s: LieLayerNorm(s, (2, 3)),
}

SPD, GYRO, ROTATIONS = spd(3), spd(3, "gyro-aim"), SO(3)

LAYERS: dict[str, Layer] = {
    f"{name}: {space}": on(SPACES[space], make) for name, make in NORMS.items() for space in SPACES
} | {
    **{
        f"DomainLieBatchNorm: {name}": on(
            space, lambda s: liebn.DomainLieBatchNorm(s, 2, 2), "domains"
        )
        for name, space in SPACES.items()
    },
    "SPDNetBN": on(GYRO, lambda s: baselines.SPDNetBN(3, 2)),
    "SPDBN": on(GYRO, lambda s: baselines.SPDBN(3, 2)),
    "SPDDSMBN": on(GYRO, lambda s: baselines.SPDDSMBN(3, 2, 2), "domains"),
    "HomogeneousBN": on(ROTATIONS, lambda s: baselines.HomogeneousBN(s, 2)),
    "MatrixGroupBN": on(ROTATIONS, lambda s: baselines.MatrixGroupBN(3, 2)),
    "TransportBN": on(ROTATIONS, lambda s: baselines.TransportBN(s, 2)),
    "BiMap": Layer(
        lambda: BiMap(3, 2, weight="parametrized"), lambda c: (c.points(SPD, *_sizes(c)),)
    ),
    "ReEig": Layer(ReEig, lambda c: (c.points(SPD, *_sizes(c)),)),
    "LogEig": Layer(LogEig, lambda c: (c.points(SPD, *_sizes(c)),)),
    "LogEig flat": Layer(lambda: LogEig(flat=True), lambda c: (c.points(SPD, *_sizes(c)),)),
    "CovariancePool": Layer(
        lambda: CovariancePool(8, 4, shrinkage=0.1), lambda c: (c.tensor(_sizes(c)[0], 3, 40),)
    ),
    "DelayEmbedding": Layer(lambda: DelayEmbedding(4, 2), lambda c: (c.tensor(_sizes(c)[0], 16),)),
    "RotMap": Layer(
        lambda: RotMap(2, weight="parametrized"), lambda c: (c.points(ROTATIONS, *_sizes(c)),)
    ),
    "RotPooling": Layer(lambda: RotPooling(2), lambda c: (c.points(ROTATIONS, *_sizes(c)),)),
    "RotPooling space": Layer(
        lambda: RotPooling(2, "space"), lambda c: (c.points(ROTATIONS, *_sizes(c)),)
    ),
    "LogMap": Layer(LogMap, lambda c: (c.points(ROTATIONS, *_sizes(c)),)),
    "Rectifier": Layer(Rectifier, lambda c: (c.points(Euclidean(4), *_sizes(c)),)),
}

WITHOUT_TENSORS = {
    # Names of `liebn`, `liebn.nn` and `liebn.nn.baselines` that are no layers.
    *("groups", "nn", "baselines", "models", "datasets", "__version__"),
    *("convert", "convert_sync_lie_batchnorm", "transvections"),
}


def attacked() -> set[str]:
    """The names of the layers in the table."""
    return {name.partition(":")[0].partition(" ")[0] for name in LAYERS}


def trained(layer: Layer, dtype: torch.dtype) -> nn.Module:
    """A layer whose averages and parameters are no longer those of the start."""
    torch.manual_seed(1)
    module = layer.make().to(dtype)
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if "parametrizations" not in name:
                parameter.add_(0.1 * torch.randn_like(parameter))
        module(*layer.batch(Case(seed=3, dtype=dtype)))
    return module


def state(module: nn.Module) -> dict[str, Tensor]:
    """Copies of all parameters and averages."""
    return {name: value.clone() for name, value in module.state_dict().items()}


def same(first: dict[str, Tensor], second: dict[str, Tensor]) -> bool:
    """Whether two states agree to the last bit."""
    return first.keys() == second.keys() and all(torch.equal(first[k], second[k]) for k in first)
