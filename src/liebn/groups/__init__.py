"""Spaces: Lie groups and gyrogroups with an invariant metric.

`catalog` names them all; `Pullback`, `Product` and `right` make new ones of old.
"""

from liebn.groups.affine_invariant import AffineInvariant, GyroAffineInvariant
from liebn.groups.ball import Ball
from liebn.groups.base import Centred, Gyrogroup, LieGroup, Ray
from liebn.groups.catalog import catalog
from liebn.groups.correlation import correlation
from liebn.groups.grassmann import Grassmann
from liebn.groups.mean import Rule, Total
from liebn.groups.product import Product
from liebn.groups.pullback import Pullback, right
from liebn.groups.rigid import SE
from liebn.groups.rotation import Rotations
from liebn.groups.so import SO
from liebn.groups.spd import spd
from liebn.groups.sphere import Sphere
from liebn.groups.transvection import Transvection
from liebn.groups.vector import (
    Euclidean,
    Hollow,
    LowerTriangular,
    RowZero,
    StrictlyLower,
    Symmetric,
)

__all__ = [
    "SE",
    "SO",
    "AffineInvariant",
    "Ball",
    "Centred",
    "Euclidean",
    "Grassmann",
    "GyroAffineInvariant",
    "Gyrogroup",
    "Hollow",
    "LieGroup",
    "LowerTriangular",
    "Product",
    "Pullback",
    "Ray",
    "Rotations",
    "RowZero",
    "Rule",
    "Sphere",
    "StrictlyLower",
    "Symmetric",
    "Total",
    "Transvection",
    "catalog",
    "correlation",
    "right",
    "spd",
]
