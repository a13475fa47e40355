"""Who is measured: the layers of this library, the peers, and floors that no layer can pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from benchmarks.plain_rotation import PlainRotationNorm
from liebn import LieBatchNorm, groups

MODES = ("exact", "fast", "reference")


@dataclass(frozen=True)
class Contender:
    """A layer with a name.

    Attributes:
        name: as it stands in the tables.
        make: the layer for matrices of size n in a dtype.
        space: where its outputs have mean B.
        peer: the name of the contender that does the same elsewhere; None where there is none.
    """

    name: str
    make: Callable[[int, torch.dtype], nn.Module]
    space: Callable[[int], groups.Gyrogroup]
    peer: str | None = None


def _ours(metric: str, theta: float, mode: str) -> Callable[[int, torch.dtype], nn.Module]:
    def make(n: int, dtype: torch.dtype) -> nn.Module:
        return LieBatchNorm(groups.spd(n, metric, theta), statistics=mode, dtype=dtype)

    return make


def _theirs(metric: str, theta: float) -> Callable[[int, torch.dtype], nn.Module]:
    def make(n: int, dtype: torch.dtype) -> nn.Module:
        from spd_learn.modules import SPDBatchNormLie

        return SPDBatchNormLie(n, metric=metric.upper(), theta=theta, dtype=dtype)

    return make


def _mean_only(n: int, dtype: torch.dtype) -> nn.Module:
    from spd_learn.modules import SPDBatchNormMean

    return SPDBatchNormMean(n, dtype=dtype)


def _mean_and_variance(n: int, dtype: torch.dtype) -> nn.Module:
    from spd_learn.modules import SPDBatchNormMeanVar

    return SPDBatchNormMeanVar(n, dtype=dtype)


FAMILIES = (("aim", 1.0), ("aim", 0.5), ("aim", 1.5), ("lem", 1.0), ("lcm", 1.0), ("lcm", 0.5))
"""Metric and θ of the spaces that spd_learn has too."""

MEAN_VARIANCE = "spd_learn MeanVar"
PLAIN_ROTATION = "plain SO(3)"


def label(metric: str, theta: float) -> str:
    """The name of a metric, with θ where it is not 1."""
    name = metric.upper() if metric != "gyro-aim" else "gyro-AIM"
    return name if theta == 1 else f"{name} θ={theta:g}"


def peer_of(metric: str, theta: float) -> str:
    """The name of spd_learn's layer of a metric."""
    return f"spd_learn Lie {label(metric, theta)}"


def _space(metric: str, theta: float) -> Callable[[int], groups.Gyrogroup]:
    return lambda n: groups.spd(n, metric, theta)


def spd_layers() -> list[Contender]:
    """All layers for positive definite matrices.

    On flat spaces the mean is arithmetic, so that "fast" and "reference" are one computation there.
    """
    found = []
    for metric, theta in FAMILIES:
        modes = MODES if metric == "aim" else MODES[:2]
        space, peer = _space(metric, theta), peer_of(metric, theta)
        for mode in modes:
            name = f"{label(metric, theta)} {mode}"
            found.append(Contender(name, _ours(metric, theta, mode), space, peer))
    gyro = _space("gyro-aim", 1.0)
    for mode in MODES:
        make = _ours("gyro-aim", 1.0, mode)
        found.append(Contender(f"gyro-AIM {mode}", make, gyro, MEAN_VARIANCE))
    for metric, theta in FAMILIES:
        name = peer_of(metric, theta)
        found.append(Contender(name, _theirs(metric, theta), _space(metric, theta)))
    found.append(Contender(MEAN_VARIANCE, _mean_and_variance, gyro))
    found.append(Contender("spd_learn Mean", _mean_only, gyro))
    return found


def rotation_layers() -> list[Contender]:
    """All layers for rotations of space."""

    def ours(mode: str) -> Callable[[int, torch.dtype], nn.Module]:
        return lambda n, dtype: LieBatchNorm(groups.SO(n), statistics=mode, dtype=dtype)

    found = [Contender(f"SO(3) {mode}", ours(mode), groups.SO, PLAIN_ROTATION) for mode in MODES]
    plain = Contender(PLAIN_ROTATION, lambda n, dtype: PlainRotationNorm(dtype), groups.SO)
    return [*found, plain]


SPD_FLOORS: dict[str, Callable[[Tensor], object]] = {
    "one eigh": torch.linalg.eigh,
    "one Cholesky": torch.linalg.cholesky,
    "one matmul": lambda x: x @ x,
}
ROTATION_FLOORS: dict[str, Callable[[Tensor], object]] = {"one clone": torch.clone}
