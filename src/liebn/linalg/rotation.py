"""Rotations: logarithm, exponential, powers and projection, up to and across the cut locus.

A rotation near the cut locus turns some plane by nearly π; its logarithm is then read from the
symmetric part of R, which still knows the plane when the skew part has all but vanished. Gradients
with respect to a rotation are tangential: of the form R A with A skew.
"""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from liebn.linalg import numerics, spectral
from liebn.linalg.autograd import Function, first_order

Matrices = Float[Tensor, "*batch n n"]
Vectors = Float[Tensor, "*batch 3"]

HALF_TURN_COSINE = -0.7
"""Planes of a smaller cosine count as half turns: their sine may be too small to divide by."""


def skew(a: Matrices) -> Matrices:
    """½ (A - Aᵀ)."""
    return 0.5 * (a - a.mT)


def hat(w: Vectors) -> Float[Tensor, "*batch 3 3"]:
    """The skew matrix with hat(w) x = w × x."""
    x, y, z = w.unbind(-1)
    zero = torch.zeros_like(x)
    return torch.stack([zero, -z, y, z, zero, -x, -y, x, zero], -1).unflatten(-1, (3, 3))


def vee(a: Float[Tensor, "*batch 3 3"]) -> Vectors:
    """The vector of the skew part of A: vee(hat(w)) = w."""
    return 0.5 * torch.stack(
        [a[..., 2, 1] - a[..., 1, 2], a[..., 0, 2] - a[..., 2, 0], a[..., 1, 0] - a[..., 0, 1]], -1
    )


def exp(a: Matrices) -> Matrices:
    """The exponential of the skew part of A, a rotation.

    Raises:
        InvalidPointError: naming the first matrix too large for its angles to be known.
    """
    full = skew(a).to(torch.promote_types(a.dtype, torch.float32))
    resolved = full.detach().abs().amax((-2, -1)) < 1 / numerics.eps(full.dtype)
    numerics.raise_where(
        ~resolved, "has no exponential: it is so large that rounding leaves no angle, or not finite"
    )
    if a.shape[-1] == 2:
        return _exp2(full[..., 1, 0]).to(a.dtype)
    return without_drift(_matrix_exp(full)).to(a.dtype)


def _exp2(angle: Tensor) -> Tensor:
    c, s = angle.cos(), angle.sin()
    return torch.stack([c, -s, s, c], -1).unflatten(-1, (2, 2))


def _matrix_exp(a: Tensor) -> Tensor:
    """torch's, which errs by up to 1e-10 in float64 where it is given a single matrix, not two."""
    if a.shape[:-2].numel() != 1:
        return torch.matrix_exp(a)
    single = a.reshape(1, *a.shape[-2:])
    return torch.matrix_exp(single.expand(2, -1, -1))[0].reshape(a.shape)


def without_drift(x: Matrices) -> Matrices:
    """X (3 I - XᵀX) / 2: it squares the deviation from a rotation, so rounding cannot add up."""
    return 1.5 * x - 0.5 * x @ (x.mT @ x)


def log(r: Matrices) -> Matrices:
    """The skew logarithm of rotations, with all angles in [0, π].

    At an angle of exactly π, where the axis has two signs, one is chosen.
    """
    if r.shape[-1] == 2:
        return _log2(r)
    if r.shape[-1] == 3:
        return hat(log3(r))
    return _Log.apply(r)


def _log2(r: Tensor) -> Tensor:
    sine, cosine = r[..., 1, 0] - r[..., 0, 1], r[..., 0, 0] + r[..., 1, 1]
    angle = torch.atan2(sine, cosine)
    zero = torch.zeros_like(angle)
    return torch.stack([zero, -angle, angle, zero], -1).unflatten(-1, (2, 2))


def log3(r: Float[Tensor, "*batch 3 3"]) -> Vectors:
    """The rotation vector, angle times axis, of rotations of space."""
    return _Log3.apply(r)


def project(x: Matrices) -> Matrices:
    """The nearest rotation: U diag(1, ..., 1, det UVᵀ) Vᵀ for X = U S Vᵀ."""
    return _Project.apply(x)


