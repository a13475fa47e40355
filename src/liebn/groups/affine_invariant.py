"""Positive definite matrices with the affine-invariant metric, as a group and a gyrogroup."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

import torch
from torch import Tensor

from liebn.groups.base import Centred, Gyrogroup, Ray
from liebn.groups.mean import (
    EXACT,
    LOCAL,
    Average,
    Rule,
    Total,
    conjugate_gradients,
    pairing,
    start_of,
)
from liebn.groups.spectral_ray import SpectralRay, power_onto, sum_of_products
from liebn.groups.vector import require_admissible
from liebn.linalg import cholesky, numerics, positive, spectral
from liebn.linalg.autograd import Function, first_order


class Frame(NamedTuple):
    """A matrix A with A Aᵀ = M, the translation by M being X ↦ A X Aᵀ.

    Attributes:
        root: A.
        inverse: A⁻¹.
        basis: the eigenvectors and the roots of the eigenvalues of M where A is the symmetric root,
            None where it is the Cholesky factor.
    """

    root: Tensor
    inverse: Tensor
    basis: tuple[Tensor, Tensor] | None

    def pull(self, gradient: Tensor) -> Tensor:
        """The adjoint of Ξ ↦ A⁻¹ dA for dM = A Ξ Aᵀ, symmetrised."""
        if self.basis is None:
            return spectral.symmetrise(cholesky.half_lower(gradient))
        vectors, roots = self.basis
        inner = vectors.mT @ gradient @ vectors
        share = roots.unsqueeze(-2) / (roots.unsqueeze(-1) + roots.unsqueeze(-2))
        return spectral.symmetrise(spectral.conjugate(vectors, share * inner))


class _CongruenceSpace(Gyrogroup):
    """Positive definite matrices where x ⊕ y = A y Aᵀ for a square root A of x.

    The metric at the identity is α ‖V‖_F² + β (tr V)²; both operations below leave the same metric
    invariant, so that distances, geodesics and means agree and only the translations differ.
    """

    def __init__(self, n: int, alpha: float = 1.0, beta: float = 0.0) -> None:
        super().__init__()
        require_admissible(n, alpha, beta)
        self.point_shape = torch.Size((n, n))
        self.alpha, self.beta = float(alpha), float(beta)

    @abstractmethod
    def root(self, x: Tensor) -> Tensor:
        """The square root A that defines the operation, A Aᵀ = x."""

    @abstractmethod
    def unroot(self, x: Tensor) -> Tensor:
        """A⁻¹, the square root of ⊖x."""

    @abstractmethod
    def frame(self, root: Tensor, inverse: Tensor) -> Frame:
        """The frame at M = L Lᵀ, given its Cholesky factor L and L⁻¹."""

    def identity(
        self,
        *batch: int,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> Tensor:
        eye = torch.eye(self.point_shape[0], dtype=dtype, device=device)
        return eye.expand(*batch, *self.point_shape).clone()

    def compose(self, x: Tensor, y: Tensor) -> Tensor:
        return spectral.symmetrise(spectral.congruence(self.root(x), y))

    def inverse(self, x: Tensor) -> Tensor:
        inverse = self.unroot(x)
        return inverse @ inverse.mT

    def untranslate(self, p: Tensor, x: Tensor) -> Tensor:
        """A⁻¹ x A⁻ᵀ for the root A of p, without forming ⊖p."""
        return spectral.congruence(self.unroot(p), x)

    def exp(self, v: Tensor) -> Tensor:
        return spectral.exp(spectral.symmetrise(v))

    def log(self, x: Tensor) -> Tensor:
        return spectral.log(x)

    def squared_norm(self, v: Tensor) -> Tensor:
        square = self.alpha * v.square().sum((-2, -1))
        if self.beta:
            square = square + self.beta * v.diagonal(dim1=-2, dim2=-1).sum(-1).square()
        return square

    def project(self, x: Tensor) -> Tensor:
        return positive.project(x)

    def violation(self, x: Tensor) -> Tensor:
        return positive.violation(x)

    def rough_violation(self, x: Tensor) -> Tensor:
        return positive.rough_violation(x)

    def random(
        self,
        *batch: int,
        generator: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> Tensor:
        shape = (*batch, *self.point_shape)
        normal = torch.randn(shape, generator=generator, dtype=dtype, device=device)
        return self.exp(normal / self.point_shape[0] ** 0.5)

    def _estimate(self, x: Tensor, average: Average) -> Tensor:
        """The midpoint of arithmetic and harmonic mean, which bound the mean from both sides."""
        inverse = cholesky.inverse(cholesky.factor(x))
        harmonic = average.reduce(average.gram(inverse, inverse))
        root = cholesky.factor(average(x))
        # With A = L Lᵀ and (L⁻¹ H⁻¹ L⁻ᵀ) decomposed, A # H = L (Lᵀ H⁻¹ L)^(-½) Lᵀ.
        middle = spectral.power(spectral.symmetrise(root.mT @ harmonic @ root), -0.5)
        return spectral.symmetrise(spectral.conjugate(root, middle))

    def _arithmetic_mean(self, x: Tensor, average: Average) -> Tensor:
        """A convex cone needs no projection, unless rounding or a bad sample led out of it."""
        mean = spectral.symmetrise(average(x))
        _, failed = torch.linalg.cholesky_ex(mean)
        return self.project(mean) if bool(failed.any()) else mean

    def manifold(self) -> Any:
        import geoopt

        return geoopt.SymmetricPositiveDefinite()

    def ray(self, x: Tensor) -> Ray:
        return SpectralRay(*spectral.diagonalise(x), (self.alpha, self.beta), self.root)

    def centre(
        self,
        x: Tensor,
        weights: Tensor | None = None,
        *,
        rule: Rule = EXACT,
        total: Total = LOCAL,
    ) -> Centred:
        average = Average(x, weights, total)
        mean, z, eigenvalues, rows = _Centre.apply(x, self, average, rule)
        ray = SpectralRay(z, eigenvalues, rows, (self.alpha, self.beta), self.root)
        with torch.set_grad_enabled(torch.is_grad_enabled() and not rule.detach):
            variance = average(ray.squared_norm())
        return Centred(mean.detach() if rule.detach else mean, ray, variance)

    def _geodesic(self, x: Tensor, y: Tensor, t: Tensor) -> Tensor:
        """L (L⁻¹ y L⁻ᵀ)^t Lᵀ with x = L Lᵀ, whichever root the operation takes."""
        root = cholesky.factor(x)
        decomposed = spectral.diagonalise(spectral.congruence(cholesky.inverse(root), y))
        return power_onto(*decomposed, t, root)

    def _mean(self, x: Tensor, average: Average, rule: Rule) -> Tensor:
        mean: Tensor = _Centre.apply(x, self, average, rule)[0]
        return mean.detach() if rule.detach else mean

    def extra_repr(self) -> str:
        return f"{self.point_shape[0]}, α={self.alpha:g}, β={self.beta:g}"


class AffineInvariant(_CongruenceSpace):
    """The Lie group x ⊕ y = L y Lᵀ with x = L Lᵀ (Cholesky), and its left-invariant metric."""

    associative = True

    def root(self, x: Tensor) -> Tensor:
        return cholesky.factor(x)

    def unroot(self, x: Tensor) -> Tensor:
        return cholesky.inverse(cholesky.factor(x))

    def frame(self, root: Tensor, inverse: Tensor) -> Frame:
        return Frame(root, inverse, None)


class GyroAffineInvariant(_CongruenceSpace):
    """The gyrogroup x ⊕ y = x^½ y x^½, on which LieBN is whitening by M^(-½)."""

    def root(self, x: Tensor) -> Tensor:
        return spectral.sqrt(x)

    def unroot(self, x: Tensor) -> Tensor:
        return spectral.power(x, -0.5)

    def frame(self, root: Tensor, inverse: Tensor) -> Frame:
        # The singular values of L are the roots of the eigenvalues of L Lᵀ, to twice as many
        # digits.
        vectors, roots, _ = torch.linalg.svd(root)
        return Frame(
            spectral.rebuild(vectors, roots),
            spectral.rebuild(vectors, 1 / roots),
            (vectors, roots),
        )


class _Decomposition(NamedTuple):
    """The batch seen from a candidate mean L Lᵀ: W = L⁻¹ X L⁻ᵀ = U diag(λ) Uᵀ, ℓ = log λ.

    Attributes:
        root: L.
        inverse: L⁻¹.
        eigenvalues: λ.
        rows: Uᵀ.
        logs: ℓ.
        dispersion: Σ w ‖ℓ‖², (*channels, 1, 1).
    """

    root: Tensor
    inverse: Tensor
    eigenvalues: Tensor
    rows: Tensor
    logs: Tensor
    dispersion: Tensor


def _decompose(x: Tensor, root: Tensor, average: Average) -> _Decomposition:
    inverse = cholesky.inverse(root)
    eigenvalues, vectors = spectral.positive_eigh(spectral.congruence(inverse, x))
    logs = eigenvalues.log()
    dispersion = average(torch.linalg.vecdot(logs, logs))[..., None, None]
    return _Decomposition(root, inverse, eigenvalues, vectors.mT, logs, dispersion)


def _bending(logs: Tensor) -> Tensor:
    """X coth x at x = ½ g, g = |ℓ_i - ℓ_j|, as ½ g + g / (exp(g) - 1)."""
    gap = (logs.unsqueeze(-1) - logs.unsqueeze(-2)).abs_().add_(numerics.TINY)
    return gap.expm1().reciprocal_().add_(0.5).mul_(gap)


class Hessian:
    """𝓗[V] = Σ w U (x coth x ∘ Uᵀ V U) Uᵀ, the Hessian of ½ Σ w d²(A exp(V) Aᵀ, X); 𝓗 ⪰ 1."""

    def __init__(self, logs: Tensor, rows: Tensor, average: Average) -> None:
        self.bending = _bending(logs)
        self.rows, self.average = rows, average

    def __call__(self, v: Tensor) -> Tensor:
        """𝓗[V], (*channels, n, n)."""
        image = ((self.rows @ v) @ self.rows.mT).mul_(self.bending)
        image = image @ self.rows
        return spectral.symmetrise(self.average.reduce(self.average.gram(self.rows, image)))

    def solve(self, right: Tensor, most_steps: int, tolerance: Tensor | float) -> Tensor:
        """V with 𝓗[V] = right."""
        return conjugate_gradients(self, right, 2, most_steps=most_steps, tolerance=tolerance)


def _search(x: Tensor, space: _CongruenceSpace, average: Average, rule: Rule) -> _Decomposition:
    """The decomposition at the mean, by steps L ← L chol(exp V) in the frame of the candidate.

    A step after which the dispersion has grown is taken back and halved.
    """
    eps = numerics.eps(x.dtype)
    best = _decompose(x, cholesky.factor(start_of(space, x, average, rule)), average)
    step = noise = best.root
    shorten: Tensor | None = None
    size: Tensor | float = torch.inf
    single = rule.most_steps == 1
    fresh = True
    for _ in range(rule.most_steps):
        if fresh:
            residual = average.reduce(average.gram(best.rows, best.logs.unsqueeze(-1) * best.rows))
            step = residual = spectral.symmetrise(residual)
            # Rounding leaves an error of eps times a condition number in a logarithm: surely that
            # of the centred samples, at worst that of the mean too. A step is not worse unless
            # the dispersion grows by more than the noise this makes.
            spread = average.total.largest(best.logs.amax(-1) - best.logs.amin(-1))
            floor = numerics.SLACK * eps * spread.exp()[..., None, None]
            worst = floor * _condition(best.root)
            deviation = best.dispersion.sqrt()
            noise = worst * (2 * deviation + worst)
            if not single:
                goal = rule.tolerance * deviation + floor
                before, size = size, pairing(residual, residual, 2).sqrt()
                stuck = (size <= worst) & (size > 0.5 * before)
                if bool(((size <= goal) | stuck).all()):
                    break
            if rule.step == "newton":
                hessian = Hessian(best.logs, best.rows, average)
                if single:
                    step = hessian.solve(residual, 2, 0.0)
                else:
                    # As precise as a Newton step of this size is, and as is asked for.
                    precise = torch.maximum(0.1 * (size / deviation) ** 2, 0.3 * goal / size)
                    step = hessian.solve(residual, 7, precise.clamp_max(0.1))
        shortened = step if shorten is None else shorten * step
        root = best.root @ cholesky.factor(spectral.exp(shortened))
        tried = _decompose(x, root, average)
        worse = tried.dispersion > best.dispersion + noise
        if bool(worse.any()):
            fresh = not bool(worse.all())
            best = _choose(worse, best, tried)
            halved = 0.5 if shorten is None else 0.5 * shorten
            shorten = torch.where(worse, halved, 1.0)
        else:
            best, shorten, fresh = tried, None, True
    return best


def _condition(root: Tensor) -> Tensor:
    """An estimate of the condition of L Lᵀ, from the pivots, (*channels, 1, 1)."""
    pivots = root.diagonal(dim1=-2, dim2=-1)
    return (pivots.amax(-1) / pivots.amin(-1)).square()[..., None, None]


def _choose(worse: Tensor, old: _Decomposition, new: _Decomposition) -> _Decomposition:
    vector = worse.squeeze(-1)
    masks = (worse, worse, vector, worse, vector, worse)
    return _Decomposition(*(torch.where(m, o, t) for m, o, t in zip(masks, old, new, strict=True)))


class _Centre(Function):
    """The mean M, and Z = Uᵀ A⁻¹ X A⁻ᵀ U = diag(λ) in its frame A, differentiable in X.

    With G the gradient of W = A⁻¹ X A⁻ᵀ, the mean moving by A Ξ Aᵀ contributes <Q, Ξ> where
    Q = Aᵀ (∂M) A - pull(2 Σ G W), and Ξ solves 𝓗[Ξ] = Σ w Dlog(W)[A⁻¹ dX A⁻ᵀ].
    """

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, space: _CongruenceSpace, average: Average, rule: Rule
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        found = _search(x, space, average, rule)
        frame, rows = space.frame(found.root, found.inverse), found.rows
        if frame.basis is not None:
            rows = rows @ (frame.inverse @ found.root).mT
        ctx.save_for_backward(found.eigenvalues, rows, found.logs)
        ctx.frame, ctx.average, ctx.rule = frame, average, rule
        ctx.mark_non_differentiable(found.eigenvalues, rows)
        ctx.set_materialize_grads(False)
        mean = found.root @ found.root.mT
        return mean, found.eigenvalues.diag_embed(), found.eigenvalues, rows

    @staticmethod
    @first_order
    def backward(
        ctx: Any, along_mean: Tensor | None, along_z: Tensor | None, *_: None
    ) -> tuple[Tensor | None, None, None, None]:
        eigenvalues, rows, logs = ctx.saved_tensors
        frame, average = ctx.frame, ctx.average
        change = along_z
        if not ctx.rule.detach:
            moved = torch.zeros_like(frame.root)
            if along_z is not None:
                scaled = along_z @ (rows * (2 * eigenvalues).unsqueeze(-1))
                moved = moved - frame.pull(sum_of_products(rows, scaled, frame.root.shape))
                del scaled
            if along_mean is not None:
                moved = moved + frame.root.mT @ spectral.symmetrise(along_mean) @ frame.root
            tolerance = numerics.SLACK * numerics.eps(logs.dtype)
            hessian = Hessian(logs, rows, average)
            shift = hessian.solve(average.reduce(moved), most_steps=200, tolerance=tolerance)
            del hessian  # as large as the batch
            through = spectral.Log().divided_difference(eigenvalues)
            through.mul_((rows @ average.spread(shift, rows)) @ rows.mT)
            change = through if change is None else through.add_(change)
            del through
        if change is None:
            return None, None, None, None
        out = rows @ frame.inverse
        change = change @ out
        return out.mT @ change, None, None, None
