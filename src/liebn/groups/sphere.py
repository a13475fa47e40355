"""The sphere, translated by rotations."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from liebn.groups.base import Gyrogroup
from liebn.groups.vector import squared_entries
from liebn.linalg.radial import radial


class Sphere(Gyrogroup):
    """Unit vectors of Rⁿ, shape (n,), where the distance is the angle.

    The identity is the north pole e = (1, 0, …, 0), and x ⊕ y is y, carried along by the rotation
    of the plane of e and x that takes e to x: for x = (x₀, u) and y = (y₀, w),

        x ⊕ y = (x₀ y₀ - ⟨u, w⟩, w + (y₀ - ⟨u, w⟩ / (1 + x₀)) u),    ⊖x = (x₀, -u).

    That is the transvection along the geodesic from e to x, and ⊖x the geodesic reflection of x at
    e. At e, log x = (0, θ u / |u|) with the angle θ = atan2(|u|, x₀).

    The space is compact: exp is one-to-one within π of the north pole, means are unique for samples
    within π/2 of some point, and moments are controlled while no sample is scaled past π. At the
    south pole, where the rotation jumps, one is chosen.

    Args:
        n: how many coordinates a point has; the sphere has dimension n - 1.
    """

    injectivity_radius = torch.pi

    def __init__(self, n: int) -> None:
        super().__init__()
        if n < 2:
            raise ValueError(f"Sphere(n) needs n ≥ 2, got {n}")
        self.point_shape = torch.Size((n,))
        self.associative = n == 2

    def identity(
        self,
        *batch: int,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> Tensor:
        pole = torch.eye(1, self.point_shape[0], dtype=dtype, device=device)[0]
        return pole.expand(*batch, *self.point_shape).clone()

    def compose(self, x: Tensor, y: Tensor) -> Tensor:
        (x0, u), (y0, w) = _split(x), (y[..., :1], y[..., 1:])
        along = (u * w).sum(-1, keepdim=True)
        # |u|² / (1 + x₀) is 1 - x₀, which loses no digits near the south pole.
        south = x0 < 0
        d = u / torch.where(south, torch.linalg.vector_norm(u, dim=-1, keepdim=True), 1.0)
        factor = torch.where(south, 1 - x0, 1 / torch.where(south, 1.0, 1 + x0))
        turned = factor * (d * w).sum(-1, keepdim=True) * d
        return torch.cat([x0 * y0 - along, w + y0 * u - turned], -1)

    def inverse(self, x: Tensor) -> Tensor:
        return torch.cat([x[..., :1], -x[..., 1:]], -1)

    def exp(self, v: Tensor) -> Tensor:
        w = v[..., 1:]
        cosine = torch.linalg.vector_norm(w, dim=-1, keepdim=True).cos()
        return torch.cat([cosine, radial(w, torch.sin)], -1)

    def log(self, x: Tensor) -> Tensor:
        x0, u = _split(x)
        w = radial(u, lambda sine: torch.atan2(sine, x0))
        return torch.cat([torch.zeros_like(x0), w], -1)

    def squared_norm(self, v: Tensor) -> Tensor:
        return squared_entries(v, 1)

    def project(self, x: Tensor) -> Tensor:
        """x / |x|, and the north pole for 0."""
        largest = x.detach().abs().amax(-1, keepdim=True)
        x = torch.where(largest > 0, x, self.identity(dtype=x.dtype, device=x.device))
        x = x / torch.where(largest > 0, largest, 1.0)
        return x / torch.linalg.vector_norm(x, dim=-1, keepdim=True)

    def violation(self, x: Tensor) -> Tensor:
        """| |x| - 1 |, infinite if not finite."""
        off = (torch.linalg.vector_norm(x, dim=-1) - 1).abs()
        return torch.where(torch.isfinite(off), off, torch.inf)

    def random(
        self,
        *batch: int,
        generator: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> Tensor:
        shape = (*batch, *self.point_shape)
        return self.project(torch.randn(shape, generator=generator, dtype=dtype, device=device))

    def manifold(self) -> Any:
        import geoopt

        return geoopt.Sphere()

    def extra_repr(self) -> str:
        return str(self.point_shape[0])


def _split(x: Tensor) -> tuple[Tensor, Tensor]:
    """x₀ and u, which at the south pole, where any direction will do, is not quite zero."""
    x0, u = x[..., :1], x[..., 1:]
    tiny = torch.finfo(x.dtype).tiny
    pole = (x0 <= 0) & (u.square().sum(-1, keepdim=True) <= tiny)
    first = (2 * tiny) ** 0.5 * torch.eye(1, u.shape[-1], dtype=x.dtype, device=x.device)[0]
    return x0, torch.where(pole, first, u)