def half_angle_cotangent(angle: Tensor) -> Tensor:
    """1 - x cot x at x = angle / 2: the bending of the logarithm, from 0 at 0 to 1 at π."""
    x = 0.5 * angle
    square = x * x
    series = square * (1 / 3 + square * (1 / 45 + square * (2 / 945 + square / 4725)))
    small = x < 0.05
    safe = torch.where(small, torch.ones_like(x), x)
    return torch.where(small, series, 1 - safe * safe.cos() / safe.sin())


def rotation_vector(r: Tensor) -> tuple[Tensor, Tensor]:
    """Rotation vector (..., 3) and angle (...) of rotations, without gradients.

    Up to 3π/4 the vector follows the skew part, vee(R) = sin(angle) axis; beyond, the axis is the
    largest column of ½ (R + Rᵀ) - cos(angle) I = (1 - cos(angle)) axis axisᵀ, with the sign of
    vee(R).
    """
    w = vee(r)
    sine = w.norm(dim=-1)
    cosine = 0.5 * (r.diagonal(dim1=-2, dim2=-1).sum(-1) - 1)
    angle = torch.atan2(sine, cosine)
    # angle / sine, written with the sinc of a small angle so that it is 1 at 0.
    ratio = torch.where(
        sine > numerics.TINY, angle / sine.clamp_min(numerics.TINY), torch.ones_like(sine)
    )
    vector = w * ratio.unsqueeze(-1)
    beyond = cosine < -0.7
    if bool(beyond.any()):
        far, w_far, cos_far = r[beyond], w[beyond], cosine[beyond]
        eye = torch.eye(3, dtype=far.dtype, device=far.device)
        outer = spectral.symmetrise(far) - cos_far[..., None, None] * eye
        largest = outer.diagonal(dim1=-2, dim2=-1).argmax(-1)
        axis = outer.gather(-1, largest[..., None, None].expand(*largest.shape, 3, 1)).squeeze(-1)
        axis = axis / axis.norm(dim=-1, keepdim=True)
        axis = torch.where((axis * w_far).sum(-1, keepdim=True) < 0, -axis, axis)
        vector = vector.masked_scatter(beyond.unsqueeze(-1), axis * angle[beyond].unsqueeze(-1))
    return vector, angle


class _Log3(Function):
    @staticmethod
    def forward(ctx: Any, r: Tensor) -> Tensor:
        numerics.require_finite(r, 2)
        vector, angle = rotation_vector(r)
        ctx.save_for_backward(r, vector, angle)
        return vector

    @staticmethod
    @first_order
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        r, w, angle = ctx.saved_tensors
        # d log(R exp(hat d)) = (I + ½ W + c W²) d with c = (1 - x cot x) / angle², so the adjoint:
        c = half_angle_cotangent(angle) / angle.square().clamp_min(numerics.TINY)
        c = torch.where(angle < 1e-6, torch.full_like(c, 1 / 12), c).unsqueeze(-1)
        cross = torch.linalg.cross(w, grad)
        along = grad - 0.5 * cross + c * torch.linalg.cross(w, cross)
        return 0.5 * r @ hat(along)


