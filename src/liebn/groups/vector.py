"""Flat spaces: vectors under addition, on which everything is arithmetic."""

from __future__ import annotations

from typing import Any, final

import torch
from torch import Tensor

from liebn.groups.base import Centred, LieGroup, LogRay, Ray
from liebn.groups.mean import EXACT, LOCAL, Average, Rule, Total
from liebn.linalg import correlation, spectral
from liebn.linalg.autograd import Function


class VectorRay(LogRay):
    """The line through 0 and x."""

    def at(self, t: Tensor, onto: Tensor | None = None) -> Tensor:
        """Onto + t x."""
        line: Tensor = _Line.apply(self.log, self.space.expand(t), onto)
        return line


class _Line(Function):
    """Onto + t x."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, t: Tensor, onto: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, t)
        ctx.onto = None if onto is None else onto.shape
        return t * x if onto is None else torch.addcmul(onto, t, x)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        x, t = ctx.saved_tensors
        along_x = along_t = along_onto = None
        if ctx.needs_input_grad[2]:
            along_onto = grad.sum_to_size(ctx.onto)
        if ctx.needs_input_grad[1]:
            along_t = _sum_of_products(grad, x, t.shape)
        if ctx.needs_input_grad[0]:
            along_x = (t * grad).sum_to_size(x.shape)
        return along_x, along_t, along_onto


def _sum_of_products(a: Tensor, b: Tensor, shape: torch.Size) -> Tensor:
    """Σ a b over the dimensions where `shape` has size one, or none."""
    if shape.numel() == 1 and a.shape == b.shape:
        return torch.dot(a.flatten(), b.flatten()).reshape(shape)
    return (a * b).sum_to_size(shape)


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

    def dual(self, v: Tensor) -> Tensor:
        """G v with ‖v‖² = <v, G v>: half the gradient of the norm."""
        with torch.enable_grad():
            v = v if v.requires_grad else v.detach().requires_grad_()
            half = 0.5 * self.squared_norm(v).sum()
            (slope,) = torch.autograd.grad(half, v, create_graph=True)
        return slope

    def untranslate(self, p: Tensor, x: Tensor) -> Tensor:
        return x - p

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
        if rule.detach:
            mean = self._mean(x, average, rule)
            z = x - mean
            return Centred(mean, VectorRay(self, z), average(self.squared_norm(z.detach())))
        mean, z, variance = _Centre.apply(x, self, average)
        return Centred(mean, VectorRay(self, z), variance)

    def _geodesic(self, x: Tensor, y: Tensor, t: Tensor) -> Tensor:
        return torch.lerp(x, y, self.expand(t))

    def _mean(self, x: Tensor, average: Average, rule: Rule) -> Tensor:
        return average(x.detach() if rule.detach else x)


class _Centre(Function):
    """The mean m = Σ w x, z = x - m and v² = Σ w ‖z‖², with Σ w = 1.

    Since Σ w z = 0, the gradient in x is ∂z + w (∂m - Σ ∂z + 2 ∂v² G z), where ‖z‖² = <z, G z>.
    """

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, space: Vector, average: Average
    ) -> tuple[Tensor, Tensor, Tensor]:
        mean = average(x)
        z = x - mean
        ctx.problem = space, average
        ctx.save_for_backward(z)
        ctx.set_materialize_grads(False)
        return mean, z, average(space.squared_norm(z))

    @staticmethod
    def backward(
        ctx: Any, along_mean: Tensor | None, along_z: Tensor | None, along_variance: Tensor | None
    ) -> tuple[Tensor | None, None, None]:
        space, average = ctx.problem
        (z,) = ctx.saved_tensors
        moved = along_mean
        if along_z is not None:
            own = along_z.sum(0)
            moved = -own if moved is None else moved - own
        parts = [] if along_z is None else [along_z]
        if moved is not None:
            parts.append(average.spread(average.reduce(moved), z))
        if along_variance is None:
            return (sum(parts[1:], parts[0]).expand_as(z) if parts else None), None, None
        slope = average.spread(space.expand(2 * average.reduce(along_variance)), z)
        grad = slope * space.dual(z)
        for part in parts:
            grad = grad.add_(part)
        return grad, None, None


class Euclidean(Vector):
    """Vectors of any shape with ‖v‖² = Σ v²; `Euclidean()` is the real line."""

    def __init__(self, *shape: int) -> None:
        super().__init__()
        self.point_shape = torch.Size(shape)

    def squared_norm(self, v: Tensor) -> Tensor:
        return squared_entries(v, len(self.point_shape))

    def dual(self, v: Tensor) -> Tensor:
        return v

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
        square = squared_entries(v, 2)
        if self.alpha != 1:
            square = self.alpha * square
        if self.beta or self.delta:
            diagonal = v.diagonal(dim1=-2, dim2=-1)
            square = square + self.beta * diagonal.sum(-1).square()
            square = square + self.delta * diagonal.square().sum(-1)
        return square

    def dual(self, v: Tensor) -> Tensor:
        image = v if self.alpha == 1 else self.alpha * v
        if self.beta or self.delta:
            diagonal = v.diagonal(dim1=-2, dim2=-1)
            trace = diagonal.sum(-1, keepdim=True)
            image = image + (self.beta * trace + self.delta * diagonal).diag_embed()
        return image

    def project(self, x: Tensor) -> Tensor:
        return spectral.symmetrise(x)

    def extra_repr(self) -> str:
        return f"{self.point_shape[0]}, α={self.alpha:g}, β={self.beta:g}, δ={self.delta:g}"


class LowerTriangular(Vector):
    """Lower triangular n×n matrices with ‖V‖² = weight ‖V‖_F²."""

    def __init__(self, n: int, weight: float = 1.0) -> None:
        super().__init__()
        self.point_shape = torch.Size((n, n))
        self.weight = float(weight)

    def squared_norm(self, v: Tensor) -> Tensor:
        square = squared_entries(v, 2)
        return square if self.weight == 1 else self.weight * square

    def dual(self, v: Tensor) -> Tensor:
        return v if self.weight == 1 else self.weight * v

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

    def dual(self, v: Tensor) -> Tensor:
        return v

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
