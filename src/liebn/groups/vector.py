"""Flat spaces: vectors under addition, on which everything is arithmetic."""

from __future__ import annotations

from typing import Any, final

import torch
from torch import Tensor

from liebn.groups.base import Centred, LieGroup, LogRay, Ray
from liebn.groups.mean import EXACT, LOCAL, Average, Rule, Total
from liebn.linalg import correlation, spectral


class VectorRay(LogRay):
    """The line through 0 and x."""

    def at(self, t: Tensor, onto: Tensor | None = None) -> Tensor:
        """Onto + t x."""
        point = self.space.expand(t) * self.log
        return point if onto is None else onto + point


class Vector(LieGroup):
    """A vector space under addition: exp and log change nothing, the mean is arithmetic."""

    def identity(
        self,
        *batch: int,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> Tensor:
        return torch.zeros((*batch, *self.point_shape), dtype=dtype, device=device)

    @final
    def compose(self, x: Tensor, y: Tensor) -> Tensor:
        return x + y

    @final
    def inverse(self, x: Tensor) -> Tensor:
        return -x

    @final
    def exp(self, v: Tensor) -> Tensor:
        return self.project(v)

    @final
    def log(self, x: Tensor) -> Tensor:
        return x

    def random(
        self,
        *batch: int,
        generator: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> Tensor:
        shape = (*batch, *self.point_shape)
        return self.project(torch.randn(shape, generator=generator, dtype=dtype, device=device))

    def violation(self, x: Tensor) -> Tensor:
        """The distance to the projection relative to the size of x; infinite if x is not finite."""
        dims = len(self.point_shape)
        flat = x.reshape(*x.shape[: x.dim() - dims], self.point_shape.numel())
        off = (x - self.project(x)).reshape(flat.shape).abs().amax(-1)
        size = flat.abs().amax(-1).clamp_min(torch.finfo(x.dtype).tiny)
        return torch.where(torch.isfinite(flat).all(-1), off / size, torch.inf)

    def ray(self, x: Tensor) -> Ray:
        return VectorRay(self, x)

    def centre(
        self,
        x: Tensor,
        weights: Tensor | None = None,
        *,
        rule: Rule = EXACT,
        total: Total = LOCAL,
    ) -> Centred:
        average = Average(x, weights, total)
        mean = self._mean(x, average, rule)
        ray = VectorRay(self, x - mean)
        variance = average(ray.squared_norm())
        return Centred(mean, ray, variance.detach() if rule.detach else variance)

    def _mean(self, x: Tensor, average: Average, rule: Rule) -> Tensor:
        return average(x.detach() if rule.detach else x)


class Euclidean(Vector):
    """Vectors of any shape with ‖v‖² = Σ v²; `Euclidean()` is the real line."""

    def __init__(self, *shape: int) -> None:
        super().__init__()
        self.point_shape = torch.Size(shape)

    def squared_norm(self, v: Tensor) -> Tensor:
        return squared_entries(v, len(self.point_shape))

    def project(self, x: Tensor) -> Tensor:
        return x

    def rough_violation(self, x: Tensor) -> Tensor:
        return x.new_zeros(())  # whatever is finite is a vector

    def manifold(self) -> Any:
        import geoopt

        return geoopt.Euclidean(ndim=len(self.point_shape))

    def extra_repr(self) -> str:
        return ", ".join(map(str, self.point_shape))


class Symmetric(Vector):
    """Symmetric n×n matrices with ‖V‖² = α ‖V‖_F² + β (tr V)² + δ ‖diag V‖²."""

    def __init__(self, n: int, alpha: float = 1.0, beta: float = 0.0, delta: float = 0.0) -> None:
        super().__init__()
        require_admissible(n, alpha + min(delta, 0.0), beta)
        self.point_shape = torch.Size((n, n))
        self.alpha, self.beta, self.delta = float(alpha), float(beta), float(delta)

    def squared_norm(self, v: Tensor) -> Tensor:
        square = self.alpha * squared_entries(v, 2)
        if self.beta or self.delta:
            diagonal = v.diagonal(dim1=-2, dim2=-1)
            square = square + self.beta * diagonal.sum(-1).square()
            square = square + self.delta * diagonal.square().sum(-1)
        return square

    def project(self, x: Tensor) -> Tensor:
        return 0.5 * (x + x.mT)

    def extra_repr(self) -> str:
        return f"{self.point_shape[0]}, α={self.alpha:g}, β={self.beta:g}, δ={self.delta:g}"


class LowerTriangular(Vector):
    """Lower triangular n×n matrices with ‖V‖² = weight ‖V‖_F²."""

    def __init__(self, n: int, weight: float = 1.0) -> None:
        super().__init__()
        self.point_shape = torch.Size((n, n))
        self.weight = float(weight)

    def squared_norm(self, v: Tensor) -> Tensor:
        return self.weight * squared_entries(v, 2)

    def project(self, x: Tensor) -> Tensor:
        return x.tril()

    def extra_repr(self) -> str:
        return f"{self.point_shape[0]}, weight={self.weight:g}"


class Subspace(Vector):
    """A space of n×n matrices with ‖V‖² = ‖V‖_F²; a subclass projects onto it, orthogonally."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.point_shape = torch.Size((n, n))

    def squared_norm(self, v: Tensor) -> Tensor:
        return squared_entries(v, 2)

    def extra_repr(self) -> str:
        return str(self.point_shape[0])


class StrictlyLower(Subspace):
    """Lower triangular n×n matrices of diagonal zero with ‖V‖² = ‖V‖_F²."""

    def project(self, x: Tensor) -> Tensor:
        return x.tril(-1)


class Hollow(Subspace):
    """Symmetric n×n matrices of diagonal zero with ‖V‖² = ‖V‖_F²."""

    def project(self, x: Tensor) -> Tensor:
        return correlation.hollow(spectral.symmetrise(x))


class RowZero(Subspace):
    """Symmetric n×n matrices of row sums zero with ‖V‖² = ‖V‖_F²."""

    def project(self, x: Tensor) -> Tensor:
        return correlation.centred(spectral.symmetrise(x))


def squared_entries(v: Tensor, dims: int) -> Tensor:
    """Σ v² over the last `dims` dimensions, in one pass."""
    if dims == 0:
        return v.square()
    flat = v.flatten(-dims)
    return torch.linalg.vecdot(flat, flat)


def require_admissible(n: int, alpha: float, beta: float) -> None:
    """Refuse α, β for which α ‖V‖² + β (tr V)² is not positive: min(α, α + nβ) > 0 is needed."""
    if not min(alpha, alpha + n * beta) > 0:
        raise ValueError(
            f"α = {alpha:g}, β = {beta:g} give no metric on {n}×{n} symmetric matrices: "
            f"min(α, α + nβ) must be positive, and α + nβ = {alpha + n * beta:g}"
        )
