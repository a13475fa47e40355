"""Batches to measure on: positive definite matrices and rotations of three kinds."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from liebn.linalg import rotation, spectral


class Kind(NamedTuple):
    """How a batch of positive definite matrices lies.

    Attributes:
        condition: condition number of its centre, by dtype.
        radius: half the spectral norm, roughly, of the logarithms seen from the centre.
    """

    condition: dict[torch.dtype, float]
    radius: float


KINDS = {
    "ordinary": Kind({torch.float64: 1e2, torch.float32: 1e2}, 0.5),
    "spread": Kind({torch.float64: 1e2, torch.float32: 1e2}, 2.0),
    "tight": Kind({torch.float64: 1e10, torch.float32: 1e4}, 0.05),
}


def matrices(
    batch: int, n: int, dtype: torch.dtype, kind: str = "ordinary", seed: int = 0
) -> Tensor:
    """Samples C exp(radius · S) Cᵀ with Gaussian symmetric S, (batch, n, n)."""
    generator = torch.Generator().manual_seed(seed)
    condition, radius = KINDS[kind].condition[dtype], KINDS[kind].radius
    normal = torch.randn(batch, n, n, generator=generator, dtype=torch.float64)
    basis, _ = torch.linalg.qr(torch.randn(n, n, generator=generator, dtype=torch.float64))
    root = basis * torch.logspace(0, -0.5, n, base=condition, dtype=torch.float64)
    samples = spectral.exp(radius * (2 / n) ** 0.5 * spectral.symmetrise(normal))
    return spectral.symmetrise(root @ samples @ root.mT).to(dtype)


def rotations(batch: int, dtype: torch.dtype, radius: float = 0.5, seed: int = 0) -> Tensor:
    """Rotations with Gaussian rotation vectors about one centre, (batch, 3, 3)."""
    generator = torch.Generator().manual_seed(seed)
    vectors = radius * torch.randn(batch, 3, generator=generator, dtype=torch.float64)
    centre = rotation.exp(rotation.hat(torch.tensor([0.4, -1.1, 0.7], dtype=torch.float64)))
    return (centre @ rotation.exp(rotation.hat(vectors))).to(dtype)
