"""Rotations of space, where the mean, the variance and the powers of a batch have closed forms."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from liebn.groups.base import Centred, Ray
from liebn.groups.mean import (
    EXACT,
    LOCAL,
    Average,
    Fit,
    Operator,
    Rule,
    Total,
    descend,
    start_of,
)
from liebn.groups.rotation import Rotations
from liebn.linalg import quaternion, rotation
from liebn.linalg.autograd import Function, first_order
from liebn.linalg.quaternion import Planes


class SpaceRotations(Rotations):
    """SO(3), with the fast paths of `Rotations`: a ray on rotation vectors, and their mean."""

    def __init__(self) -> None:
        super().__init__(3)

    def rough_violation(self, x: Tensor) -> Tensor:
        """How far the third row is from the cross product of the others, and ‖X‖² from 3."""
        rough = x.new_empty(x.shape[:-2])
        for part in quaternion.chunks(x.shape[:-2], x.device):
            first, second, third = x[part].unbind(-2)
            off = torch.linalg.cross(first, second).sub_(third).abs_().amax(-1)
            size = x[part].square().sum((-2, -1)).div_(3).sub_(1).abs_()
            rough[part] = torch.maximum(off, size)
        return rough

    def ray(self, x: Tensor) -> Ray:
        return VectorRay(_Tangent.apply(x), _vectors(_quaternions(x), None))

    def centre(
        self,
        x: Tensor,
        weights: Tensor | None = None,
        *,
        rule: Rule = EXACT,
        total: Total = LOCAL,
    ) -> Centred:
        average = Average(x, weights, total)
        mean, tangent, vectors = _Centre.apply(x, self, average, rule)
        ray = VectorRay(tangent, vectors)
        variance = average(ray.squared_norm())
        if rule.detach:
            return Centred(mean.detach(), ray, variance.detach())
        return Centred(mean, ray, variance)

    def _mean(self, x: Tensor, average: Average, rule: Rule) -> Tensor:
        mean: Tensor = _Centre.apply(x, self, average, rule)[0]
        return mean.detach() if rule.detach else mean


class VectorRay:
    """The geodesics t ↦ exp(tω) from the identity to R = exp(ω).

    Args:
        tangent: zeros, (3, *batch), that stand for δ in R exp(δ): they carry the gradient.
        vectors: ω, (3, *batch), without gradient.
    """

    def __init__(self, tangent: Tensor, vectors: Tensor) -> None:
        self.tangent, self.vectors = tangent, vectors

    def squared_norm(self) -> Tensor:
        """‖log R‖_F² = 2 |ω|²."""
        return _SquaredNorm.apply(self.tangent, self.vectors)

    def at(self, t: Tensor, onto: Tensor | None = None) -> Tensor:
        """B exp(tω) for B = onto."""
        return _PowerOnto.apply(self.tangent, self.vectors, t, onto)


def _quaternions(x: Tensor) -> Tensor:
    """(*batch, 3, 3) -> (4, *batch)."""
    q = x.new_empty(4, *x.shape[:-2])
    for part in quaternion.chunks(x.shape[:-2], x.device):
        found = quaternion.from_matrix(quaternion.planes(x[part].detach(), 2))
        torch.stack(found, out=q[:, part])
    return q


def _vectors(q: Tensor, mean: Tensor | None) -> Tensor:
    """The rotation vectors of Mᵀ X, (4, *batch) -> (3, *batch)."""
    vectors = q.new_empty(3, *q.shape[1:])
    back = None if mean is None else quaternion.conjugate(_quaternions(mean).unbind(0))
    for part in quaternion.chunks(q.shape[1:], q.device):
        own = q[:, part].unbind(0)
        moved = own if back is None else quaternion.multiply(back, own)
        torch.stack(quaternion.log(moved), out=vectors[:, part])
    return vectors


def _broadcast(components: Tensor, batch: torch.Size) -> Tensor:
    """(k, *own) -> (k, *batch) for a shape that `own` broadcasts to."""
    k, *own = components.shape
    return components.reshape(k, *[1] * (len(batch) - len(own)), *own).expand(k, *batch)


def _turn(x: Tensor, along: Tensor) -> Tensor:
    """½ X hat(g), the tangential gradient of X with respect to δ in X exp(δ)."""
    out = torch.empty_like(x, memory_format=torch.contiguous_format)
    for part in quaternion.chunks(x.shape[:-2], x.device):
        entries = quaternion.planes(x[part], 2)
        g = (0.5 * along[:, part]).unbind(0)
        rows = [quaternion.cross(entries[i : i + 3], g) for i in (0, 3, 6)]
        torch.stack([c for row in rows for c in row], -1, out=out[part].flatten(-2))
    return out


class _Tangent(Function):
    """δ = 0 in X exp(δ), (*batch, 3, 3) -> (3, *batch)."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x.new_zeros(3, *x.shape[:-2])

    @staticmethod
    @first_order
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return _turn(x, grad)


