"""Rays in positive definite matrices: one eigendecomposition serves the norm and every power."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from liebn.linalg import numerics, spectral
from liebn.linalg.autograd import Function, first_order


class SpectralRay:
    """The geodesics t ↦ X^t from the identity, for X = U Z Uᵀ with Z = diag(λ).

    λ and U carry no gradient. Z does: both functions hand theirs back to it as a symmetric matrix,
    and whatever made Z passes it on.

    Args:
        z: diag(λ), (*batch, n, n).
        eigenvalues: λ > 0, (*batch, n).
        rows: Uᵀ, (*batch, n, n).
        weights: the α and β of ‖V‖² = α ‖V‖_F² + β (tr V)².
        root: the group's square root, A with A Aᵀ = P; translation by P is X ↦ A X Aᵀ.
    """

    def __init__(
        self,
        z: Tensor,
        eigenvalues: Tensor,
        rows: Tensor,
        weights: tuple[float, float],
        root: Callable[[Tensor], Tensor],
    ) -> None:
        self.z, self.eigenvalues, self.rows = z, eigenvalues, rows
        self.weights, self.root = weights, root

    def squared_norm(self) -> Tensor:
        """α Σ log² λ + β (Σ log λ)²."""
        return _SquaredNorm.apply(self.z, self.eigenvalues, self.weights)

    def at(self, t: Tensor, onto: Tensor | None = None) -> Tensor:
        """A U diag(λ^t) Uᵀ Aᵀ with A = root(onto)."""
        root = None if onto is None else self.root(onto)
        return power_onto(self.z, self.eigenvalues, self.rows, t, root)


def power_onto(
    z: Tensor, eigenvalues: Tensor, rows: Tensor, t: Tensor, root: Tensor | None
) -> Tensor:
    """A U diag(λ^t) Uᵀ Aᵀ, with what a `SpectralRay` holds and A = `root`."""
    return _PowerOnto.apply(z, eigenvalues, rows, t, root)


class _SquaredNorm(Function):
    @staticmethod
    def forward(ctx: Any, z: Tensor, eigenvalues: Tensor, weights: tuple[float, float]) -> Tensor:
        alpha, beta = weights
        logs = eigenvalues.log()
        ctx.save_for_backward(eigenvalues, logs)
        ctx.weights = weights
        square = alpha * torch.linalg.vecdot(logs, logs)
        return square + beta * logs.sum(-1).square() if beta else square

    @staticmethod
    @first_order
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        eigenvalues, logs = ctx.saved_tensors
        alpha, beta = ctx.weights
        slope = alpha * logs
        if beta:
            slope = slope + beta * logs.sum(-1, keepdim=True)
        return (2 * grad.unsqueeze(-1) * slope / eigenvalues).diag_embed(), None, None


class _PowerOnto(Function):
    """A U diag(λ^t) Uᵀ Aᵀ as a product of a matrix and its transpose, so exactly symmetric."""

    @staticmethod
    def forward(
        ctx: Any,
        z: Tensor,
        eigenvalues: Tensor,
        rows: Tensor,
        t: Tensor,
        root: Tensor | None,
    ) -> Tensor:
        moved = rows if root is None else rows @ root.mT
        ctx.save_for_backward(eigenvalues, rows, moved, t)
        ctx.root_shape = None if root is None else root.shape
        half = eigenvalues ** (0.5 * t.unsqueeze(-1))
        numerics.require_finite(half * half, 1, numerics.TOO_FAR)
        scaled = moved * half.unsqueeze(-1)
        return scaled.mT @ scaled

    @staticmethod
    @first_order
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None, Tensor | None, Tensor | None]:
        eigenvalues, rows, moved, t = ctx.saved_tensors
        # The differences first: they need most memory, the products then take it over.
        power = spectral.Power(t)
        along_z, values = power.divided_difference(eigenvalues), power.value(eigenvalues)
        pulled = moved @ spectral.symmetrise(grad)
        inner = pulled @ moved.mT
        along_t = along_root = None
        if ctx.needs_input_grad[3]:
            diagonal = inner.diagonal(dim1=-2, dim2=-1)
            along_t = (diagonal * values * eigenvalues.log()).sum(-1).sum_to_size(t.shape)
        same = inner.shape == along_z.shape  # not where the roots have more batch dimensions
        along_z = along_z.mul_(inner) if same else along_z * inner
        if ctx.root_shape is not None and ctx.needs_input_grad[4]:
            doubled = pulled.mul_((2 * values).unsqueeze(-1))
            along_root = sum_of_products(doubled, rows, ctx.root_shape)
        return along_z, None, None, along_t, along_root


def sum_of_products(a: Tensor, b: Tensor, shape: torch.Size) -> Tensor:
    """Σ aᵀb over the leading dimensions that `shape` has not."""
    lead = a.dim() - len(shape)
    if a.shape[lead:-2] == shape[:-2]:
        a, b = (m.flatten(0, lead - 1) if lead else m.unsqueeze(0) for m in (a, b))
        tall = a.movedim(0, -3).flatten(-3, -2)
        return tall.mT @ b.movedim(0, -3).flatten(-3, -2)
    return (a.mT @ b).sum_to_size(shape)
