"""Functions of symmetric matrices: f(X) = U f(Λ) Uᵀ for X = U Λ Uᵀ.

The backward pass is the formula of Daleckiĭ and Kreĭn, Df(X)[V] = U (K ∘ (Uᵀ V U)) Uᵀ with
K_ij = f[λ_i, λ_j]; it is exact at repeated eigenvalues. Gradients are those of the symmetric
argument. A second derivative is provided for every function here; a third is not, and says so.
"""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float, Inexact
from torch import Tensor

from liebn.linalg import numerics
from liebn.linalg.autograd import Function, first_order
from liebn.linalg.scalar_functions import (
    Exp,
    Floor,
    Hypotenuse,
    Log,
    Power,
    ScalarFunction,
    Smooth,
    UpToRounding,
)

__all__ = [
    "Exp",
    "Floor",
    "Hypotenuse",
    "Log",
    "Power",
    "ScalarFunction",
    "Smooth",
    "UpToRounding",
    "apply",
    "diagonalise",
    "differential",
    "eigh",
    "exp",
    "log",
    "power",
    "sqrt",
    "symmetrise",
]

LINALG_ERROR: type[Exception] = torch.linalg.LinAlgError  # type: ignore[attr-defined]

Matrices = Float[Tensor, "*batch n n"]
Eigenvalues = Float[Tensor, "*batch n"]


def symmetrise(x: Matrices) -> Matrices:
    """½ (X + Xᵀ)."""
    return (x + x.mT).mul_(0.5)


def eigh(x: Inexact[Tensor, "*batch n n"]) -> tuple[Eigenvalues, Inexact[Tensor, "*batch n n"]]:
    """Eigenvalues, ascending, and eigenvectors: the one way to LAPACK or a GPU's solver.

    Where the whole batch fails, each matrix is tried again by itself, in float64 on the CPU.

    Raises:
        InvalidPointError: naming the first matrix that is not finite or does not converge.
    """
    eigenvalues, vectors = _eigh(x)
    if not numerics.finite(eigenvalues):
        return _eigh_one_by_one(x)
    return eigenvalues, vectors


def _eigh(x: Tensor) -> tuple[Tensor, Tensor]:
    try:
        eigenvalues, vectors = torch.linalg.eigh(x)
    except LINALG_ERROR:
        return _eigh_one_by_one(x)
    return eigenvalues, vectors


def _eigh_one_by_one(x: Tensor) -> tuple[Tensor, Tensor]:
    numerics.raise_where(numerics.non_finite(x, 2), "has entries that are not finite")
    eigenvalues, vectors = [], []
    real = x.real.dtype if x.is_complex() else x.dtype
    full = x.to("cpu", torch.promote_types(x.dtype, torch.float64))
    for position, matrix in enumerate(full.flatten(0, -3) if x.dim() > 2 else full.unsqueeze(0)):
        try:
            values, basis = torch.linalg.eigh(matrix)
        except LINALG_ERROR:
            places = torch.arange(x[..., 0, 0].numel(), device=full.device)
            failed = places.reshape(x.shape[:-2]) == position
            numerics.raise_first(failed, "has an eigendecomposition that does not converge")
        eigenvalues.append(values.to(x.device, real))
        vectors.append(basis.to(x.device, x.dtype))
    return torch.stack(eigenvalues).reshape(x.shape[:-1]), torch.stack(vectors).reshape(x.shape)


def positive_eigh(x: Matrices) -> tuple[Eigenvalues, Matrices]:
    """`eigh` of matrices which must be positive definite.

    Raises:
        InvalidPointError: as `eigh`, or naming the first matrix with an eigenvalue ≤ 0.
    """
    eigenvalues, vectors = _eigh(x)
    if eigenvalues.numel() and not bool(eigenvalues.amin() > 0):  # or one is undefined
        eigenvalues, vectors = eigh(x)
        smallest = eigenvalues[..., 0]
        numerics.require_positive(smallest, ~(smallest > 0))
    return eigenvalues, vectors


def conjugate(basis: Tensor, middle: Tensor) -> Tensor:
    """U M Uᵀ."""
    return basis @ middle @ basis.mT


def congruence(a: Tensor, x: Tensor) -> Tensor:
    """A X Aᵀ of many symmetric X with one A, as two products of tall matrices."""
    return (x @ a.mT).mT.contiguous() @ a.mT


def rebuild(basis: Tensor, diagonal: Tensor) -> Tensor:
    """U diag(d) Uᵀ, for finite d: a sum of infinities would be no number at all."""
    numerics.require_finite(diagonal, 1, numerics.TOO_FAR)
    return (basis * diagonal.unsqueeze(-2)) @ basis.mT


def _derivative(
    v: Tensor, eigenvalues: Tensor, vectors: Tensor, function: ScalarFunction
) -> Tensor:
    """U (K ∘ (Uᵀ V U)) Uᵀ."""
    inner = function.divided_difference(eigenvalues)
    inner.mul_(vectors.mT @ symmetrise(v) @ vectors)
    inner = vectors @ inner
    return inner @ vectors.mT


def _eigh_for(function: ScalarFunction, x: Tensor) -> tuple[Tensor, Tensor]:
    return positive_eigh(x) if function.positive else eigh(x)


