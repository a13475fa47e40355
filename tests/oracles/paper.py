"""The paper's formulas, written once more with NumPy and SciPy, for one matrix at a time.

Everything is that of the deformed metrics (1/θ²) P_θ^* g, pulled back by hand.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import expm, expm_frechet, fractional_matrix_power, logm, sqrtm

Array = np.ndarray


def log(p: Array) -> Array:
    return np.real(logm(p))


def power(p: Array, theta: float) -> Array:
    return np.real(fractional_matrix_power(p, theta))


def sqrt(p: Array) -> Array:
    return np.real(sqrtm(p))


def derivative(function: Callable[[Array], Array], p: Array, v: Array) -> Array:
    """Df(p)[v] for a matrix function f, exactly: the corner of f applied to a block matrix."""
    n = len(p)
    block = np.block([[p, v], [np.zeros((n, n)), p]])
    return np.real(function(block))[:n, n:]


def half(x: Array) -> Array:
    """The lower triangle with half the diagonal."""
    return np.tril(x, -1) + 0.5 * np.diag(np.diag(x))


@dataclass(frozen=True)
class Operators:
    """One column of the paper's table of operators, deformed by a power."""

    theta: float = 1.0
    alpha: float = 1.0
    beta: float = 0.0

    def inner(self, u: Array, v: Array) -> float:
        """<u, v>^(α, β), over θ²."""
        trace = np.trace(u) * np.trace(v)
        return float(self.alpha * np.sum(u * v) + self.beta * trace) / self.theta**2

    def norm(self, v: Array) -> float:
        return self.inner(v, v) ** 0.5

    def to(self, p: Array) -> Array:
        return power(p, self.theta)

    def back(self, p: Array) -> Array:
        return power(p, 1 / self.theta)

    def push(self, p: Array, v: Array) -> Array:
        return derivative(self.to, p, v)

    def pull(self, p: Array, v: Array) -> Array:
        """The inverse of push: the derivative of P^(1/θ) at P^θ."""
        return derivative(self.back, self.to(p), v)


class LEM(Operators):
    """θ plays no part: the class is used at θ = 1."""

    def metric(self, p: Array, u: Array, v: Array) -> float:
        return self.inner(derivative(log, p, u), derivative(log, p, v))

    def distance(self, p: Array, q: Array) -> float:
        return self.norm(log(p) - log(q))

    def compose(self, q: Array, p: Array) -> Array:
        return expm(log(p) + log(q))

    def mean(self, points: Array) -> Array:
        return expm(np.mean([log(p) for p in points], 0))

    def log_at(self, p: Array, q: Array) -> Array:
        return expm_frechet(log(p), log(q) - log(p), compute_expm=False)


class AIM(Operators):
    def metric(self, p: Array, u: Array, v: Array) -> float:
        q, u, v = self.to(p), self.push(p, u), self.push(p, v)
        return self.inner(np.linalg.solve(q, u), np.linalg.solve(q, v.T).T)

    def distance(self, p: Array, q: Array) -> float:
        root = np.linalg.inv(sqrt(self.to(q)))
        return self.norm(log(root @ self.to(p) @ root))

    def compose(self, q: Array, p: Array) -> Array:
        k = np.linalg.cholesky(self.to(q))
        return self.back(k @ self.to(p) @ k.T)

    def mean(self, points: Array) -> Array:
        """The Karcher flow."""
        deformed = [self.to(p) for p in points]
        mean = np.mean(deformed, 0)
        size = 1.0
        while size > 1e-13:
            root = sqrt(mean)
            inverse = np.linalg.inv(root)
            step = np.mean([log(inverse @ p @ inverse) for p in deformed], 0)
            mean = root @ expm(step) @ root
            size = np.linalg.norm(step)
        return self.back(mean)

    def log_at(self, p: Array, q: Array) -> Array:
        root = sqrt(self.to(p))
        inverse = np.linalg.inv(root)
        return self.pull(p, root @ log(inverse @ self.to(q) @ inverse) @ root)


class GyroAIM(AIM):
    def compose(self, q: Array, p: Array) -> Array:
        root = sqrt(self.to(q))
        return self.back(root @ self.to(p) @ root)


class LCM(Operators):
    def chart(self, p: Array) -> Array:
        """⌊L⌋ + log diag L."""
        lower = np.linalg.cholesky(self.to(p))
        return np.tril(lower, -1) + np.diag(np.log(np.diag(lower)))

    def from_factor(self, lower: Array) -> Array:
        return self.back(lower @ lower.T)

    def metric(self, p: Array, u: Array, v: Array) -> float:
        lower = np.linalg.cholesky(self.to(p))
        inverse = np.linalg.inv(lower)
        x, y = (lower @ half(inverse @ self.push(p, w) @ inverse.T) for w in (u, v))
        scale = np.diag(lower) ** -2.0
        below = np.sum(np.tril(x, -1) * np.tril(y, -1))
        return float(below + np.sum(np.diag(x) * np.diag(y) * scale)) / self.theta**2

    def distance(self, p: Array, q: Array) -> float:
        return self.norm(self.chart(p) - self.chart(q))

    def compose(self, q: Array, p: Array) -> Array:
        k, m = np.linalg.cholesky(self.to(q)), np.linalg.cholesky(self.to(p))
        return self.from_factor(np.tril(k + m, -1) + np.diag(np.diag(k) * np.diag(m)))

    def mean(self, points: Array) -> Array:
        chart = np.mean([self.chart(p) for p in points], 0)
        return self.from_factor(np.tril(chart, -1) + np.diag(np.exp(np.diag(chart))))

    def log_at(self, p: Array, q: Array) -> Array:
        lower, k = np.linalg.cholesky(self.to(p)), np.linalg.cholesky(self.to(q))
        diagonal = np.diag(lower)
        change = np.tril(k - lower, -1) + np.diag(diagonal * np.log(np.diag(k) / diagonal))
        return self.pull(p, change @ lower.T + lower @ change.T)
