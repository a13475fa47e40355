"""Which batches have their moments controlled, and how precisely."""

import torch
from torch import Tensor

from liebn import LieBatchNorm
from liebn.groups import Gyrogroup
from liebn.verify.moments import errors, moments
from tests.layers.spaces import spread_matrices

__all__ = ["KAPPAS", "controlled", "errors", "kappa_errors", "moments"]

KAPPAS = (1e2, 1e4, 1e6, 1e8, 1e10, 1e12)
COUNT = 12


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
