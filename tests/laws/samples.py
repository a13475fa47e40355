"""Points to run the laws with: what a space is made of, and batches of every kind of sample."""

from __future__ import annotations

import math
from functools import cache

import torch
from torch import Tensor

from liebn.groups import SE, SO, AffineInvariant, Ball, Gyrogroup, Product, Pullback
from liebn.groups.vector import Vector
from liebn.linalg import correlation, positive

KINDS = ("ordinary", "near", "repeated", "bad", "cut")


@cache
def nature(space: Gyrogroup) -> str:
    """What the points are: matrices of some kind, vectors of a ball or anything else."""
    shape = space.point_shape
    if len(shape) == 2 and shape[0] == shape[1] > 1:
        x = space.random(16, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
        if bool((correlation.violation(x) < 1e-6).all()):
            return "correlation"
        if bool((positive.violation(x) < 1e-6).all()):
            return "positive"
        if bool((SO(shape[0]).violation(x) < 1e-6).all()):
            return "rotation"
        if shape[0] > 2 and bool((SE(shape[0] - 1).violation(x) < 1e-6).all()):
            return "rigid"
        if bool(((x @ x - x).abs() < 1e-6).all()):
            return "projector"
    return "ball" if isinstance(space, Ball) else "general"


def kinds(space: Gyrogroup) -> tuple[str, ...]:
    """The kinds of sample that a space has; "cut" is near the cut locus.

    Where translations are by roots, as in a gyrogroup of rotations, they jump at the cut locus.
    """
    if isinstance(space, Product):
        return tuple(k for k in KINDS if any(k in kinds(f) for f in space.factors))
    cut = "cut" if space.associative else ""
    specials = {"rotation": cut, "rigid": cut}
    specials |= dict.fromkeys(("positive", "correlation", "ball"), "bad")
    special = specials.get(nature(space))
    return ("ordinary", "near", "repeated", *((special,) if special else ()))


@torch.no_grad()
def condition(space: Gyrogroup, x: Tensor) -> float:
    """The largest condition number of points, inverses and what they are deformed to."""
    x = x.double()
    if isinstance(space, Product):
        pairs = zip(space.factors, space.unpack(x), strict=True)
        return max(condition(f, p) for f, p in pairs)
    if isinstance(space, Ball) and x.numel():
        radius = float(x.norm(dim=-1).max()) * (-space.curvature) ** 0.5
        return (1 + radius) / (1 - radius)
    if isinstance(space, Vector) or len(space.point_shape) != 2 or x.numel() == 0:
        return 1.0
    if space.point_shape[0] != space.point_shape[1] or nature(space) == "projector":
        return 1.0
    worst = max(float(torch.linalg.cond(p).max()) for p in (x, space.inverse(x)))
    deeper = condition(space.base, space.diffeo(x)) if isinstance(space, Pullback) else 1.0
    return max(worst, deeper)


def orthogonal(count: int, n: int, generator: torch.Generator) -> Tensor:
    """Random rotations."""
    if n == 1:
        return torch.ones(count, 1, 1, dtype=torch.float64)
    return SO(n).random(count, generator=generator, dtype=torch.float64)


def rotations(angles: Tensor, n: int, generator: torch.Generator) -> Tensor:
    """Rotations by these angles (count, n // 2), in random planes."""
    blocks = torch.eye(n, dtype=torch.float64).repeat(len(angles), 1, 1)
    for k in range(n // 2):
        c, s = angles[:, k].cos(), angles[:, k].sin()
        block = torch.stack([torch.stack([c, -s], -1), torch.stack([s, c], -1)], -2)
        blocks[:, 2 * k : 2 * k + 2, 2 * k : 2 * k + 2] = block
    basis = orthogonal(len(angles), n, generator)
    return basis @ blocks @ basis.mT


def _repeated_positive(count: int, n: int, generator: torch.Generator) -> Tensor:
    """The identity, a multiple, diagonal with equal entries, and two or n - 1 equal eigenvalues."""
    tail = torch.tensor([1.0] * 2 + [3.0] * (n - 2), dtype=torch.float64)
    values = torch.stack([torch.ones(n), torch.full((n,), 2.5), tail, tail, tail.flip(0), 1 / tail])
    basis = orthogonal(len(values), n, generator)
    basis[:3] = torch.eye(n)
    x = (basis * values.double().unsqueeze(-2)) @ basis.mT
    return x.repeat(-(-count // len(x)), 1, 1)[:count]


def _repeated_correlation(count: int, n: int) -> Tensor:
    """The identity, equal correlations of either sign, and one pair correlated with no other."""
    one, identity = torch.ones(n, n, dtype=torch.float64), torch.eye(n, dtype=torch.float64)
    mixed = [c * one + (1 - c) * identity for c in (0.0, 0.6, -0.5 / (n - 1))]
    pair = identity.clone()
    pair[0, 1] = pair[1, 0] = 0.6
    x = torch.stack([*mixed, pair, pair.flip(0, 1)])
    return x.repeat(-(-count // len(x)), 1, 1)[:count]


def _ill_conditioned(
    space: Gyrogroup, count: int, target: float, generator: torch.Generator
) -> Tensor:
    """Matrices as ill-conditioned as the target allows in every deformation."""
    n = space.point_shape[0]
    exponents = torch.rand(count, n, generator=generator, dtype=torch.float64) - 0.5
    exponents[:, 0], exponents[:, -1] = -0.5, 0.5
    basis = orthogonal(count, n, generator)

    def spread(size: float) -> Tensor:
        x = (basis * (size * exponents).exp().unsqueeze(-2)) @ basis.mT
        x = 0.5 * (x + x.mT)
        return correlation.normalise(x) if nature(space) == "correlation" else x

    # The logarithm of a condition number is about proportional to the spread of the logarithms.
    size = math.log(target) / max(1.0, math.log(condition(space, spread(1.0))))
    while condition(space, spread(size)) > 2 * target:
        size *= 0.9
    return spread(size)


def _far_out(space: Ball, count: int, target: float, generator: torch.Generator) -> Tensor:
    """Points of a ball up to the distance from its centre that the target allows."""
    v = torch.randn(count, *space.point_shape, generator=generator, dtype=torch.float64)
    far = 1 - 0.5 * torch.rand(count, 1, generator=generator, dtype=torch.float64)
    far[0] = 1
    length = far * math.log(target) / 2 / (-space.curvature) ** 0.5
    return space.exp(length * v / v.norm(dim=-1, keepdim=True))


def _repeated_angles(space: Gyrogroup, count: int, generator: torch.Generator) -> Tensor:
    """Subspaces at no angle, at equal angles, at nearly equal ones, and at one angle."""
    e = space.identity(dtype=torch.float64)
    p = round(float(e.trace()))
    n, k = len(e), min(p, len(e) - p)
    angles = torch.zeros(count, n - p, p, dtype=torch.float64)
    equal, order = angles.diagonal(dim1=-2, dim2=-1), torch.arange(k)
    equal[1::4], equal[2::4], equal[3::4, 0] = 0.5, 0.5 + 1e-9 * order, 0.7
    v = torch.zeros(count, n, n, dtype=torch.float64)
    v[:, p:, :p] = orthogonal(count, n - p, generator) @ angles @ orthogonal(count, p, generator)
    return space.exp(v + v.mT)


def _repeated_rotations(count: int, n: int, generator: torch.Generator) -> Tensor:
    """The identity, equal angles, opposite angles, and a quarter turn with nothing else."""
    angles = torch.zeros(count, max(n // 2, 1), dtype=torch.float64)
    angles[1::4] = 1.2
    angles[2::4] = 1.2 * (-1.0) ** torch.arange(angles.shape[1], dtype=torch.float64)
    angles[3::4, 0] = torch.pi / 2
    return rotations(angles, n, generator)


def _rotations_at_cut(count: int, n: int, generator: torch.Generator) -> Tensor:
    """One plane, or every plane, turned by π or nearly so."""
    short = torch.tensor([0.0, 1e-9, 1e-6, 1e-3, 0.1], dtype=torch.float64)
    angles = torch.pi - short.repeat(-(-count // 5))[:count, None].expand(count, n // 2).clone()
    angles[::2, 1:] = 1.2
    return rotations(angles, n, generator)


def draw(
    space: Gyrogroup, kind: str, count: int, target: float, generator: torch.Generator
) -> Tensor:
    """Points (count, *point) of a kind in float64, with condition numbers up to the target."""
    if isinstance(space, Product):
        return space.pack(draw(f, kind, count, target, generator) for f in space.factors)
    what, n = nature(space), space.point_shape[0] if space.point_shape else 0
    if kind == "near":
        scale = 10.0 ** -torch.arange(3, 3 + count, dtype=torch.float64)
        v = space.log(space.random(count, generator=generator, dtype=torch.float64))
        return space.exp(space.expand(scale) * v)
    if kind == "repeated" and what == "positive":
        return _repeated_positive(count, n, generator)
    if kind == "repeated" and what == "correlation":
        return _repeated_correlation(count, n)
    if kind == "repeated" and what == "rotation":
        return _repeated_rotations(count, n, generator)
    if kind == "bad" and what in ("positive", "correlation"):
        return _ill_conditioned(space, count, target, generator)
    if kind == "repeated" and what == "projector":
        return _repeated_angles(space, count, generator)
    if kind == "bad" and what == "ball":
        return _far_out(space, count, target, generator)
    if kind == "cut" and what == "rotation":
        return _rotations_at_cut(count, n, generator)
    if what == "positive":
        return AffineInvariant(n).random(count, generator=generator, dtype=torch.float64)
    x = space.random(count, generator=generator, dtype=torch.float64)
    if kind in ("repeated", "cut") and what == "rigid":
        x[:, :-1, :-1] = draw(SO(n - 1), kind, count, target, generator)
        if kind == "repeated":
            x[: count // 2, :-1, -1] = 0
    elif kind == "repeated":
        x[: count // 2] = space.identity(dtype=torch.float64)
    return x
