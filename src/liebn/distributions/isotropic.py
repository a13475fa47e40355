"""Gaussians on spaces of constant curvature.

Seen from any point all directions are alike, and the sphere of radius r is that of flat space times
(sn(r)/r)^{m-1}, where sn(r) = sin(√κ r)/√κ, or with a hyperbolic sine where κ < 0.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import normalize

from liebn.distributions.basis import orthonormal_basis
from liebn.distributions.law import Law, normal, rejection
from liebn.groups import Gyrogroup

NODES, CELLS = 400, 2000


class IsotropicLaw(Law):
    """A uniform direction, and a radius with the density sn(r)^{m-1} exp(-r²/2σ²) up to the cut.

    Args:
        space: of constant curvature, where exp is one-to-one onto almost all within its injectivity
            radius: a sphere, a projective or a hyperbolic space.
        curvature: κ.
    """

    def __init__(self, space: Gyrogroup, curvature: float) -> None:
        self.basis = orthonormal_basis(space)
        self.dimension = len(self.basis)
        self.curvature, self.cut = curvature, space.injectivity_radius

    def radius(self, sigma: float) -> Radius:
        """The distribution of the radius."""
        return _radius(self.dimension, self.curvature, self.cut, sigma)

    def log_partition(self, sigma: float) -> float:
        """Log of the area of the unit sphere, times ∫ sn(r)^{m-1} exp(-r²/2σ²) dr."""
        m = self.dimension
        area = math.log(2) + 0.5 * m * math.log(math.pi) - math.lgamma(0.5 * m)
        return area + self.radius(sigma).log_integral

    def variance(self, sigma: float) -> float:
        """E r²."""
        return self.radius(sigma).variance

    def tangents(self, sigma: float, n: int, generator: torch.Generator | None) -> Tensor:
        """By rejection, from steps above the density of the radius."""
        found = self.radius(sigma)
        edges, tops = torch.from_numpy(found.edges), torch.from_numpy(found.tops)
        masses = (tops - found.top).exp() * edges.diff()

        def propose(count: int) -> tuple[Tensor, Tensor]:
            cell = torch.multinomial(masses, count, replacement=True, generator=generator)
            share = torch.rand(count, generator=generator, dtype=torch.float64)
            r = edges[cell] + share * edges.diff()[cell]
            return r, torch.from_numpy(found.log_density(r.numpy())) - tops[cell]

        acceptance = math.exp(found.log_integral - found.top) / float(masses.sum())
        r = rejection(propose, acceptance, n, generator)
        direction = normalize(normal(n, self.dimension, generator=generator), dim=-1)
        return torch.tensordot(r.unsqueeze(-1) * direction, self.basis, 1)


class Radius:
    """The density sn(r)^{m-1} exp(-r²/2σ²), whose logarithm is concave: it has one peak.

    Attributes:
        log_integral: the logarithm of its integral.
        variance: the mean of r².
        edges: of cells, with the peak among them, so that the density is largest at an edge.
        tops: the logarithm of the largest density in each cell.
        top: that at the peak.
    """

    def __init__(self, dimension: int, curvature: float, cut: float, sigma: float) -> None:
        self.dimension, self.curvature, self.sigma = dimension, curvature, sigma
        # Beyond twelve deviations from the peak lies less than rounding.
        drift = (dimension - 1) * sigma**2 * math.sqrt(max(0.0, -curvature))
        end = min(cut, drift + (math.sqrt(dimension) + 12) * sigma)
        low, high = 0.0, end
        while high - low > 1e-12 * end:
            third = (high - low) / 3
            left, right = self.log_density(np.array([low + third, high - third]))
            low, high = (low + third, high) if left < right else (low, high - third)
        self.edges = np.unique(np.append(np.linspace(0, end, CELLS), high))
        values = self.log_density(self.edges)
        self.tops = np.maximum(values[1:], values[:-1])
        self.top = float(values.max())
        nodes, weights = np.polynomial.legendre.leggauss(NODES)
        r = 0.5 * end * (nodes + 1)
        masses = 0.5 * end * weights * np.exp(self.log_density(r) - self.top)
        self.log_integral = self.top + math.log(masses.sum())
        self.variance = float((masses * r**2).sum() / masses.sum())

    def log_density(self, r: NDArray[np.float64]) -> NDArray[np.float64]:
        """Not normalized."""
        root = math.sqrt(abs(self.curvature))
        y = root * r
        with np.errstate(divide="ignore"):
            if self.curvature > 0:
                area = np.log(np.abs(np.sin(y)) / root)
            else:
                area = y + np.log(-np.expm1(-2 * y) / (2 * root))
            shape = (self.dimension - 1) * area if self.dimension > 1 else 0.0
        return np.asarray(shape - r**2 / (2 * self.sigma**2))


_radius = lru_cache(maxsize=64)(Radius)