class _Apply(Function):
    """f(X); differentiable twice."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, function: ScalarFunction) -> Tensor:
        eigenvalues, vectors = _eigh_for(function, x)
        ctx.save_for_backward(x, eigenvalues, vectors)
        ctx.function = function
        return rebuild(vectors, function.value(eigenvalues))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        x, eigenvalues, vectors = ctx.saved_tensors
        if torch.is_grad_enabled():  # a second derivative is wanted
            return _Differential.apply(x, grad, eigenvalues, vectors, ctx.function), None
        return _derivative(grad, eigenvalues, vectors, ctx.function), None


class _Differential(Function):
    """Df(X)[V], given the decomposition of X; differentiable once in X and V."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        v: Tensor,
        eigenvalues: Tensor,
        vectors: Tensor,
        function: ScalarFunction,
    ) -> Tensor:
        ctx.save_for_backward(v, eigenvalues, vectors)
        ctx.function = function
        return _derivative(v, eigenvalues, vectors, function)

    @staticmethod
    @first_order
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None, None, None]:
        v, eigenvalues, vectors = ctx.saved_tensors
        g = symmetrise(vectors.mT @ grad @ vectors)
        w = symmetrise(vectors.mT @ v @ vectors)
        # <G, D²f(X)[V, E]> with D²f(X)[V, E]_ij = Σ_k f[λ_i, λ_k, λ_j] (V_ik E_kj + E_ik V_kj).
        triples = ctx.function.second_divided_difference(eigenvalues)
        half = torch.einsum("...ikj,...ij,...ik->...kj", triples, g, w)
        along_x = conjugate(vectors, half + half.mT)
        along_v = conjugate(vectors, ctx.function.divided_difference(eigenvalues) * g)
        return along_x, along_v, None, None, None


class _Power(Function):
    """X^p for one exponent per matrix, differentiable in X and p."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, exponent: Tensor) -> Tensor:
        eigenvalues, vectors = positive_eigh(x)
        ctx.save_for_backward(x, exponent, eigenvalues, vectors)
        return rebuild(vectors, Power(exponent).value(eigenvalues))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, exponent, eigenvalues, vectors = ctx.saved_tensors
        if torch.is_grad_enabled():  # for a second derivative: X^p = exp(p log X) has one
            y = exp(exponent.unsqueeze(-1).unsqueeze(-1) * log(x))
            along = torch.autograd.grad(
                y, [t for t in (x, exponent) if t.requires_grad], grad, create_graph=True
            )
            return (
                along if len(along) == 2 else (*along, None) if x.requires_grad else (None, *along)
            )
        inner = symmetrise(vectors.mT @ grad @ vectors)
        function = Power(exponent)
        along_p = inner.diagonal(dim1=-2, dim2=-1) * function.value(eigenvalues) * eigenvalues.log()
        along_x = conjugate(vectors, function.divided_difference(eigenvalues) * inner)
        return along_x, along_p.sum(-1).sum_to_size(exponent.shape)


class _Diagonalise(Function):
    """Z = Uᵀ X U, which is diag(λ), with Uᵀ held constant."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        eigenvalues, vectors = positive_eigh(x)
        rows = vectors.mT
        ctx.save_for_backward(rows)
        ctx.mark_non_differentiable(eigenvalues, rows)
        return eigenvalues.diag_embed(), eigenvalues, rows

    @staticmethod
    @first_order
    def backward(ctx: Any, grad: Tensor, *_: Tensor) -> Tensor:
        (rows,) = ctx.saved_tensors
        return conjugate(rows.mT, grad)


def apply(x: Matrices, function: ScalarFunction) -> Matrices:
    """f(X) for any `ScalarFunction`; wrap an elementwise torch function as `Smooth(f)`."""
    if not (x.requires_grad and torch.is_grad_enabled()):
        eigenvalues, vectors = _eigh_for(function, x)
        return rebuild(vectors, function.value(eigenvalues))
    return _Apply.apply(x, function)


def differential(
    x: Float[Tensor, "*#batch n n"], v: Float[Tensor, "*#batch n n"], function: ScalarFunction
) -> Matrices:
    """Df(X)[V], the derivative of f at X in the symmetric direction V."""
    eigenvalues, vectors = _eigh_for(function, x.detach())
    x, v = torch.broadcast_tensors(x, v)
    eigenvalues, vectors = eigenvalues.expand(v.shape[:-1]), vectors.expand_as(v)
    return _Differential.apply(x, v, eigenvalues, vectors, function)


def log(x: Matrices) -> Matrices:
    """The logarithm of positive definite matrices."""
    return apply(x, Log())


def exp(x: Matrices) -> Matrices:
    """The exponential of symmetric matrices."""
    return apply(x, Exp())


def power(x: Matrices, exponent: float | Float[Tensor, "*#batch"]) -> Matrices:
    """X^p of positive definite matrices; a tensor gives one exponent to each matrix."""
    if isinstance(exponent, Tensor):
        return _Power.apply(x, exponent.to(x))
    return apply(x, Power(float(exponent)))


def sqrt(x: Matrices) -> Matrices:
    """The positive definite square root."""
    return power(x, 0.5)


def diagonalise(x: Matrices) -> tuple[Matrices, Eigenvalues, Matrices]:
    """The decomposition behind a spectral ray: Z, λ > 0 and Uᵀ with X = U Z Uᵀ and Z = diag(λ).

    λ and Uᵀ carry no gradient; a gradient given to Z, as a full symmetric matrix, returns to X.
    """
    return _Diagonalise.apply(x)
