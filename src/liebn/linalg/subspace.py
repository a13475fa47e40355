"""Subspaces of Rⁿ as the orthogonal projectors X onto them, seen from E = diag(I_p, 0).

A tangent vector at E is a symmetric matrix Δ with blocks 0, Bᵀ, B, 0, and exp[Δ, E] is the rotation
that turns E into exp Δ along their geodesic. With B = W diag(θ) Qᵀ, the θ are the principal angles
between the two subspaces, and no formula here divides by a difference of them.
"""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from liebn.linalg import numerics, rotation, spectral
from liebn.linalg.autograd import Function, first_order

Matrices = Float[Tensor, "*batch n n"]


def reflected(x: Matrices, p: int) -> Matrices:
    """K X K with K = 2 E - I: the off-diagonal blocks change sign."""
    first = torch.arange(x.shape[-1], device=x.device) < p
    return torch.where(first.unsqueeze(-1) == first, x, -x)


def turn(v: Matrices, p: int) -> Matrices:
    """The rotation exp[Δ, E], for the part Δ of V that is tangent at E."""
    first = torch.arange(v.shape[-1], device=v.device) < p
    return rotation.exp(first * v * ~first.unsqueeze(-1) - ~first * v * first.unsqueeze(-1))


def exp(v: Matrices, p: int) -> Matrices:
    """The end of the geodesic from E with velocity Δ: the projector onto the turned subspace."""
    basis = turn(v, p)[..., :p]
    return basis @ basis.mT


def log(x: Matrices, p: int) -> Matrices:
    """The velocity at E of the shortest geodesic to a projector of rank p, with angles in [0, π/2].

    At an angle of exactly π/2, where the geodesic has two directions, one is chosen.
    """
    return _Log.apply(x, p)


def project(x: Matrices, p: int) -> Matrices:
    """The projector onto the eigenvectors of the p largest eigenvalues of the symmetric part."""
    return _Project.apply(spectral.symmetrise(x), p)


class _Log(Function):
    """From an orthonormal basis of the subspace, with blocks Q cos θ Rᵀ and W sin θ Rᵀ.

    Where X moves by T Ḋ Tᵀ, with T = exp[Δ, E] and Ḋ tangent at E with lower block Ḃ, the entries
    b_ij and b_ji of Wᵀ Ḃ Q enter into B by their even part over sinc(θ_i - θ_j) and their odd part
    over sinc(θ_i + θ_j); there θ = 0 beyond the smaller of p and n - p.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, p: int) -> Tensor:
        basis = spectral.eigh(x)[1][..., -p:]
        q, cosines, r = torch.linalg.svd(basis[..., :p, :])
        # W sin θ; by X itself, whose lower block is W sin θ cos θ Qᵀ, no digits of small angles are
        # lost.
        close = cosines > 0.5
        lower = torch.where(
            close.unsqueeze(-2),
            x[..., p:, :p] @ q / torch.where(close, cosines, 1.0).unsqueeze(-2),
            basis[..., p:, :] @ r.mT,
        )
        sines = torch.linalg.vector_norm(lower, dim=-2)
        angles = torch.atan2(sines, cosines)
        away = sines > numerics.TINY
        ratio = torch.where(away, angles / torch.where(away, sines, 1.0), 1.0)
        value = x.new_zeros(x.shape)
        value[..., p:, :p] = (lower * ratio.unsqueeze(-2)) @ q.mT
        value = value + value.mT
        ctx.p = p
        ctx.save_for_backward(value)
        return value

    @staticmethod
    @first_order
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (value,) = ctx.saved_tensors
        p, n = ctx.p, value.shape[-1]
        w, angles, q = torch.linalg.svd(value[..., p:, :p])
        inner = w.mT @ (grad + grad.mT)[..., p:, :p] @ q.mT
        # Square, by rows and columns of zeros: an entry alone is half even and half odd.
        size = max(p, n - p)
        inner = torch.nn.functional.pad(inner, (0, size - p, 0, size - (n - p)))
        angles = torch.nn.functional.pad(angles, (0, size - angles.shape[-1]))
        differences = angles.unsqueeze(-1) - angles.unsqueeze(-2)
        sums = torch.sinc((angles.unsqueeze(-1) + angles.unsqueeze(-2)) / torch.pi)
        # Two half turns, and the diagonal, which has no odd part.
        safe = sums > numerics.eps(sums.dtype)
        even = spectral.symmetrise(inner) / torch.sinc(differences / torch.pi)
        odd = torch.where(safe, rotation.skew(inner) / torch.where(safe, sums, 1.0), 0.0)
        moved = torch.zeros_like(value)
        moved[..., p:, :p] = w @ (even + odd)[..., : n - p, :p] @ q
        return spectral.conjugate(turn(value, p), spectral.symmetrise(moved)), None


class _Project(Function):
    """It moves by Σ u_i u_iᵀ dX u_j u_jᵀ / (λ_j - λ_i) and its transpose, u_i lost and u_j kept."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, p: int) -> Tensor:
        eigenvalues, vectors = spectral.eigh(x)
        kept = vectors[..., -p:]
        ctx.p = p
        ctx.save_for_backward(eigenvalues, vectors)
        return kept @ kept.mT

    @staticmethod
    @first_order
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        eigenvalues, vectors = ctx.saved_tensors
        rest = vectors.shape[-1] - ctx.p
        lost, kept = vectors[..., :rest], vectors[..., rest:]
        gaps = eigenvalues[..., None, rest:] - eigenvalues[..., :rest, None]
        # At a gap of zero the projector jumps.
        inner = lost.mT @ (grad + grad.mT) @ kept / torch.where(gaps > 0, gaps, torch.inf)
        return spectral.symmetrise(lost @ inner @ kept.mT), None
