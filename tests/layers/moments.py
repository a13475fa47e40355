"""Measuring which moments the output of a layer has."""

import torch
from torch import Tensor

from liebn import LieBatchNorm
from liebn.groups import Gyrogroup
from tests.layers.spaces import spread_matrices

KAPPAS = (1e2, 1e4, 1e6, 1e8, 1e10, 1e12)
COUNT = 12


def moments(space: Gyrogroup, mean: Tensor, x: Tensor) -> tuple[float, float]:
    """The norm of the mean logarithm in standard deviations, and the dispersion, about a point."""
    logs = space.log(space.untranslate(mean, x))
    variance = float(space.squared_norm(logs).mean())
    return float(space.squared_norm(logs.mean(0)).sqrt()) / variance**0.5, variance


def errors(layer: LieBatchNorm, x: Tensor) -> tuple[float, float]:
    """How far a training batch comes out from mean B and variance s² v² / (v² + ε).

    The first in standard deviations of the output, the second relative.
    """
    space = layer.group
    with torch.no_grad():
        model, inside = space.model, space.to_model(x)
        _, before = moments(model, model.mean(inside), inside)
        off, after = moments(space, layer.bias_point.to(x), layer.train()(x))
    s = 1.0 if layer.scale is None else layer.scale.item()
    wanted = s**2 * before / (before + layer.eps)
    return off, abs(after / wanted - 1)


def controlled(layer: LieBatchNorm, x: Tensor) -> bool:
    """Whether no sample is scaled past the injectivity radius."""
    space = layer.group
    with torch.no_grad():
        squares = space.squared_norm(space.log(space.untranslate(space.mean(x), x)))
        factor = layer.scale.abs() / (squares.mean() + layer.eps).sqrt()
        return float(factor * squares.max().sqrt()) < space.injectivity_radius


def kappa_errors(
    space: Gyrogroup, theta: float, kappa: float, *, seeds: int = 4, n: int = 4
) -> tuple[float, float]:
    """The worst of `errors` over batches of matrices of condition κ, before or after deformation.

    A power |θ| < 1 makes the condition number smaller, so there κ is that of the matrices given.
    """
    found = []
    for seed in range(seeds):
        generator = torch.Generator().manual_seed(seed)
        x = spread_matrices(COUNT, n, kappa ** min(1.0, abs(theta)), theta, generator)
        layer = LieBatchNorm(space, dtype=torch.float64)
        found.append(errors(layer, x))
    return max(f[0] for f in found), max(f[1] for f in found)
