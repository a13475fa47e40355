"""Appendix C: what scaling does to densities, and the chain of Gaussians of a layer."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from liebn.distributions import Gaussian, is_flat
from liebn.distributions.basis import coordinates, orthonormal_basis
from liebn.groups import Gyrogroup
from liebn.verify.moments import layer_on
from liebn.verify.row import UNLIKELY, Finding, Row, Subject
from liebn.verify.samples import points

STEP = 1e-4
COUNT = 20000
SCALE = 1.5


def shrink(space: Gyrogroup, q: Tensor, s: float) -> Tensor:
    """φ_s⁻¹(q) = exp(log q / s)."""
    return space.exp(space.log(q) / s)


def volume_factor(space: Gyrogroup, q: Tensor, s: float) -> Tensor:
    """Δ(q) = |φ_s⁻¹_*| / |L_{φ_s⁻¹(q) ⊙ q⁻¹ *}|, of the batch shape, by central differences.

    Translated to the identity on both sides, by isometries, that is the determinant at 0, in
    orthonormal coordinates, of v ↦ log(⊖φ_s⁻¹(q) ⊕ φ_s⁻¹(q ⊕ exp v)).
    """
    space, q = space.model, space.to_model(q)
    basis = orthonormal_basis(space)
    steps = torch.cat([STEP * basis, -STEP * basis])
    moved = space.compose(q.unsqueeze(0), space.exp(steps).unsqueeze(1))
    back = space.untranslate(shrink(space, q, s), shrink(space, moved, s))
    ahead, behind = coordinates(space, basis, space.log(back)).chunk(2)
    jacobian = (ahead - behind).movedim(0, -1) / (2 * STEP)
    return torch.linalg.det(jacobian).abs()


def constant_factor(subject: Subject) -> Iterator[Row]:
    """Δ is constant on pullbacks of vector spaces, where it is s^-m, and varies elsewhere."""
    space = subject.space
    q = points(space, 20, generator=subject.generator(), spread=0.5)
    factors = volume_factor(space, q, SCALE)
    dimension = len(orthonormal_basis(space))
    spread = float(factors.max() / factors.min() - 1)
    what = f"max Δ / min Δ - 1 over 20 points, s = {SCALE}"
    if not is_flat(space):
        claim = "Appendix C, Δ varies on what is no pullback of Rⁿ"
        yield Row(claim, subject.name, what, spread, 0.01, least=True)
        return
    claim = "Proposition C.3, Δ is constant on pullbacks of Rⁿ"
    yield Row(claim, subject.name, what, spread, 1e-6)
    power = SCALE**dimension
    yield Row(
        "Proposition C.3, Δ = 1/s",
        subject.name,
        f"|s^m Δ - 1|: Δ = s^-m in dimension m = {dimension}",
        float((factors * power - 1).abs().max()),
        1e-6,
        Finding.HOLDS if dimension == 1 else Finding.CORRECTED,
    )
    if dimension > 1:
        yield Row(
            "Proposition C.3, Δ = 1/s",
            subject.name,
            f"counterexample: |s Δ - 1| at s = {SCALE}, m = {dimension}",
            float((factors * SCALE - 1).abs().min()),
            0.01,
            Finding.REFUTED,
            least=True,
        )


def density_lemma(subject: Subject) -> Iterator[Row]:
    """Δ(q) p_X(φ_s⁻¹(q)) is a density: its mean over p_Z(q) dq, divided by p_Z(q), is 1."""
    if subject.law() is None:
        return
    space, generator, sigma = subject.space, subject.generator(), 0.25
    e = subject.identity()
    # On a flat space Z is Y itself, and the quotient is 1 everywhere.
    narrow, wide = Gaussian(space, e, sigma), Gaussian(space, e, SCALE * sigma)
    q = wide.sample(1000, generator)
    log_density = narrow.log_density(shrink(space, q, SCALE))
    quotient = volume_factor(space, q, SCALE) * (log_density - wide.log_density(q)).exp()
    error = float(quotient.std()) / len(q) ** 0.5
    yield Row(
        "Lemma C.1, p_Y(Q) = Δ p_X(φ_s⁻¹(Q))",
        subject.name,
        "|mean of Δ p_X(φ_s⁻¹(Z)) / p_Z(Z) - 1| over 1000 Z; allowed: 5 standard errors, 1e-6",
        abs(float(quotient.mean()) - 1),
        5 * error + 1e-6,
    )


def _fits(squares: Tensor, dimension: int) -> tuple[float, float]:
    """The p-value and the statistic of squared distances, as σ² times chi-squared numbers."""
    from scipy import stats

    test = stats.kstest(squares.numpy(), stats.chi2(dimension).cdf)
    return float(test.pvalue), float(test.statistic)


def scaled_gaussian(subject: Subject) -> Iterator[Row]:
    """φ_s N(E, σ²) = N(E, s²σ²) on flat spaces."""
    law = subject.law()
    if law is None:
        return
    space, sigma, s = subject.space, 0.5, 2.0
    if is_flat(space):
        e = subject.identity()
        x = Gaussian(space, e, sigma).sample(COUNT, subject.generator())
        y = space.exp(s * space.log(x))
        p, _ = _fits(space.squared_distance(e, y) / (s * sigma) ** 2, law.dimension)
        yield Row(
            "Corollaries C.2 and C.4, φ_s N(E, σ²) = N(E, s²σ²)",
            subject.name,
            f"p-value of d²(Y, E) / s²σ² as chi-squared: Kolmogorov-Smirnov, {COUNT} draws",
            p,
            UNLIKELY,
            least=True,
        )
        return
    ratio = s**2 * law.variance(sigma) / law.variance(s * sigma)
    yield Row(
        "Appendix C, elsewhere the variance after scaling is agnostic",
        subject.name,
        f"|v² of φ_s N(E, σ²) / v² of N(E, s²σ²) - 1| at σ = {sigma}, s = {s:g}: {ratio:.3f} - 1",
        abs(ratio - 1),
        0.01,
        least=True,
    )


def scaled_elsewhere(subject: Subject) -> Iterator[Row]:
    """log p_Y = log Δ - d²/2s²σ² + c, so that Y is a Gaussian about E if log Δ is affine in d²."""
    space, generator = subject.space, subject.generator()
    if is_flat(space):
        return
    v = space.log(space.random(40, generator=generator, dtype=torch.float64))
    longest = min(4.0, 0.9 * space.injectivity_radius)
    lengths = torch.linspace(0.1, longest, 40, dtype=torch.float64)
    q = space.exp(space.expand(lengths / space.squared_norm(v).sqrt()) * v)
    factors = volume_factor(space, q, SCALE).log()
    columns = torch.stack([torch.ones_like(lengths), lengths.square()], -1)
    fitted = columns @ torch.linalg.lstsq(columns, factors.unsqueeze(-1)).solution
    yield Row(
        "Remark C.5, elsewhere φ_s N(E, σ²) is no Gaussian: the volume counts",
        subject.name,
        "largest residual of log Δ as an affine function of d²(Q, E)",
        float((factors - fitted.squeeze(-1)).abs().max()),
        0.001,
        least=True,
    )


def variance_of_gaussian(subject: Subject) -> Iterator[Row]:
    """The Fréchet variance of N(M, σ²) is σ² on the line only."""
    law = subject.law()
    if law is None:
        return
    space, generator, sigma = subject.space, subject.generator(), 0.8
    mean = subject.point(generator)
    squares = space.squared_distance(mean, Gaussian(space, mean, sigma).sample(COUNT, generator))
    error = float(squares.std()) / COUNT**0.5
    share = law.variance(sigma) / (law.dimension * sigma**2)
    what = "mσ²" if is_flat(space) else f"σ³ (log 1/k)'(σ) = {share:.3f} mσ² at σ = {sigma}"
    yield Row(
        "Appendix C, σ² is the variance",
        subject.name,
        f"|E d²(X, M) / v² - 1|, {COUNT} draws: v² = {what}, m = {law.dimension}",
        abs(float(squares.mean()) / law.variance(sigma) - 1),
        5 * error / law.variance(sigma),
        Finding.HOLDS if law.dimension == 1 else Finding.CORRECTED,
    )


def chain(subject: Subject) -> Iterator[Row]:
    """N(M, σ²) → N(E, σ²) → N(E, s²) → N(B, s²) on flat spaces, with σ and with v."""
    law = subject.law()
    if law is None or not is_flat(subject.space):
        return
    space, generator = subject.space, subject.generator()
    mean, b = subject.point(generator), subject.point(generator)
    m, sigma, s = law.dimension, 0.7, SCALE
    x = Gaussian(space, mean, sigma).sample(COUNT, generator)
    claim = "Eq. (38), N(M, σ²) → N(E, σ²) → N(E, s²) → N(B, s²)"
    e, centred = subject.identity(), space.untranslate(mean, x)
    scaled = space.exp(s / sigma * space.log(centred))
    stages = [(e, centred, sigma), (e, scaled, s), (b, space.compose(b, scaled), s)]
    fits = [_fits(space.squared_distance(p, y) / width**2, m)[0] for p, y, width in stages]
    yield Row(
        claim + ", divided by σ",
        subject.name,
        f"least p-value of the three stages: Kolmogorov-Smirnov, {COUNT} draws",
        min(fits),
        UNLIKELY,
        least=True,
    )
    squares = space.squared_distance(b, layer_on(space, s, b, eps=0.0)(x))
    right, _ = _fits(squares * m / s**2, m)
    yield Row(
        claim + ", divided by v",
        subject.name,
        f"p-value of N(B, s²/m), m = {m}: Algorithm 1 divides by v = √m σ",
        right,
        UNLIKELY,
        Finding.HOLDS if m == 1 else Finding.CORRECTED,
        least=True,
    )
    if m > 1:
        _, distance = _fits(squares / s**2, m)
        yield Row(
            claim + ", divided by v",
            subject.name,
            "counterexample: Kolmogorov-Smirnov distance of the output from N(B, s²)",
            distance,
            0.1,
            Finding.REFUTED,
            least=True,
        )


CHECKS = (
    constant_factor,
    density_lemma,
    scaled_gaussian,
    scaled_elsewhere,
    variance_of_gaussian,
    chain,
)
