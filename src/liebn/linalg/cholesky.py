"""Cholesky factors, with an error that names the matrix which has none."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from liebn.linalg import numerics

Matrices = Float[Tensor, "*batch n n"]


def factor(x: Matrices) -> Matrices:
    """The lower triangular L with positive diagonal and X = L Lᵀ.

    Raises:
        InvalidPointError: naming the first matrix that is not positive definite.
    """
    lower, failed = torch.linalg.cholesky_ex(x)
    # Whatever is not finite ends on the diagonal, or makes a pivot fail.
    pivots = lower.diagonal(dim1=-2, dim2=-1)
    if bool(failed.any()) or not numerics.finite(pivots):
        numerics.raise_where(numerics.non_finite(x, 2), "has entries that are not finite")
        numerics.raise_where(failed > 0, "is not positive definite: it has no Cholesky factor")
        numerics.raise_first(
            ~torch.isfinite(pivots).all(-1), "has a Cholesky factor that overflows"
        )
    return lower


def inverse(lower: Matrices) -> Matrices:
    """L⁻¹ of lower triangular matrices."""
    identity = torch.eye(lower.shape[-1], dtype=lower.dtype, device=lower.device)
    return torch.linalg.solve_triangular(lower, identity.expand_as(lower), upper=False)


def half_lower(x: Matrices) -> Matrices:
    """Φ(X): the lower triangle with its diagonal halved.

    It is the derivative of the factor, dL = L Φ(L⁻¹ dX L⁻ᵀ), and its own adjoint.
    """
    return x.tril() - 0.5 * x.diagonal(dim1=-2, dim2=-1).diag_embed()
