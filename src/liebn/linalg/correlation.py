"""Correlation matrices: positive definite with a unit diagonal."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from liebn.linalg import numerics, positive, spectral

Matrices = Float[Tensor, "*batch n n"]


def normalise(x: Matrices) -> Matrices:
    """D X D with D = diag(X)^{-½}: the correlation matrix of a covariance matrix."""
    scale = _diagonal(x).rsqrt()
    return scale.unsqueeze(-1) * x * scale.unsqueeze(-2)


def differential(
    x: Float[Tensor, "*#batch n n"], v: Float[Tensor, "*#batch n n"]
) -> Float[Tensor, "..."]:
    """The derivative of `normalise` at X along V: D V D - ½ (r_i + r_j) C_ij, r = diag V / diag X.

    Its diagonal is zero.
    """
    scale = _diagonal(x).rsqrt()
    half = 0.5 * _diagonal(v) / _diagonal(x)
    change = v - (half.unsqueeze(-1) + half.unsqueeze(-2)) * x
    return hollow(scale.unsqueeze(-1) * change * scale.unsqueeze(-2))


def hollow(x: Matrices) -> Matrices:
    """X without its diagonal."""
    return x - _diagonal(x).diag_embed()


def centred(x: Matrices) -> Matrices:
    """P X P with P = I - 11ᵀ / n: rows and columns that sum to zero."""
    x = x - x.mean(-1, keepdim=True)
    return x - x.mean(-2, keepdim=True)


def project(x: Matrices) -> Matrices:
    """The correlation matrix of the nearest positive definite matrix.

    What normalising does to the smallest eigenvalues is mended by a second floor, of a few eps.
    """
    tiny = torch.finfo(x.dtype).tiny
    x = positive.project(x)
    x = normalise(x + (tiny - _diagonal(x)).clamp_min(0).diag_embed())
    return normalise(spectral.apply(x, spectral.Floor(numerics.SLACK * numerics.eps(x.dtype))))


def violation(x: Matrices) -> Float[Tensor, "*batch"]:
    """How far matrices are from positive definite, or their diagonal from 1, if that is more."""
    cone = positive.violation(x)
    off = (_diagonal(x) - 1).abs().amax(-1)
    return torch.where(torch.isfinite(cone), torch.maximum(cone, off), cone)


def _diagonal(x: Tensor) -> Tensor:
    return x.diagonal(dim1=-2, dim2=-1)
