"""How exactly a layer keeps its promise: an output with mean B and variance s² v² / (v² + ε).

Mean and variance of input and output are measured in float64, with the converged mean, in the space
that the layer works in.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks import data
from benchmarks.contenders import Contender, rotation_layers, spd_layers
from benchmarks.plain_rotation import PlainRotationNorm
from liebn import LieBatchNorm
from liebn.groups import Gyrogroup

RADII = {"ordinary": 0.5, "tight": 0.01}
"""How widely a batch of rotations is scattered, by its kind."""


class Errors(NamedTuple):
    """Distance of the output mean from B, and relative error of the output variance."""

    mean: float
    variance: float


def _moments(space: Gyrogroup, x: Tensor) -> tuple[Tensor, Tensor]:
    mean = space.mean(x)
    return mean, space.squared_distance(mean, x).mean()


@torch.no_grad()
def _give_bias(layer: nn.Module, space: Gyrogroup, point: Tensor) -> Tensor:
    """Set the bias to a point; returns the bias as the layer holds it, in float64."""
    if isinstance(layer, LieBatchNorm):
        assert layer.bias_tangent is not None
        layer.bias_tangent.copy_(space.log(point))
        return space.exp(layer.bias_tangent.double())
    if isinstance(layer, PlainRotationNorm):
        layer.bias.copy_(0.5 * space.log(point))
        return space.exp(2 * layer.bias.double())
    layer.bias = point.to(layer.running_mean.dtype).unsqueeze(0)
    return layer.bias[0].double()


@torch.no_grad()
def errors(contender: Contender, x: Tensor, bias: Tensor) -> Errors:
    """Of one training step from one batch; not a number where the layer fails."""
    space = contender.space(x.shape[-1])
    layer = contender.make(x.shape[-1], x.dtype).train()
    point = _give_bias(layer, space, bias)
    scales = "running_var" in dict(layer.named_buffers())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a peer warns of what the errors will show
            output = layer(x).double()
        mean, variance = _moments(space, output)
        _, before = _moments(space, x.double())
        expected = before / (before + layer.eps) if scales else before
        apart = float(space.distance(point, mean))
    except (ValueError, RuntimeError):
        return Errors(float("nan"), float("nan"))
    return Errors(apart, abs(float(variance / expected) - 1))


def _table(
    layers: list[Contender], batches: Callable[[int], Tensor], bias: Tensor, seeds: int
) -> dict[str, Errors]:
    found = {}
    for contender in layers:
        every = [errors(contender, batches(seed), bias) for seed in range(seeds)]
        found[contender.name] = Errors(*map(float, np.median(every, 0)))
    return found


def matrices(batch: int, n: int, dtype: torch.dtype, kind: str, seeds: int) -> dict[str, Errors]:
    """Median errors of every layer on positive definite matrices."""
    bias = data.matrices(1, n, torch.float64, seed=seeds)[0]
    return _table(
        spd_layers(), lambda seed: data.matrices(batch, n, dtype, kind, seed), bias, seeds
    )


def rotations(batch: int, dtype: torch.dtype, kind: str, seeds: int) -> dict[str, Errors]:
    """Median errors of every layer on rotations."""
    bias = data.rotations(1, torch.float64, seed=seeds)[0]
    radius = RADII[kind]
    return _table(
        rotation_layers(), lambda seed: data.rotations(batch, dtype, radius, seed), bias, seeds
    )
