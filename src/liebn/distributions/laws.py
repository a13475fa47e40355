"""Which law a space has."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from liebn.distributions.affine_invariant import AffineInvariantLaw
from liebn.distributions.isotropic import IsotropicLaw
from liebn.distributions.law import Flat, Law, NoLawError
from liebn.distributions.rotation import RotationLaw
from liebn.groups import (
    SE,
    AffineInvariant,
    Ball,
    Grassmann,
    GyroAffineInvariant,
    Gyrogroup,
    Product,
    Rotations,
    Sphere,
    Transvection,
)
from liebn.groups.vector import Vector


class ProductLaw(Law):
    """Independent factors with one σ."""

    def __init__(self, laws: list[Law], pack: Callable[[list[Tensor]], Tensor]) -> None:
        self.laws, self.pack = laws, pack
        self.dimension = sum(law.dimension for law in laws)

    def log_partition(self, sigma: float) -> float:
        """The sum over factors."""
        return math.fsum(law.log_partition(sigma) for law in self.laws)

    def variance(self, sigma: float) -> float:
        """The sum over factors."""
        return math.fsum(law.variance(sigma) for law in self.laws)

    def tangents(self, sigma: float, n: int, generator: torch.Generator | None) -> Tensor:
        """Those of the factors, packed."""
        return self.pack([law.tangents(sigma, n, generator) for law in self.laws])


def is_flat(space: Gyrogroup) -> bool:
    """Whether the space is isometric to a vector space by an isomorphism, its `model`."""
    model = space.model
    if isinstance(model, Product):
        return all(is_flat(part) for part in model.parts)
    return isinstance(model, Vector)


def law_of(space: Gyrogroup) -> Law:
    """The Gaussians of a space, which are those of its model.

    Raises:
        NoLawError: if no exact sampler and no normalizing constant is known.
    """
    model = space.model
    if isinstance(model, Vector):
        return Flat(model)
    if isinstance(model, AffineInvariant | GyroAffineInvariant):
        n = model.point_shape[0]
        return Flat(model) if n == 1 else AffineInvariantLaw(n, model.alpha, model.beta)
    if isinstance(model, Rotations):
        return RotationLaw(model.point_shape[0])
    if isinstance(model, Transvection):
        return law_of(model.group)
    if isinstance(model, Product):
        return ProductLaw([law_of(part) for part in model.parts], model.pack)
    if isinstance(model, SE):
        parts = [law_of(model.rotations), law_of(model.translations)]
        return ProductLaw(parts, lambda v: model.pack(v[0], v[1], corner=0))
    if isinstance(model, Sphere):
        return IsotropicLaw(model, 1.0)
    if isinstance(model, Ball):
        return IsotropicLaw(model, model.curvature)
    if isinstance(model, Grassmann) and model.p in {1, model.point_shape[0] - 1}:
        return IsotropicLaw(model, 1.0)
    raise NoLawError(
        f"expected a space whose Gaussians are known (pullbacks and products of vector spaces, "
        f"affine-invariant spaces, rotations and rigid motions, spheres, balls, and lines among "
        f"Grassmann manifolds), got {space}"
    )
