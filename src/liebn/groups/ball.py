"""Hyperbolic space as a ball under Möbius addition."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from liebn.groups.base import Gyrogroup
from liebn.groups.vector import squared_entries
from liebn.linalg import numerics
from liebn.linalg.radial import radial


class Ball(Gyrogroup):
    """The Poincaré ball: vectors of Rⁿ, shape (n,), with c |x|² < 1, of constant curvature -c.

    The operation is Möbius addition,

        x ⊕ y = ((1 + 2c⟨x, y⟩ + c|y|²) x + (1 - c|x|²) y) / (1 + 2c⟨x, y⟩ + c²|x|²|y|²),

    with identity 0 and ⊖x = -x. At 0, ‖v‖ = 2 |v|, exp v = tanh(√c |v|) v / (√c |v|), and the
    distance of x from 0 is (2/√c) artanh(√c |x|).

    A Hadamard space: exp is one-to-one everywhere, and moments are controlled whatever the batch.
    The precision is that of the coordinates: a point at distance d from 0 has the condition number
    κ = e^{√c d} = (1 + √c |x|) / (1 - √c |x|), as 1 - √c |x| is known to an error of eps, and
    operations are good to a small multiple of eps·κ. Where a result would lie further than numbers
    can tell from the boundary, √c d ≈ 34 in float64 and 14 in float32, it stays at that distance.

    Args:
        n: the dimension.
        curvature: -c, negative.
    """

    def __init__(self, n: int, curvature: float = -1.0) -> None:
        super().__init__()
        if n < 1:
            raise ValueError(f"Ball(n) needs n ≥ 1, got {n}")
        if not -torch.inf < curvature < 0:
            raise ValueError(f"Ball needs a curvature that is negative, got {curvature:g}")
        self.point_shape = torch.Size((n,))
        self.associative = n == 1
        self.curvature = float(curvature)

    @property
    def _root(self) -> float:
        """√c, the inverse of the radius."""
        return (-self.curvature) ** 0.5

    def identity(
        self,
        *batch: int,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> Tensor:
        return torch.zeros((*batch, *self.point_shape), dtype=dtype, device=device)

    def compose(self, x: Tensor, y: Tensor) -> Tensor:
        # In terms of x + y, and free of other differences: all terms are positive.
        total = x + y
        q = -self.curvature * _square(total)
        a, b = 1 + self.curvature * _square(x), 1 + self.curvature * _square(y)
        return self._held((q * x + a * total) / (q + a * b), rounding_only=True)

    def inverse(self, x: Tensor) -> Tensor:
        return -x

    def exp(self, v: Tensor) -> Tensor:
        return self._held(radial(self._root * v, torch.tanh) / self._root)

    def log(self, x: Tensor) -> Tensor:
        numerics.raise_where(~(self._radius(x.detach()) < 1), self._outside)
        return radial(self._root * x, torch.atanh) / self._root

    def squared_norm(self, v: Tensor) -> Tensor:
        return 4 * squared_entries(v, 1)

    def project(self, x: Tensor) -> Tensor:
        """The nearest point, as far from the boundary as numbers can tell."""
        return self._held(x)

    def violation(self, x: Tensor) -> Tensor:
        """0 in the ball, outside the distance from 0 in radii, infinite if not finite."""
        radius = self._radius(x)
        finite = torch.isfinite(radius)
        return torch.where(finite, torch.where(radius < 1, 0.0, radius), torch.inf)

    def random(
        self,
        *batch: int,
        generator: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> Tensor:
        shape = (*batch, *self.point_shape)
        normal = torch.randn(shape, generator=generator, dtype=dtype, device=device)
        return self.exp(normal / (2 * self._root))

    def manifold(self) -> Any:
        import geoopt

        return geoopt.PoincareBall(c=torch.tensor(-self.curvature, dtype=torch.float64))

    @property
    def _outside(self) -> str:
        return f"lies outside the ball of radius {1 / self._root:g}"

    def _radius(self, x: Tensor) -> Tensor:
        """√c |x|, of the batch shape."""
        return self._root * torch.linalg.vector_norm(x, dim=-1)

    def _held(self, x: Tensor, *, rounding_only: bool = False) -> Tensor:
        """Points with √c |x| reduced to at most 1 - 16 eps; if it exceeds 1 by rounding only."""
        slack = numerics.SLACK * numerics.eps(x.dtype)
        square = -self.curvature * _square(x)
        beyond = square > (1 - slack) ** 2
        if rounding_only:  # what is no point stays outside, to be found there
            beyond = beyond & (square < (1 + slack) ** 2)
        return torch.where(beyond, (1 - slack) / torch.where(beyond, square, 1.0).sqrt(), 1.0) * x

    def extra_repr(self) -> str:
        return f"{self.point_shape[0]}, curvature={self.curvature:g}"


def _square(x: Tensor) -> Tensor:
    return x.square().sum(-1, keepdim=True)
