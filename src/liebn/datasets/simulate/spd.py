"""Simulated positive definite matrices whose means and dispersions are known exactly.

Each metric makes the matrices a group with exp at the identity and left translation:

    aim   exp(S) = expm S                        B + X = K X Kᵀ with K = chol B
    lem   exp(S) = expm S                        B + X = expm(logm B + logm X)
    lcm   exp(S) = L Lᵀ, L = low S + e^{diag S}  B + X: the charts low + log diag of chol add up

A class is its centre translated by exp of tangents that are centred and scaled to the sample: their
mean is zero and their mean squared norm the wanted dispersion squared. Since translation is an
isometry, the centre is the Fréchet mean of the sample itself, and not only in the limit.
"""

from __future__ import annotations

import numpy as np

from ..errors import DatasetError
from ..record import Dataset, Floats

METRICS = ("aim", "lem", "lcm")


def _spectral(matrices: Floats, function: np.ufunc) -> Floats:
    """Apply a function to the eigenvalues of symmetric matrices."""
    values, vectors = np.linalg.eigh(matrices)
    mapped = (vectors * function(values)[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    return np.asarray((mapped + np.swapaxes(mapped, -1, -2)) / 2)


def _to_chart(matrices: Floats) -> Floats:
    """Log-Cholesky chart: the strictly lower part of L plus the log of its diagonal."""
    factor = np.linalg.cholesky(matrices)
    diagonal = np.log(np.diagonal(factor, axis1=-2, axis2=-1))
    return np.asarray(np.tril(factor, -1) + diagonal[..., None] * np.eye(factor.shape[-1]))


def _from_chart(chart: Floats) -> Floats:
    """Inverse of the log-Cholesky chart."""
    diagonal = np.exp(np.diagonal(chart, axis1=-2, axis2=-1))
    factor = np.tril(chart, -1) + diagonal[..., None] * np.eye(chart.shape[-1])
    return np.asarray(factor @ np.swapaxes(factor, -1, -2))


def exp_identity(metric: str, tangents: Floats) -> Floats:
    """Map tangents at the identity to matrices; for lcm the tangents are lower triangular."""
    return _from_chart(tangents) if metric == "lcm" else _spectral(tangents, np.exp)


def translate(metric: str, by: Floats, points: Floats) -> Floats:
    """Left-translate points (..., n, n) by one matrix (n, n) in the group of the metric."""
    if metric == "aim":
        factor = np.linalg.cholesky(by)
        return np.asarray(factor @ points @ factor.T)
    if metric == "lem":
        return _spectral(_spectral(by, np.log) + _spectral(points, np.log), np.exp)
    return _from_chart(_to_chart(by) + _to_chart(points))


def random_tangents(metric: str, count: int, size: int, rng: np.random.Generator) -> Floats:
    """Draw tangents at the identity, isotropic in the metric's norm (Frobenius)."""
    draw = rng.standard_normal((count, size, size))
    return np.tril(draw) if metric == "lcm" else (draw + np.swapaxes(draw, -1, -2)) / 2


def _centred(tangents: Floats, dispersion: float) -> Floats:
    """Give tangents mean zero and mean squared norm ``dispersion`` squared."""
    tangents = tangents - tangents.mean(axis=0)
    return np.asarray(tangents * (dispersion / np.sqrt(np.mean(np.sum(tangents**2, (-2, -1))))))


def _unit(tangents: Floats) -> Floats:
    return np.asarray(tangents / np.sqrt(np.sum(tangents**2, axis=(-2, -1), keepdims=True)))


def _around(
    metric: str, centre: Floats, count: int, dispersion: float, rng: np.random.Generator
) -> Floats:
    tangents = _centred(random_tangents(metric, count, len(centre), rng), dispersion)
    return translate(metric, centre, exp_identity(metric, tangents))


def _check(metric: str, per_class: int) -> None:
    if metric not in METRICS:
        raise DatasetError(f"expected a metric among {', '.join(METRICS)}, got {metric!r}")
    if per_class < 2:
        raise DatasetError(f"expected at least two samples per class, got {per_class}")


def spd_classes(
    size: int,
    classes: int = 3,
    per_class: int = 50,
    metric: str = "aim",
    dispersion: float = 0.5,
    separation: float = 1.0,
    seed: int = 0,
) -> tuple[Dataset, Floats]:
    """Simulate classes with known centres and dispersion.

    Args:
        size: n of the n x n matrices.
        classes: number of classes.
        per_class: samples of each.
        metric: ``"aim"``, ``"lem"`` or ``"lcm"``.
        dispersion: root of the mean squared distance of a class to its centre.
        separation: distance of every centre from the identity.
        seed: of the generator.

    Returns:
        The dataset and the centres, shape (classes, size, size).
    """
    _check(metric, per_class)
    rng = np.random.default_rng(seed)
    directions = _unit(random_tangents(metric, classes, size, rng))
    centres = exp_identity(metric, separation * directions)
    points = [_around(metric, centre, per_class, dispersion, rng) for centre in centres]
    dataset = Dataset(
        name=f"simulated-{metric}",
        space="spd",
        points=np.concatenate(points),
        labels=np.repeat(np.arange(classes), per_class),
        classes=tuple(f"class {c}" for c in range(classes)),
        report=("simulated",),
        simulated=True,
    )
    return dataset, centres


def domain_shifted_spd(
    size: int,
    domains: int = 3,
    classes: int = 2,
    per_class: int = 25,
    metric: str = "aim",
    dispersion: float = 0.5,
    separation: float = 1.0,
    shift: float = 1.0,
    seed: int = 0,
) -> tuple[Dataset, Floats]:
    """Simulate domains that see the same classes, each translated by its own matrix.

    Every domain draws its own samples around the same centres; then one left translation per
    domain, an isometry, moves them all.

    Args:
        size: n of the n x n matrices.
        domains: number of domains.
        classes: number of classes.
        per_class: samples of each class in each domain.
        metric: ``"aim"``, ``"lem"`` or ``"lcm"``.
        dispersion: of a class about its centre.
        separation: distance of the unshifted centres from the identity.
        shift: distance of every translating matrix from the identity.
        seed: of the generator.

    Returns:
        The dataset and the translating matrices, shape (domains, size, size).
    """
    _check(metric, per_class)
    rng = np.random.default_rng(seed)
    moves = exp_identity(metric, shift * _unit(random_tangents(metric, domains, size, rng)))
    centres = exp_identity(metric, separation * _unit(random_tangents(metric, classes, size, rng)))
    points = [
        translate(metric, move, _around(metric, centre, per_class, dispersion, rng))
        for move in moves
        for centre in centres
    ]
    dataset = Dataset(
        name=f"simulated-shifted-{metric}",
        space="spd",
        points=np.concatenate(points),
        labels=np.tile(np.repeat(np.arange(classes), per_class), domains),
        classes=tuple(f"class {c}" for c in range(classes)),
        domains=np.repeat(np.arange(domains), classes * per_class),
        report=("simulated",),
        simulated=True,
    )
    return dataset, moves