class _Log(Function):
    """log R = S g(C) for R = S + C (skew and symmetric part), g(c) = arccos(c) / sqrt(1 - c²)."""

    @staticmethod
    def forward(ctx: Any, r: Tensor) -> Tensor:
        cosines, basis = spectral.eigh(spectral.symmetrise(r))
        inner = skew(basis.mT @ r @ basis)
        # Ascending cosines come in equal pairs, one for each plane, and a last 1 in odd dimension.
        planes = r.shape[-1] // 2
        paired = cosines[..., : 2 * planes].unflatten(-1, (planes, 2)).mean(-1)
        half_turn = paired < HALF_TURN_COSINE
        cosine = torch.cat([paired.repeat_interleave(2, -1), cosines[..., 2 * planes :]], -1)
        # A row of the skew part has the length of the sine of its plane, to an error of eps.
        sine = torch.linalg.vector_norm(inner, dim=-1)
        angle = torch.atan2(sine, cosine)
        ratio = torch.where(
            sine > numerics.TINY, angle / sine.clamp_min(numerics.TINY), torch.ones_like(sine)
        )
        ratio = torch.where(cosine < HALF_TURN_COSINE, torch.zeros_like(ratio), ratio)
        same = (ratio.unsqueeze(-1) > 0) & (ratio.unsqueeze(-2) > 0)
        result = torch.where(same, inner * 0.5 * (ratio.unsqueeze(-1) + ratio.unsqueeze(-2)), 0.0)
        turned = half_turn.any(-1)
        if bool(turned.any()):
            near = half_turn[turned].repeat_interleave(2, -1)
            near = torch.nn.functional.pad(near, (0, r.shape[-1] - 2 * planes))
            result[turned] = result[turned] + _log_of_half_turns(inner[turned], near)
        value = skew(basis @ result @ basis.mT)
        ctx.save_for_backward(r, value)
        return value

    @staticmethod
    @first_order
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        r, value = ctx.saved_tensors
        # i log R = V φ V*, and dlog(R)[R A] = V (κ ∘ V* A V) V* with κ = exp(-iδ) δ / sin δ at
        # δ = ½ (φ_i - φ_j). The two vectors of one plane never meet, since vᵀ A v = 0: there κ = 0.
        angles, vectors = spectral.eigh(1j * value)
        delta = 0.5 * (angles.unsqueeze(-1) - angles.unsqueeze(-2))
        sinc = torch.sinc(delta / torch.pi)
        safe = sinc.abs() > numerics.eps(grad.dtype)
        scale = torch.where(safe, 1 / torch.where(safe, sinc, torch.ones_like(sinc)), 0.0)
        kernel = torch.polar(torch.ones_like(delta), delta) * scale
        inner = vectors.mH @ grad.to(vectors.dtype) @ vectors
        return r @ skew((vectors @ (kernel * inner) @ vectors.mH).real)


def _log_of_half_turns(inner: Tensor, near: Tensor) -> Tensor:
    """The part of log R on the planes turned by nearly π.

    There R is minus a rotation by a small angle, so log R = J (π - arcsin |S|) with J the sign of
    the skew part S, which a Hermitian decomposition of iS gives however small S is, once scaled to
    size one.
    """
    pair = torch.arange(inner.shape[-1] - 1, device=inner.device)[::2]
    inside = near.unsqueeze(-1) & near.unsqueeze(-2)
    s = torch.where(inside, inner, 0.0)
    # Where S is zero to rounding every J is right; one is given by the pairs of the basis.
    floor = 16 * numerics.eps(inner.dtype)
    size = s.abs().amax((-2, -1), keepdim=True)
    default = torch.zeros_like(s)
    default[..., pair, pair + 1] = floor
    default = torch.where(inside, default - default.mT, 0.0)
    s = torch.where(size < floor, default, s)
    size = size.clamp_min(floor)
    outside = 4.0 * (~near).to(s.dtype).diag_embed()
    sines, vectors = spectral.eigh(1j * s / size + outside)
    rank = torch.arange(near.shape[-1], device=near.device)
    count = near.sum(-1, keepdim=True)
    sign = torch.where(rank < count, torch.where(2 * rank < count, -1.0, 1.0), 0.0).to(s.dtype)
    angles = sign * (torch.pi - (sines.abs() * size.squeeze(-1)).clamp_max(1).asin())
    log: Tensor = ((vectors * angles.unsqueeze(-2)) @ vectors.mH).imag
    return log


class _Project(Function):
    """The rotation R = U D Vᵀ of X = R H, H = V (D S) Vᵀ symmetric.

    For dR = R A, the skew A solves A H + H A = Rᵀ dX - dXᵀ R, which divides by h_i + h_j.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        numerics.require_finite(x, 2)  # of an infinite entry the decomposition says nothing
        u, s, vh = torch.linalg.svd(x)
        sign = torch.ones_like(s)
        sign[..., -1] = torch.linalg.det(u @ vh).sign()
        r = (u * sign.unsqueeze(-2)) @ vh
        ctx.save_for_backward(r, vh, s * sign)
        return r

    @staticmethod
    @first_order
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        r, vh, h = ctx.saved_tensors
        inner = vh @ skew(r.mT @ grad) @ vh.mT
        sums = h.unsqueeze(-1) + h.unsqueeze(-2)
        sums = sums + torch.eye(h.shape[-1], dtype=h.dtype, device=h.device)
        off = ~torch.eye(h.shape[-1], dtype=torch.bool, device=h.device)
        return 2 * r @ (vh.mT @ torch.where(off, inner / sums, 0.0) @ vh)
