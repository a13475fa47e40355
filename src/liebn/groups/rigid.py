"""Rigid motions."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor
from torch.nn.functional import pad

from liebn.groups.base import LieGroup, Ray
from liebn.groups.mean import Average, Rule
from liebn.groups.so import SO
from liebn.groups.vector import Euclidean
from liebn.linalg import numerics


class SE(LieGroup):
    """Rigid motions x ↦ Rx + t of Rⁿ, matrices [[R, t], [0, 1]] of size n + 1 under multiplication.

    The metric d² = ‖log RᵀS‖_F² + ‖u - t‖² from (R, t) to (S, u) is that of the product of SO(n)
    and Rⁿ. It is left-invariant, though the group is not that product: translation by (Q, s) takes
    t to Qt + s. Geodesics are those of the product too, so that exp of [[ω, v], [0, 0]] is
    [[exp ω, v], [0, 1]] and not the matrix exponential, whose curves are screw motions. The mean is
    the mean rotation with the arithmetic mean of the translations.

    exp is one-to-one where the rotation is within √2 π of the identity, as in SO(n). Control of the
    moments by a layer ends where a scaled rotation passes that; translations have no such limit.
    """

    def __init__(self, n: int) -> None:
        super().__init__()
        self.rotations, self.translations = SO(n), Euclidean(n)
        self.point_shape = torch.Size((n + 1, n + 1))
        self.injectivity_radius = self.rotations.injectivity_radius

    def unpack(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """R and t of a motion, or ω and v of a tangent vector at the identity."""
        return x[..., :-1, :-1], x[..., :-1, -1]

    def pack(self, rotation: Tensor, translation: Tensor, corner: int = 1) -> Tensor:
        """The matrix of a motion; with `corner` 0, that of a tangent vector at the identity."""
        x = pad(torch.cat([rotation, translation.unsqueeze(-1)], -1), (0, 0, 0, 1))
        x[..., -1, -1] = corner
        return x

    def identity(
        self,
        *batch: int,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> Tensor:
        eye = torch.eye(self.point_shape[0], dtype=dtype, device=device)
        return eye.expand(*batch, *self.point_shape).clone()

    def compose(self, x: Tensor, y: Tensor) -> Tensor:
        return x @ y

    def inverse(self, x: Tensor) -> Tensor:
        r, t = self.unpack(x)
        return self.pack(r.mT, -_apply(r.mT, t))

    def untranslate(self, p: Tensor, x: Tensor) -> Tensor:
        """(RᵀS, Rᵀ(u - t)), with no cancellation between motions that are both far away."""
        (r, t), (s, u) = self.unpack(p), self.unpack(x)
        return self.pack(r.mT @ s, _apply(r.mT, u - t))

    def exp(self, v: Tensor) -> Tensor:
        turn, shift = self.unpack(v)
        return self.pack(self.rotations.exp(turn), shift)

    def log(self, x: Tensor) -> Tensor:
        r, t = self.unpack(x)
        return self.pack(self.rotations.log(r), t, corner=0)

    def squared_norm(self, v: Tensor) -> Tensor:
        turn, shift = self.unpack(v)
        return self.rotations.squared_norm(turn) + self.translations.squared_norm(shift)

    def project(self, x: Tensor) -> Tensor:
        r, t = self.unpack(x)
        return self.pack(self.rotations.project(r), t)

    def violation(self, x: Tensor) -> Tensor:
        """That of the rotation, or the largest deviation of the last row from (0, 1)."""
        last = self.identity(dtype=x.dtype, device=x.device)[-1]
        off = (x[..., -1, :] - last).abs().amax(-1)
        off = torch.maximum(off, self.rotations.violation(self.unpack(x)[0]))
        return off.masked_fill(numerics.non_finite(x, 2), torch.inf)

    def random(
        self,
        *batch: int,
        generator: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> Tensor:
        r, t = (
            factor.random(*batch, generator=generator, dtype=dtype, device=device)
            for factor in (self.rotations, self.translations)
        )
        return self.pack(r, t)

    def ray(self, x: Tensor) -> Ray:
        r, t = self.unpack(x)
        return RigidRay(self, self.rotations.ray(r), t)

    def _mean(self, x: Tensor, average: Average, rule: Rule) -> Tensor:
        r, t = self.unpack(x)
        if rule.start == "published":  # nothing is, of motions: not the start of the rotations
            rule = replace(rule, start="average")
        mean = self.rotations._mean(r, average, rule)
        return self.pack(mean, self.translations._mean(t, average, rule))

    def extra_repr(self) -> str:
        return str(self.point_shape[0] - 1)


class RigidRay:
    """The geodesics s ↦ (R^s, s t) from the identity to motions (R, t)."""

    def __init__(self, space: SE, turn: Ray, shift: Tensor) -> None:
        self.space, self.turn, self.shift = space, turn, shift

    def squared_norm(self) -> Tensor:
        """‖log R‖_F² + ‖t‖²."""
        return self.turn.squared_norm() + self.space.translations.squared_norm(self.shift)

    def at(self, t: Tensor, onto: Tensor | None = None) -> Tensor:
        """B (R^s, s t) at the time s, for B = onto."""
        shift = t.unsqueeze(-1) * self.shift
        if onto is None:
            return self.space.pack(self.turn.at(t), shift)
        r, u = self.space.unpack(onto)
        return self.space.pack(self.turn.at(t, r), _apply(r, shift) + u)


def _apply(matrix: Tensor, vector: Tensor) -> Tensor:
    return (matrix @ vector.unsqueeze(-1)).squeeze(-1)
