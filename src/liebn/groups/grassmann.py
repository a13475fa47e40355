"""Linear subspaces, translated by rotations."""

from __future__ import annotations

import torch
from torch import Tensor

from liebn.groups.base import Gyrogroup
from liebn.linalg import numerics, spectral, subspace


class Grassmann(Gyrogroup):
    """Subspaces of Rⁿ of dimension p, as the n×n orthogonal projectors onto them.

    The distance is (Σ θ_i²)^½ with the principal angles θ_i. The identity is E = diag(I_p, 0), and

        X ⊕ Y = T Y Tᵀ,   T = exp[log X, E],    ⊖X = K X K,   K = 2 E - I:

    T is the transvection along the geodesic from E to X, and ⊖X the geodesic reflection of X at E.
    A tangent vector V at E is symmetric with blocks 0, Bᵀ, B, 0, and ‖V‖ = ‖B‖_F. For B = W diag(θ)
    Qᵀ, exp V projects onto the columns with upper block Q cos θ and lower W sin θ.

    The space is compact: exp is one-to-one while all angles are under π/2, so within the radius π/2
    of the norm, moments are controlled while no sample is scaled past it, and means are unique for
    samples within π/4 of some point. Where an angle is π/2 the transvection jumps, and one is
    chosen; near two such angles the logarithm is known to eps / (cos θ_i + cos θ_j).

    Args:
        n: the dimension of the whole space.
        p: the dimension of the subspaces, 0 < p < n.
    """

    injectivity_radius = torch.pi / 2

    def __init__(self, n: int, p: int) -> None:
        super().__init__()
        if not 0 < p < n:
            raise ValueError(f"Grassmann(n, p) needs 0 < p < n, got n = {n} and p = {p}")
        self.point_shape = torch.Size((n, n))
        self.p = p
        self.associative = n == 2

    def identity(
        self,
        *batch: int,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> Tensor:
        kept = torch.zeros(self.point_shape[0], dtype=dtype, device=device)
        kept[: self.p] = 1
        return kept.diag().expand(*batch, *self.point_shape).clone()

    def compose(self, x: Tensor, y: Tensor) -> Tensor:
        return spectral.conjugate(subspace.turn(self.log(x), self.p), y)

    def inverse(self, x: Tensor) -> Tensor:
        return subspace.reflected(x, self.p)

    def exp(self, v: Tensor) -> Tensor:
        return subspace.exp(v, self.p)

    def log(self, x: Tensor) -> Tensor:
        return subspace.log(x, self.p)

    def squared_norm(self, v: Tensor) -> Tensor:
        return 0.5 * v.square().sum((-2, -1))

    def project(self, x: Tensor) -> Tensor:
        return subspace.project(x, self.p)

    def violation(self, x: Tensor) -> Tensor:
        """The largest entry of X² - X, of X - Xᵀ, and tr X - p."""
        finite = ~numerics.non_finite(x, 2)
        safe = torch.where(
            finite[..., None, None], x, self.identity(dtype=x.dtype, device=x.device)
        )
        off = torch.maximum((safe @ safe - safe).abs(), (safe - safe.mT).abs()).amax((-2, -1))
        rank = safe.diagonal(dim1=-2, dim2=-1).sum(-1)
        return torch.where(finite, torch.maximum(off, (rank - self.p).abs()), torch.inf)

    def random(
        self,
        *batch: int,
        generator: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> Tensor:
        shape = (*batch, self.point_shape[0], self.p)
        normal = torch.randn(shape, generator=generator, dtype=dtype, device=device)
        basis = torch.linalg.qr(normal).Q
        return basis @ basis.mT

    def extra_repr(self) -> str:
        return f"{self.point_shape[0]}, {self.p}"
