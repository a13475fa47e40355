"""Functions of one real variable, with divided differences that stay exact at equal arguments.

The derivative of a matrix function at a symmetric matrix needs f[a, b] = (f(a) - f(b)) / (a - b)
for every pair of eigenvalues. Each function here gives it without a threshold: written in the
relative gap r = (a - b) / b >= 0, it is a quotient whose numerator and denominator vanish together.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from liebn.linalg import numerics


def lower_of_pair(eigenvalues: Tensor) -> Tensor:
    """The smaller of each pair, (..., n) -> (..., n, n), for eigenvalues in ascending order."""
    return torch.minimum(eigenvalues.unsqueeze(-1), eigenvalues.unsqueeze(-2))


def higher_of_pair(eigenvalues: Tensor) -> Tensor:
    """The larger of each pair, (..., n) -> (..., n, n)."""
    return torch.maximum(eigenvalues.unsqueeze(-1), eigenvalues.unsqueeze(-2))


def gap_of_pair(eigenvalues: Tensor) -> Tensor:
    """|a - b| of each pair, (..., n) -> (..., n, n)."""
    return (eigenvalues.unsqueeze(-1) - eigenvalues.unsqueeze(-2)).abs_()


class ScalarFunction(ABC):
    """A smooth function f of one real variable.

    Attributes:
        positive: whether its arguments must be positive.
    """

    positive = False

    @abstractmethod
    def value(self, a: Tensor) -> Tensor:
        """f(a), elementwise."""

    @abstractmethod
    def divided_difference(self, a: Tensor) -> Tensor:
        """f[a_i, a_j] of all pairs, (..., n) -> (..., n, n), for a in ascending order."""

    @abstractmethod
    def taylor(self, a: Tensor, order: int) -> Tensor:
        """f^(k)(a) / k! for k = order, elementwise."""

    def second_divided_difference(self, a: Tensor) -> Tensor:
        """f[a_i, a_j, a_k] of all triples, (..., n) -> (..., n, n, n), for a in ascending order.

        From first differences where the three are spread, f[a, b, c] = (f[c, b] - f[b, a]) / (c -
        a) for a <= b <= c. Where they are close, from the Taylor series about their mean, whose
        coefficients are the complete homogeneous polynomials of the deviations.
        """
        n = a.shape[-1]
        triples = torch.cartesian_prod(*[torch.arange(n, device=a.device)] * 3).reshape(n, n, n, 3)
        low, middle, high = triples.sort(-1).values.unbind(-1)
        x, y, z = a[..., low], a[..., middle], a[..., high]
        mean = (x + y + z) / 3
        close = z - x < numerics.SERIES_GAP * (x if self.positive else torch.ones_like(x))

        first = self.divided_difference(a)
        gap = torch.where(close, torch.ones_like(x), z - x)
        far = (first[..., high, middle] - first[..., middle, low]) / gap

        u, v, w = x - mean, y - mean, z - mean
        e2, e3 = u * v + v * w + w * u, u * v * w
        polynomials = {0: torch.ones_like(e2), 2: -e2, 3: e3, 4: e2**2, 5: -2 * e2 * e3}
        polynomials[6] = e3**2 - e2**3
        near = torch.stack([self.taylor(mean, 2 + m) * h for m, h in polynomials.items()]).sum(0)
        return torch.where(close, near, far)


@dataclass(frozen=True)
class Log(ScalarFunction):
    """log a, with f[a, b] = log1p(r) / (r b)."""

    positive = True

    def value(self, a: Tensor) -> Tensor:
        return a.log()

    def divided_difference(self, a: Tensor) -> Tensor:
        b = lower_of_pair(a)
        r = gap_of_pair(a).div_(b).add_(numerics.TINY)
        return r.log1p().div_(r).div_(b)

    def taylor(self, a: Tensor, order: int) -> Tensor:
        return (-1) ** (order - 1) / (order * a**order)


@dataclass(frozen=True)
class Exp(ScalarFunction):
    """exp a, with f[a, b] = exp(max(a, b)) (1 - exp(-g)) / g at the gap g; no early overflow."""

    def value(self, a: Tensor) -> Tensor:
        return a.exp()

    def divided_difference(self, a: Tensor) -> Tensor:
        gap = gap_of_pair(a).add_(numerics.TINY).neg_()
        quotient = gap.expm1().div_(gap)
        del gap  # as large as the matrices
        return quotient.mul_(higher_of_pair(a.exp()))  # exp keeps the order

    def taylor(self, a: Tensor, order: int) -> Tensor:
        return a.exp() / math.factorial(order)


@dataclass(frozen=True)
class Power(ScalarFunction):
    """a^p, with f[a, b] = b^(p-1) expm1(p log1p(r)) / r; p a number, or one per matrix, (...)."""

    exponent: float | Tensor
    positive = True

    def _exponent(self, dims: int) -> float | Tensor:
        p = self.exponent
        return p.reshape(p.shape + (1,) * dims) if isinstance(p, Tensor) else p

    def value(self, a: Tensor) -> Tensor:
        return a ** self._exponent(1)

    def divided_difference(self, a: Tensor) -> Tensor:
        r = gap_of_pair(a).div_(lower_of_pair(a)).add_(numerics.TINY)
        quotient = r.log1p().mul_(self._exponent(2)).expm1_().div_(r)
        del r  # as large as the matrices
        # b^(p-1), raised before it is spread over pairs: a^(p-1) keeps the order of a, or turns it.
        q = self._exponent(1) - 1
        raised = a**q
        if isinstance(q, Tensor):
            sign = torch.where(q < 0, -1.0, 1.0).to(a)
            quotient.mul_(sign.unsqueeze(-1))
            return quotient.mul_(lower_of_pair(sign * raised))
        return quotient.mul_(higher_of_pair(raised) if q < 0 else lower_of_pair(raised))

    def taylor(self, a: Tensor, order: int) -> Tensor:
        p = self._exponent(3)
        binomial: float | Tensor = 1.0
        for k in range(order):
            binomial = binomial * (p - k) / (k + 1)
        return binomial * a ** (p - order)


@dataclass(frozen=True)
class Hypotenuse(ScalarFunction):
    """h(a) = √(1 + a²), with h[a, b] = (a + b) / (h(a) + h(b))."""

    def value(self, a: Tensor) -> Tensor:
        return torch.hypot(a, torch.ones_like(a))

    def divided_difference(self, a: Tensor) -> Tensor:
        h = self.value(a)
        return (a.unsqueeze(-1) + a.unsqueeze(-2)) / (h.unsqueeze(-1) + h.unsqueeze(-2))

    def taylor(self, a: Tensor, order: int) -> Tensor:
        # The coefficients c_k of h(a + t) are those whose square is (1 + a²) + 2a t + t².
        h = self.value(a)
        square = {1: 2 * a, 2: torch.ones_like(a)}
        series = [h]
        for k in range(1, order + 1):
            inner = sum((series[i] * series[k - i] for i in range(1, k)), torch.zeros_like(a))
            series.append((square.get(k, torch.zeros_like(a)) - inner) / (2 * h))
        return series[order]


@dataclass(frozen=True)
class Floor(ScalarFunction):
    """max(a, c): eigenvalues raised to a threshold c, a number or one per matrix, (...)."""

    threshold: float | Tensor

    def _raised(self, a: Tensor) -> Tensor:
        c = self.threshold
        return a.clamp_min(c.unsqueeze(-1)) if isinstance(c, Tensor) else a.clamp_min(c)

    def value(self, a: Tensor) -> Tensor:
        return self._raised(a)

    def divided_difference(self, a: Tensor) -> Tensor:
        raised = self._raised(a)
        gap = gap_of_pair(a)
        slope = (raised == a).to(a.dtype)  # of equal arguments, and of two above the threshold
        mixed = gap_of_pair(raised) / torch.where(gap > 0, gap, torch.ones_like(gap))
        return torch.where(gap > 0, mixed, torch.minimum(slope.unsqueeze(-1), slope.unsqueeze(-2)))

    def taylor(self, a: Tensor, order: int) -> Tensor:
        return torch.zeros_like(a)


@dataclass(frozen=True)
class UpToRounding(ScalarFunction):
    """f, for positive arguments some of which rounding has left at zero or below.

    A product such as L Lᵀ is positive definite, but its condition number may exceed what the dtype
    can tell from infinity. An eigenvalue under c = eps max a counts as c; one under -(n + 16) c is
    not of rounding's making, and an error.
    """

    function: ScalarFunction

    def _floor(self, a: Tensor) -> Floor | None:
        """The floor c, where an argument lies under it."""
        unit = numerics.eps(a.dtype) * a[..., -1]
        if bool((a[..., 0] >= unit).all() & (unit > 0).all()):
            return None
        smallest = a[..., 0]
        bad = (smallest < -(a.shape[-1] + numerics.SLACK) * unit) | (unit <= 0)
        numerics.require_positive(smallest, bad)
        return Floor(unit)

    def value(self, a: Tensor) -> Tensor:
        floor = self._floor(a)
        return self.function.value(a if floor is None else floor.value(a))

    def divided_difference(self, a: Tensor) -> Tensor:
        floor = self._floor(a)
        if floor is None:
            return self.function.divided_difference(a)
        inner = self.function.divided_difference(floor.value(a))
        return inner.mul_(floor.divided_difference(a))

    def second_divided_difference(self, a: Tensor) -> Tensor:
        floor = self._floor(a)
        return self.function.second_divided_difference(a if floor is None else floor.value(a))

    def taylor(self, a: Tensor, order: int) -> Tensor:
        return self.function.taylor(a, order)


@dataclass(frozen=True)
class Smooth(ScalarFunction):
    """Any smooth elementwise function, given as torch operations.

    Distant pairs use the quotient itself; pairs within half their distance to `origin` integrate f'
    by Gauss-Legendre quadrature, since f[a, b] is the average of f' between a and b. `origin` is
    the singularity nearest to the arguments (0 for log-like functions), None for an entire
    function.
    """

    function: Callable[[Tensor], Tensor]
    origin: float | None = None

    def value(self, a: Tensor) -> Tensor:
        return self.function(a)

    def taylor(self, a: Tensor, order: int) -> Tensor:
        with torch.enable_grad():
            a = a.detach().requires_grad_()
            coefficient = self.function(a)
            for k in range(order):
                (slope,) = torch.autograd.grad(
                    coefficient.sum(), a, create_graph=True, materialize_grads=True
                )
                coefficient = slope / (k + 1)
        return coefficient.detach()

    def divided_difference(self, a: Tensor) -> Tensor:
        x, y = torch.broadcast_tensors(a.unsqueeze(-1), a.unsqueeze(-2))
        nodes, weights = np.polynomial.legendre.leggauss(12)
        average = sum(
            0.5 * w * self.taylor(0.5 * (x + y) + 0.5 * t * (y - x), 1)
            for t, w in zip(nodes.tolist(), weights.tolist(), strict=True)
        )
        scale = 1.0 if self.origin is None else torch.minimum(x, y) - self.origin
        near = (x - y).abs() <= 0.5 * scale
        gap = torch.where(near, torch.ones_like(x), x - y)
        return torch.where(near, average, (self.function(x) - self.function(y)) / gap)
