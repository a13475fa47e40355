"""The cone of symmetric positive definite matrices: membership and projection."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from liebn.linalg import numerics, spectral

Matrices = Float[Tensor, "*batch n n"]


def project(x: Matrices) -> Matrices:
    """The symmetric part, with eigenvalues raised to at least eps times the size of the matrix."""
    x = spectral.symmetrise(x)
    size = torch.linalg.matrix_norm(x.detach()).clamp_min(torch.finfo(x.dtype).tiny)
    return spectral.apply(x, spectral.Floor(numerics.eps(x.dtype) * size))


def violation(x: Matrices) -> Float[Tensor, "*batch"]:
    """How far matrices are from positive definite, relative to their size.

    The largest asymmetry; 1 more than the depth of the smallest eigenvalue where that is not
    positive; infinity where an entry is not finite.
    """
    finite = ~numerics.non_finite(x, 2)
    eye = torch.eye(x.shape[-1], dtype=x.dtype, device=x.device)
    safe = torch.where(finite[..., None, None], x, eye)
    size = safe.abs().amax((-2, -1)).clamp_min(torch.finfo(x.dtype).tiny)
    asymmetry = (safe - safe.mT).abs().amax((-2, -1)) / size
    smallest = torch.linalg.eigvalsh(spectral.symmetrise(safe))[..., 0] / size
    depth = torch.where(smallest > 0, torch.zeros_like(size), 1 - smallest)
    return torch.where(finite, torch.maximum(asymmetry, depth), torch.inf)
