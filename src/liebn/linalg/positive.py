"""The cone of symmetric positive definite matrices: membership and projection."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from liebn.linalg import numerics, spectral

Matrices = Float[Tensor, "*batch n n"]


def project(x: Matrices) -> Matrices:
    """The symmetric part, with eigenvalues raised to at least 8 eps times the size of the matrix.

    Less may be lost again where U max(Λ, c) Uᵀ is put together.
    """
    x = spectral.symmetrise(x)
    largest = _size(x.detach())
    # The Frobenius norm, whose squares neither overflow nor vanish.
    size = largest * torch.linalg.matrix_norm(x.detach() / largest[..., None, None])
    return spectral.apply(x, spectral.Floor(8 * numerics.eps(x.dtype) * size.clamp_min(largest)))


def asymmetry(x: Matrices) -> Float[Tensor, "*batch"]:
    """The largest entry of X - Xᵀ, relative to that of X."""
    return (x - x.mT).abs().amax((-2, -1)) / _size(x)


def rough_violation(x: Matrices) -> Float[Tensor, "*batch"]:
    """The asymmetry of finite matrices, in one pass where there is none."""
    return x.new_zeros(x.shape[:-2]) if torch.equal(x, x.mT) else asymmetry(x)


def _size(x: Tensor) -> Tensor:
    """The largest entry, at least the smallest normal number."""
    return x.abs().amax((-2, -1)).clamp_min(torch.finfo(x.dtype).tiny)


def well_conditioned(x: Tensor) -> bool:
    """Whether x are matrices positive definite by far: with pivots above √eps of their size."""
    if x.dim() < 2 or x.shape[-1] != x.shape[-2]:
        return False
    lower, _ = torch.linalg.cholesky_ex(x)
    pivots = lower.diagonal(dim1=-2, dim2=-1).amin(-1)  # negative or undefined without a factor
    size = x.diagonal(dim1=-2, dim2=-1).amax(-1)
    return bool((pivots > numerics.eps(x.dtype) ** 0.25 * size.sqrt()).all())


def violation(x: Matrices) -> Float[Tensor, "*batch"]:
    """How far matrices are from positive definite, relative to their size.

    The largest asymmetry; 1 more than the depth of the smallest eigenvalue where that is not
    positive; infinity where an entry is not finite.
    """
    finite = ~numerics.non_finite(x, 2)
    eye = torch.eye(x.shape[-1], dtype=x.dtype, device=x.device)
    safe = torch.where(finite[..., None, None], x, eye)
    size = _size(safe)
    smallest = torch.linalg.eigvalsh(spectral.symmetrise(safe))[..., 0] / size
    depth = torch.where(smallest > 0, torch.zeros_like(size), 1 - smallest)
    return torch.where(finite, torch.maximum(asymmetry(safe), depth), torch.inf)