class _SquaredNorm(Function):
    @staticmethod
    def forward(ctx: Any, tangent: Tensor, vectors: Tensor) -> Tensor:
        ctx.save_for_backward(vectors)
        return 2 * quaternion.dot(vectors.unbind(0), vectors.unbind(0))

    @staticmethod
    @first_order
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (vectors,) = ctx.saved_tensors
        return 4 * grad * vectors, None


class _PowerOnto(Function):
    """Y = B exp(tω).

    With g the gradient of Y in Y exp(·), u = ω/θ and g_⊥ = g - (u·g) u, the gradient in R exp(δ) is
    t (u·g) u + ρ Rot_u((t - 1) θ/2) g_⊥ with ρ = sin(tθ/2) / sin(θ/2), regular at 0 and π.
    """

    @staticmethod
    def forward(
        ctx: Any, tangent: Tensor, vectors: Tensor, t: Tensor, onto: Tensor | None
    ) -> Tensor:
        bias = () if onto is None else onto.shape[:-2]
        batch = torch.broadcast_shapes(vectors.shape[1:], t.shape, bias)
        v, f = _broadcast(vectors, batch), t.expand(batch)
        b = None if onto is None else _broadcast(_quaternions(onto), batch)
        out = vectors.new_empty(*batch, 3, 3)
        for part in quaternion.chunks(batch, vectors.device):
            q = quaternion.exp((f[part] * v[:, part]).unbind(0))
            if b is not None:
                q = quaternion.multiply(b[:, part].unbind(0), q)
            torch.stack(quaternion.to_matrix(q), -1, out=out[part].flatten(-2))
        ctx.save_for_backward(vectors, t, out, *(() if onto is None else (onto,)))
        return out

    @staticmethod
    @first_order
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, Tensor | None, Tensor | None]:
        vectors, t, out, *onto = ctx.saved_tensors
        batch = out.shape[:-2]
        v, f = _broadcast(vectors, batch), t.expand(batch)
        along, along_t = vectors.new_empty(3, *batch), vectors.new_empty(batch)
        along_onto = vectors.new_empty(3, *batch) if ctx.needs_input_grad[3] else None
        for part in quaternion.chunks(batch, vectors.device):
            w, s = v[:, part].unbind(0), f[part]
            g = _pull(quaternion.planes(out[part], 2), quaternion.planes(grad[part], 2))
            torch.stack(_through_power(w, s, g), out=along[:, part])
            along_t[part] = quaternion.dot(w, g)
            if along_onto is not None:
                q = quaternion.exp((s * v[:, part]).unbind(0))
                torch.stack(quaternion.rotate(q, g), out=along_onto[:, part])
        narrowed = torch.stack([c.sum_to_size(vectors.shape[1:]) for c in along])
        if along_onto is not None:
            turn = torch.stack([c.sum_to_size(onto[0].shape[:-2]) for c in along_onto])
            return narrowed, None, along_t.sum_to_size(t.shape), _turn(onto[0], turn)
        return narrowed, None, along_t.sum_to_size(t.shape), None


def _pull(y: Planes, grad: Planes) -> Planes:
    """The gradient g with <∂Y, Y hat(δ)> = g·δ: the three skew entries of Yᵀ ∂Y."""
    columns = [(y[i::3], grad[i::3]) for i in range(3)]
    return tuple(
        quaternion.dot(columns[i][0], columns[j][1]) - quaternion.dot(columns[j][0], columns[i][1])
        for i, j in ((2, 1), (0, 2), (1, 0))
    )


def _through_power(w: Planes, t: Tensor, g: Planes) -> Planes:
    angle = quaternion.dot(w, w).sqrt_()
    inverse = angle.clamp_min(torch.finfo(angle.dtype).tiny).reciprocal_()
    u = tuple(c * inverse for c in w)
    half = 0.5 * angle
    # sin(tθ/2) / sin(θ/2) as t times a ratio of sincs, which is t at θ = 0.
    ratio = t * torch.sinc(t * half / torch.pi) / torch.sinc(half / torch.pi)
    turned = (t - 1) * half
    first, second = ratio * turned.cos(), ratio * turned.sin()
    axial = quaternion.dot(u, g) * (t - first)
    across = quaternion.cross(u, g)
    return tuple(
        (first * a).addcmul_(second, b).addcmul_(axial, c)
        for a, b, c in zip(g, across, u, strict=True)
    )


