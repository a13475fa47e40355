"""Propositions 5.1 and 5.2: deformed metrics, their limits, which translations are isometries."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from liebn.diffeos import Log, LogCholesky, Power
from liebn.groups import (
    AffineInvariant,
    Gyrogroup,
    LowerTriangular,
    Product,
    Pullback,
    Rotations,
    Symmetric,
    right,
    spd,
)
from liebn.groups.vector import Vector
from liebn.nn import LieBatchNorm
from liebn.verify.moments import errors, layer_on
from liebn.verify.row import Row, Subject
from liebn.verify.samples import largest_relative

THETAS = (-1.5, 0.5)
METRICS = {f"spd-{metric}": metric for metric in ("aim", "gyro-aim", "crim", "lcm")}


def _disagreement(one: Gyrogroup, other: Gyrogroup, subject: Subject) -> float:
    """The largest relative difference of distances, and of operations, over random points."""
    generator = subject.generator()
    x, y = (subject.batch(30, generator=generator) for _ in range(2))
    distances = largest_relative(one.distance(x, y), other.distance(x, y))
    wanted = other.compose(x, y)
    size = wanted.abs().amax((-2, -1), keepdim=True)
    return max(distances, float(((one.compose(x, y) - wanted) / size).abs().max()))


def deformed_lem(subject: Subject) -> Iterator[Row]:
    """(θ, α, β)-LEM = (α, β)-LEM, the first built as g/θ² pulled back by the power."""
    if subject.name != "spd-lem":
        return
    n = subject.space.point_shape[0]
    found = []
    for theta in THETAS:
        for alpha, beta in ((1.0, 0.0), (2.0, -0.5)):
            scaled = Symmetric(n, alpha / theta**2, beta / theta**2)
            deformed = Pullback(Log() @ Power(theta), scaled)
            found.append(_disagreement(deformed, spd(n, "lem", alpha=alpha, beta=beta), subject))
    yield Row(
        "Proposition 5.1, (θ, α, β)-LEM = (α, β)-LEM",
        subject.name,
        "relative difference of distances and products, θ = -1.5, 0.5, two (α, β)",
        max(found),
        1e-9,
    )


def limits(subject: Subject) -> Iterator[Row]:
    """As θ → 0: θ-LCM → g̃-LEM, and the affine-invariant families → LEM."""
    metric = METRICS.get(subject.name)
    if metric is None:
        return
    n = subject.space.point_shape[0]
    limit = spd(n, metric, theta=0.0)
    near, nearer = (
        _disagreement(spd(n, metric, theta=theta), limit, subject) for theta in (2e-3, 1e-3)
    )
    name = "θ-LCM → g̃-LEM" if metric == "lcm" else "(θ, α, β)-AIM → (α, β)-LEM"
    claim = f"Proposition 5.1, {name}" if metric == "lcm" else f"Section 5.1, {name}"
    what = "relative difference of distances and products at θ = 1e-3"
    yield Row(claim, subject.name, what, nearer, 1e-2)
    yield Row(
        claim,
        subject.name,
        "that difference, divided by the one at 2θ: it falls in proportion to θ, or faster",
        nearer / near,
        0.51,
    )
    if metric == "lcm":
        plain = Pullback(LogCholesky(), LowerTriangular(n))
        deformed = Pullback(LogCholesky() @ Power(1.0), LowerTriangular(n))
        off = _disagreement(deformed, plain, subject)
        yield Row(
            "Proposition 5.1, θ-LCM is LCM at θ = 1",
            subject.name,
            "relative difference of distances and products",
            off,
            1e-9,
        )


def _variants(subject: Subject) -> dict[str, Gyrogroup]:
    """The space, and its deformations where it has any."""
    metric = METRICS.get(subject.name)
    n = subject.space.point_shape[0] if metric else 0
    deformed = {f"{subject.name}, θ = {t:g}": spd(n, metric, theta=t) for t in THETAS if metric}
    return {subject.name: subject.space, **deformed}


def _stretch(space: Gyrogroup, x: Tensor, y: Tensor, px: Tensor, py: Tensor) -> float:
    return largest_relative(space.distance(px, py), space.distance(x, y))


def left_invariance(subject: Subject) -> Iterator[Row]:
    """d(B ⊕ x, B ⊕ y) = d(x, y)."""
    for name, space in _variants(subject).items():
        generator = subject.generator()
        x, y = (subject.batch(30, generator=generator) for _ in range(2))
        b = subject.point(generator)
        moved = space.compose(b, x), space.compose(b, y)
        claim = "Proposition 5.2, Table 1: left-invariant"
        what = "relative change of distances under left translation"
        yield Row(claim, name, what, _stretch(space, x, y, *moved), 1e-9)


def bi_invariant(space: Gyrogroup) -> bool | None:
    """Whether right translations are isometries too, where the paper or its groups say so."""
    model = space.model
    if isinstance(model, Product):
        parts = [bi_invariant(part) for part in model.parts]
        return all(parts) if None not in parts else None
    if isinstance(model, AffineInvariant):
        return False
    return True if isinstance(model, Vector | Rotations) else None


def right_invariance(subject: Subject) -> Iterator[Row]:
    """d(x ⊕ B, y ⊕ B) = d(x, y) on LEM, LCM, vectors and rotations, and not on AIM."""
    bi = bi_invariant(subject.space)
    if bi is None:
        return
    for name, space in _variants(subject).items():
        generator = subject.generator()
        x, y = (subject.batch(30, generator=generator) for _ in range(2))
        b = subject.point(generator)
        change = _stretch(space, x, y, space.compose(x, b), space.compose(y, b))
        what = "relative change of distances under right translation"
        if bi:
            yield Row("Proposition 5.2, Table 1: bi-invariant", name, what, change, 1e-9)
        else:
            claim = "Proposition 5.2, Table 1: left-invariant only"
            yield Row(claim, name, what, change, 0.01, least=True)


def right_invariant_metrics(subject: Subject) -> Iterator[Row]:
    """All of it can be transferred to right-invariant metrics."""
    space = subject.space
    if not space.associative:
        return
    twin = right(space)
    generator = subject.generator()
    x, y = (subject.batch(30, generator=generator) for _ in range(2))
    b = subject.point(generator)
    claim = "Remark 4.3, right-invariant metrics"
    yield Row(
        claim,
        subject.name,
        "relative change of distances of the right-invariant metric under right translation",
        _stretch(twin, x, y, space.compose(x, b), space.compose(y, b)),
        1e-9,
    )
    yield Row(
        claim,
        subject.name,
        "mean or variance of the output of its layer off from B and s²",
        max(errors(layer_on(twin, 0.6, b), x)),
        1e-9,
    )


def variance_only(subject: Subject) -> Iterator[Row]:
    """LieBN under cg and g differ in the variance only; so do (α, β) and (1, 0) for AIM and LEM."""
    if subject.name not in {"spd-aim", "spd-lem"}:
        return
    metric, n = subject.name.removeprefix("spd-"), subject.space.point_shape[0]
    x = subject.batch(30)
    plain = LieBatchNorm(spd(n, metric), eps=0.0, dtype=torch.float64)
    for claim, alpha, beta in (
        ("Section 5.2, LieBNs under g and g/θ² differ in the variance only", 4.0, 0.0),
        ("Appendix G.4, (α, β) affects the variance only", 2.0, -0.5),
    ):
        other = LieBatchNorm(spd(n, metric, alpha=alpha, beta=beta), eps=0.0, dtype=torch.float64)
        first = plain(x)
        variances = [
            layer.group.squared_distance(layer.group.mean(x), x).mean() for layer in (plain, other)
        ]
        other.scale.mul_((variances[1] / variances[0]).sqrt())  # type: ignore[union-attr]
        second = other(x)
        yield Row(
            claim,
            subject.name,
            f"difference of outputs, α = {alpha:g}, β = {beta:g}, with s times the quotient of v",
            float((first - second).abs().max() / first.abs().max()),
            1e-8,
        )


CHECKS = (
    deformed_lem,
    limits,
    left_invariance,
    right_invariance,
    right_invariant_metrics,
    variance_only,
)
