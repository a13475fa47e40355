"""Rotation groups."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from liebn.groups.base import LieGroup
from liebn.linalg import numerics, rotation


class Rotations(LieGroup):
    """Rotations of Rⁿ with the bi-invariant metric d(R, S) = ‖log RᵀS‖_F.

    In space, d is √2 times the angle. The space is compact: exp is one-to-one within √2 π of the
    identity, and means are unique for samples within half that distance of each other.
    """

    injectivity_radius = 2**0.5 * torch.pi
    published_start = "first"

    def __init__(self, n: int) -> None:
        super().__init__()
        if n < 2:
            raise ValueError(f"SO(n) needs n ≥ 2, got {n}")
        self.point_shape = torch.Size((n, n))

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
        return x.mT

    def exp(self, v: Tensor) -> Tensor:
        return rotation.exp(v)

    def log(self, x: Tensor) -> Tensor:
        return rotation.log(x)

    def squared_norm(self, v: Tensor) -> Tensor:
        return v.square().sum((-2, -1))

    def project(self, x: Tensor) -> Tensor:
        return rotation.project(x)

    def violation(self, x: Tensor) -> Tensor:
        """The largest entry of XᵀX - I, and at least 2 for a reflection."""
        finite = ~numerics.non_finite(x, 2)
        eye = self.identity(dtype=x.dtype, device=x.device)
        safe = torch.where(finite[..., None, None], x, eye)
        off = (safe.mT @ safe - eye).abs().amax((-2, -1))
        off = torch.where(torch.linalg.det(safe) > 0, off, off.clamp_min(2))
        return torch.where(finite & ~off.isnan(), off, torch.inf)

    def random(
        self,
        *batch: int,
        generator: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> Tensor:
        shape = (*batch, *self.point_shape)
        q, r = torch.linalg.qr(torch.randn(shape, generator=generator, dtype=dtype, device=device))
        q = q * r.diagonal(dim1=-2, dim2=-1).sign().unsqueeze(-2)
        last = torch.ones_like(q[..., 0, :])
        last[..., -1] = torch.linalg.det(q).sign()
        return q * last.unsqueeze(-2)

    def manifold(self) -> Any:
        import geoopt

        return geoopt.EuclideanStiefelExact()

    def extra_repr(self) -> str:
        return str(self.point_shape[0])
