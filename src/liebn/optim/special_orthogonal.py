"""The manifold of rotations, in geoopt's terms."""

from __future__ import annotations

from typing import Any

import geoopt
import torch
from torch import Tensor

from liebn.groups import SO
from liebn.linalg import rotation

Verdict = tuple[bool, str | None]


class SpecialOrthogonal(geoopt.Manifold):  # type: ignore[misc]  # geoopt ships no types
    """Rotations X of Rⁿ, XᵀX = I and det X = 1, with the bi-invariant metric ⟨U, V⟩ = tr UᵀV.

    Tangent vectors at X are X A with A skew; the geodesics are t ↦ X exp(t A). Points are
    (..., n, n).
    """

    name = "SpecialOrthogonal"
    ndim = 2
    reversible = True

    def _check_shape(self, shape: tuple[int, ...], name: str) -> Verdict:
        ok, reason = super()._check_shape(shape, name)
        if ok and shape[-1] != shape[-2]:
            return False, f"`{name}` should be square, got {shape[-2]} × {shape[-1]}"
        return ok, reason

    def _check_point_on_manifold(
        self, x: Tensor, *, atol: float = 1e-5, rtol: float = 1e-5
    ) -> Verdict:
        identity = torch.eye(x.shape[-1], dtype=x.dtype, device=x.device).expand_as(x)
        if not torch.allclose(x.mT @ x, identity, atol=atol, rtol=rtol):
            return False, f"`X^T X != I` with atol={atol}, rtol={rtol}"
        if not bool((torch.linalg.det(x) > 0).all()):
            return False, "`det X` is -1: a reflection, not a rotation"
        return True, None

    def _check_vector_on_tangent(
        self, x: Tensor, u: Tensor, *, atol: float = 1e-5, rtol: float = 1e-5
    ) -> Verdict:
        a = x.mT @ u
        if not torch.allclose(a, -a.mT, atol=atol, rtol=rtol):
            return False, f"`X^T U` is not skew with atol={atol}, rtol={rtol}"
        return True, None

    def projx(self, x: Tensor) -> Tensor:
        """The nearest rotation to X."""
        return rotation.project(x)

    def proju(self, x: Tensor, u: Tensor) -> Tensor:
        """X skew(XᵀU), the nearest tangent vector at X."""
        return x @ rotation.skew(x.mT @ u)

    egrad2rgrad = proju

    def inner(
        self, x: Tensor, u: Tensor, v: Tensor | None = None, *, keepdim: bool = False
    ) -> Tensor:
        """Tr UᵀV."""
        return (u * (u if v is None else v)).sum((-2, -1), keepdim=keepdim)

    def expmap(self, x: Tensor, u: Tensor) -> Tensor:
        """X exp(XᵀU)."""
        return rotation.without_drift(x @ rotation.exp(x.mT @ u))

    retr = expmap

    def logmap(self, x: Tensor, y: Tensor) -> Tensor:
        """X log(XᵀY)."""
        return x @ rotation.log(x.mT @ y)

    def dist(self, x: Tensor, y: Tensor, *, keepdim: bool = False) -> Tensor:
        """‖log XᵀY‖_F: √2 times the angle, for rotations of space."""
        distance: Tensor = torch.linalg.matrix_norm(rotation.log(x.mT @ y), keepdim=keepdim)
        return distance

    def transp(self, x: Tensor, y: Tensor, v: Tensor) -> Tensor:
        """Parallel transport of V along the shortest geodesic from X to Y."""
        return self.transp_follow_expmap(x, self.logmap(x, y), v)

    def transp_follow_expmap(self, x: Tensor, u: Tensor, v: Tensor) -> Tensor:
        """Parallel transport of V along t ↦ X exp(t A), A = XᵀU: X exp(A/2) (XᵀV) exp(A/2)."""
        return self.expmap_transp(x, u, v)[1]

    transp_follow_retr = transp_follow_expmap

    def expmap_transp(self, x: Tensor, u: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """The end of the geodesic and the vector transported there, by one exponential."""
        half = rotation.exp(0.5 * (x.mT @ u))
        middle = x @ half
        return rotation.without_drift(middle @ half), middle @ rotation.skew(x.mT @ v) @ half

    retr_transp = expmap_transp

    def random(
        self, *size: int, dtype: torch.dtype | None = None, device: Any = None, **_: Any
    ) -> Tensor:
        """Rotations from the uniform distribution."""
        shape = geoopt.utils.size2shape(*size)
        self._assert_check_shape(shape, "x")
        x = SO(shape[-1]).random(*shape[:-2], dtype=dtype, device=device)
        point: Tensor = geoopt.ManifoldTensor(x, manifold=self)
        return point

    def origin(
        self, *size: int, dtype: torch.dtype | None = None, device: Any = None, seed: Any = 42
    ) -> Tensor:
        """The identity; `seed` is geoopt's, and ignored."""
        del seed
        shape = geoopt.utils.size2shape(*size)
        self._assert_check_shape(shape, "x")
        x = SO(shape[-1]).identity(*shape[:-2], dtype=dtype, device=device)
        point: Tensor = geoopt.ManifoldTensor(x, manifold=self)
        return point
