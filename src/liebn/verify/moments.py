"""Measuring which moments the output of a layer has."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from liebn.groups import Gyrogroup
from liebn.nn import LieBatchNorm
from liebn.nn.lie_norm import LieNorm


def layer_on(space: Gyrogroup, scale: float, bias: Tensor, **options: Any) -> LieBatchNorm:
    """A layer in float64 with scale s and the point B."""
    layer: Any = LieBatchNorm(space, dtype=torch.float64, **options)
    with torch.no_grad():
        layer.scale.fill_(scale)
        layer.bias_tangent.copy_(space.log(bias))
    return layer


def moments(space: Gyrogroup, mean: Tensor, x: Tensor) -> tuple[float, float]:
    """The norm of the mean logarithm in standard deviations, and the dispersion, about a point."""
    logs = space.log(space.untranslate(mean, x))
    variance = float(space.squared_norm(logs).mean())
    return float(space.squared_norm(logs.mean(0)).sqrt()) / variance**0.5, variance


def errors(layer: LieNorm, x: Tensor, *domain: int) -> tuple[float, float]:
    """How far a training batch comes out from mean B and variance s² v² / (v² + ε).

    The first in standard deviations of the output, the second relative. A domain layer also takes
    the domain.
    """
    space = layer.group
    with torch.no_grad():
        model, inside = space.model, space.to_model(x)
        _, before = moments(model, model.mean(inside), inside)
        off, after = moments(space, layer.bias_point.to(x), layer.train()(x, *domain))
    s = 1.0 if layer.scale is None else layer.scale.item()
    wanted = s**2 * before / (before + layer.eps)
    return off, abs(after / wanted - 1)
