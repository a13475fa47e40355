"""Gaussians on positive definite matrices with the affine-invariant metric.

In x = exp(U diag(r) Uᵀ) the rotation U is uniform and independent of r, and the volume of the space
is that of the algebra times Π sinhc((r_i - r_j)/2), sinhc(y) = sinh(y)/y, so that r has the density

    exp(-(α Σ r² + β (Σ r)²) / 2σ²) Π_{i<j} 2 sinh((r_i - r_j)/2),    r_1 > … > r_n.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor

from liebn.distributions.law import Law, normal, rejection
from liebn.groups import SO


class AffineInvariantLaw(Law):
    """The Gaussians of `AffineInvariant` and `GyroAffineInvariant`, exact for every n.

    Args:
        n: size of the matrices, at least 2.
        alpha: weight of ‖V‖² at the identity.
        beta: weight of (tr V)².
    """

    def __init__(self, n: int, alpha: float, beta: float) -> None:
        self.n, self.alpha, self.beta = n, alpha, beta
        self.dimension = n * (n + 1) // 2

    def log_partition(self, sigma: float) -> float:
        """The flat one and the logarithm of the mean of Π sinhc, which depends on σ/√α only."""
        return self.flat_log_partition(sigma) + log_swelling(self.n, sigma / self.alpha**0.5).value

    def variance(self, sigma: float) -> float:
        """More than m σ², since the space opens up."""
        tau = sigma / self.alpha**0.5
        return sigma**2 * (self.dimension + tau * log_swelling(self.n, tau).slope)

    def tangents(self, sigma: float, n: int, generator: torch.Generator | None) -> Tensor:
        """By rejection, from whichever of two envelopes wastes less."""
        tau = sigma / self.alpha**0.5
        swelling = log_swelling(self.n, tau)
        bound = tightest_bound(self.n, tau)
        if bound is not None and swelling.value - bound.log_mass >= swelling.log_pfaffian:
            return self._from_algebra(bound, swelling, sigma, n, generator)
        return self._from_chamber(swelling, sigma, n, generator)

    def _from_algebra(
        self,
        bound: Bound,
        swelling: Swelling,
        sigma: float,
        n: int,
        generator: torch.Generator | None,
    ) -> Tensor:
        """Proposals from a wider Gaussian of symmetric matrices."""
        # exp(slope Σ (r_i - r_j)²/4) turns α into α - nc and β into β + c.
        c = 0.5 * sigma**2 * bound.slope
        alpha = self.alpha - self.n * c
        total = self.alpha + self.n * self.beta

        def propose(count: int) -> tuple[Tensor, Tensor]:
            z = normal(count, self.n, self.n, generator=generator)
            v = (sigma / alpha**0.5) * 0.5 * (z + z.mT)
            trace = v.diagonal(dim1=-2, dim2=-1).sum(-1)
            shift = ((alpha / total) ** 0.5 - 1) * trace / self.n
            v = v + shift[:, None, None] * torch.eye(self.n, dtype=v.dtype)
            gaps = _gaps(torch.linalg.eigvalsh(v))
            return v, (_log_sinhc(0.5 * gaps) - bound(0.25 * gaps.square())).sum(-1)

        return rejection(propose, math.exp(swelling.value - bound.log_mass), n, generator)

    def _from_chamber(
        self, swelling: Swelling, sigma: float, n: int, generator: torch.Generator | None
    ) -> Tensor:
        """Proposals r with the density exp(-q(r)/2σ² + Σ ρ r), kept with Π (1 - exp(r_j - r_i))."""
        tau = sigma / self.alpha**0.5
        centre = tau**2 * torch.tensor(weyl_vector(self.n), dtype=torch.float64)
        total = self.alpha + self.n * self.beta

        def propose(count: int) -> tuple[Tensor, Tensor]:
            z = normal(count, self.n, generator=generator)
            z = z + ((self.alpha / total) ** 0.5 - 1) * z.mean(-1, keepdim=True)
            r = centre + tau * z
            ordered = (r[:, 1:] < r[:, :-1]).all(-1)
            weights = torch.log1p(-torch.exp(-_gaps(r).clamp_min(0))).sum(-1)
            return r, weights.masked_fill(~ordered, -torch.inf)

        r = rejection(propose, math.exp(swelling.log_pfaffian), n, generator)
        u = SO(self.n).random(n, generator=generator, dtype=torch.float64)
        return (u * r.unsqueeze(-2)) @ u.mT


def _gaps(r: Tensor) -> Tensor:
    """The differences r_i - r_j, i < j, (..., n(n-1)/2)."""
    i, j = torch.triu_indices(r.shape[-1], r.shape[-1], 1)
    return r[..., i] - r[..., j]


def _log_sinhc(y: Tensor) -> Tensor:
    """Log (sinh y / y)."""
    y = y.abs().clamp_min(1e-8)
    return y + torch.log(-torch.expm1(-2 * y) / (2 * y))


class Bound(NamedTuple):
    """The tangent c + slope · u of the concave function u ↦ log sinhc √u, which lies above it.

    Attributes:
        constant: c.
        slope: of the tangent.
        log_mass: of exp(-‖V‖²/2σ²) Π exp(tangent), over that without the product.
    """

    constant: float
    slope: float
    log_mass: float

    def __call__(self, u: Tensor) -> Tensor:
        """The tangent at u."""
        return self.constant + self.slope * u


@lru_cache(maxsize=64)
def tightest_bound(n: int, tau: float) -> Bound | None:
    """The tangent that wastes least; None if every one grows faster than the Gaussian falls."""
    pairs, best = n * (n - 1) / 2, None
    for exponent in range(-60, 61):
        u = 10 ** (exponent / 15)
        root = math.sqrt(u)
        slope = (root / math.tanh(root) - 1) / (2 * u)
        left = 1 - 0.5 * n * tau**2 * slope
        if left <= 0:
            continue
        constant = float(_log_sinhc(torch.tensor(root, dtype=torch.float64))) - slope * u
        mass = pairs * constant - 0.5 * (n * (n + 1) / 2 - 1) * math.log(left)
        if best is None or mass < best.log_mass:
            best = Bound(constant, slope, mass)
    return best


def weyl_vector(n: int) -> list[float]:
    """ρ_i = (n + 1 - 2i)/2: half the sum of the roots r_i - r_j, i < j."""
    return [(n - 1 - 2 * i) / 2 for i in range(n)]


class Swelling(NamedTuple):
    """How much larger the space is than its algebra, as a Gaussian of width τ sees it.

    Attributes:
        value: log E Π sinhc((r_i - r_j)/2) over the symmetric matrices exp(-‖V‖²/2τ²).
        slope: its derivative in τ.
        log_pfaffian: the logarithm of the Pfaffian below.
    """

    value: float
    slope: float
    log_pfaffian: float


@lru_cache(maxsize=256)
def log_swelling(n: int, tau: float) -> Swelling:
    """In closed form.

    Weyl's formula makes the product of hyperbolic sines a determinant, Π 2 sinh = det exp(ρ_j r_i),
    and de Bruijn's the integral of that over r_1 > … > r_n a Pfaffian:

        ∫ = (2πτ²)^{n/2} exp(τ² Σ ρ²/2) Pf A,    A_ij = erf(τ (ρ_i - ρ_j)/2),

    bordered by ones where n is odd. The flat integral, with Π (r_i - r_j), is Mehta's.
    """
    with localcontext() as context:
        # The smallest pivot is of the order τ^{2n}, among entries of the order τ.
        context.prec = 60 + 2 * n + int(2 * n * max(0.0, -math.log10(tau)))
        t, h = Decimal(tau), Decimal(tau) * Decimal(10) ** -20
        middle = _log_pfaffian(n, t)
        slope = float((_log_pfaffian(n, t + h) - _log_pfaffian(n, t - h)) / (2 * h))
    pairs = n * (n - 1) / 2
    log_pfaffian = float(middle) + (n // 2) * math.log(2 / math.sqrt(math.pi))
    mehta = sum(math.lgamma(1 + j / 2) - math.lgamma(1.5) for j in range(1, n + 1))
    value = tau**2 * n * (n**2 - 1) / 24 + log_pfaffian - pairs * math.log(tau)
    slope = tau * n * (n**2 - 1) / 12 + slope - pairs / tau
    return Swelling(value - mehta + math.lgamma(n + 1), slope, log_pfaffian)


def _log_pfaffian(n: int, tau: Decimal) -> Decimal:
    """½ log det A, with A_ij = ∫_0^{τ(ρ_i-ρ_j)/2} exp(-t²) dt, free of the factors 2/√π."""
    size = n + n % 2
    integral = [Decimal(0), *(_error_integral(tau * k / 2) for k in range(1, n))]
    matrix = [[Decimal(0)] * size for _ in range(size)]
    for i in range(size):
        for j in range(i + 1, size):
            entry = Decimal(1) if j == n else integral[j - i]
            matrix[i][j], matrix[j][i] = entry, -entry
    return _log_determinant(matrix) / 2


def _error_integral(x: Decimal) -> Decimal:
    """∫_0^x exp(-t²) dt = x exp(-x²) Σ (2x²)^k / (2k+1)!!, whose terms are positive."""
    with localcontext() as context:
        digits = context.prec
        # Beyond, the integral is complete to all digits.
        x = min(x, (Decimal(digits) * Decimal("2.4")).sqrt())
        term = total = x
        k = 0
        while term > total.scaleb(-digits):
            k += 1
            term = term * 2 * x * x / (2 * k + 1)
            total += term
        return total * (-x * x).exp()


def _log_determinant(matrix: list[list[Decimal]]) -> Decimal:
    """Log |det|, by elimination with pivots."""
    rows = [list(row) for row in matrix]
    total = Decimal(0)
    while rows:
        pivot = rows.pop(max(range(len(rows)), key=lambda i: abs(rows[i][0])))
        total += abs(pivot[0]).ln()
        rows = [
            [a - row[0] / pivot[0] * b for a, b in zip(row[1:], pivot[1:], strict=True)]
            for row in rows
        ]
    return total