class _Batch:
    """A batch of rotations, seen from one candidate mean after another."""

    def __init__(self, x: Tensor, average: Average) -> None:
        self.quaternions, self.average = _quaternions(x), average
        self.mean: Tensor | None = None
        self.seen = self.quaternions[1:]

    def vectors(self, mean: Tensor) -> Tensor:
        """ω_i = log(Mᵀ X_i), (3, N, *channels)."""
        if self.mean is None or not torch.equal(mean, self.mean):
            self.mean, self.seen = mean, _vectors(self.quaternions, mean)
        return self.seen

    def fit(self, mean: Tensor) -> Fit:
        """How well the mean centres the batch."""
        vectors = self.vectors(mean)
        residual = torch.stack([self.average(c) for c in vectors], -1)
        squares = 2 * quaternion.dot(vectors.unbind(0), vectors.unbind(0))
        farthest = self.average.total.largest(squares)
        return Fit(
            rotation.hat(residual),
            self.average(squares)[..., None, None],
            farthest[..., None, None],
        )

    def hessian(self, mean: Tensor) -> Tensor:
        """Σ w (1 + c ω×ω×) with c θ² = 1 - (θ/2) cot(θ/2), (*channels, 3, 3)."""
        vectors = self.vectors(mean)
        angle = quaternion.dot(vectors.unbind(0), vectors.unbind(0)).sqrt_()
        bend = rotation.half_angle_cotangent(angle)
        scale = bend / angle.square().clamp_min(torch.finfo(angle.dtype).tiny)
        x, y, z = vectors.unbind(0)
        sx, sy, sz = scale * x, scale * y, scale * z
        entries = [sx * x, sx * y, sx * z, sy * y, sy * z, sz * z]
        xx, xy, xz, yy, yz, zz = (self.average(e) for e in entries)
        outer = torch.stack([xx, xy, xz, xy, yy, yz, xz, yz, zz], -1).unflatten(-1, (3, 3))
        rest = (1 - self.average(bend))[..., None, None]
        return outer + rest * torch.eye(3, dtype=outer.dtype, device=outer.device)

    def hessian_operator(self, mean: Tensor) -> Operator:
        """The Hessian, on skew matrices."""
        matrix = self.hessian(mean)
        return lambda v: rotation.hat((matrix @ rotation.vee(v).unsqueeze(-1)).squeeze(-1))


class _Centre(Function):
    """The mean M, zeros δ in MᵀX exp(δ) that carry the gradient, and ω = log MᵀX.

    M moves by M exp(η) with H η = Σ w dω, and R = MᵀX by exp(-η) R, so that δ = -Rᵀη.
    """

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, space: SpaceRotations, average: Average, rule: Rule
    ) -> tuple[Tensor, Tensor, Tensor]:
        batch = _Batch(x, average)
        newton = batch.hessian_operator if rule.step == "newton" else None
        start = start_of(space, x, average, rule)
        mean = descend(space, start, batch.fit, newton, rule)
        vectors = batch.vectors(mean)
        ctx.save_for_backward(x, mean)
        ctx.batch, ctx.rule = batch, rule
        ctx.mark_non_differentiable(vectors)
        ctx.set_materialize_grads(False)
        return mean, torch.zeros_like(vectors), vectors

    @staticmethod
    @first_order
    def backward(
        ctx: Any, along_mean: Tensor | None, along: Tensor | None, _: None
    ) -> tuple[Tensor | None, None, None, None]:
        x, mean = ctx.saved_tensors
        batch, average = ctx.batch, ctx.batch.average
        if not ctx.rule.detach:
            vectors = batch.vectors(mean)
            moved = mean.new_zeros(mean.shape[:-1])
            if along_mean is not None:
                moved = moved + 2 * rotation.vee(mean.mT @ along_mean)
            if along is not None:
                turned = quaternion.rotate(quaternion.exp(vectors.unbind(0)), along.unbind(0))
                moved = moved - torch.stack([c.sum(0) for c in turned], -1)
            shift = torch.linalg.solve(batch.hessian(mean), average.reduce(moved))
            through = _through_log(vectors, shift.movedim(-1, 0).unsqueeze(1))
            shared = torch.stack([average.spread(c) for c in through])
            along = shared if along is None else along + shared
        return None if along is None else _turn(x, along), None, None, None


def _through_log(vectors: Tensor, q: Tensor) -> Planes:
    """q - ½ ω × q + c ω × (ω × q), the adjoint of δ ↦ dω for R exp(δ)."""
    w = vectors.unbind(0)
    angle = quaternion.dot(w, w).sqrt_()
    c = rotation.half_angle_cotangent(angle)
    c = c / angle.square().clamp_min(torch.finfo(angle.dtype).tiny)
    c = torch.where(angle < 1e-6, 1 / 12, c)
    first = quaternion.cross(w, q.expand_as(vectors).unbind(0))
    second = quaternion.cross(w, first)
    return tuple(a - 0.5 * b + c * d for a, b, d in zip(q.unbind(0), first, second, strict=True))
