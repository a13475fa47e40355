"""Proposition 4.1: Gaussians under translation, and the likeliest mean."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from liebn.distributions import Gaussian
from liebn.verify.row import UNLIKELY, Row, Subject

COUNT = 4000


def likeliest_mean(subject: Subject) -> Iterator[Row]:
    """No other mean has a larger likelihood; k(σ) does not depend on it, by translation."""
    space, generator = subject.space, subject.generator()
    x = subject.batch(30, generator=generator)
    mean = space.mean(x)
    least = space.squared_distance(mean, x).mean()
    steps = space.log(space.random(100, generator=generator, dtype=torch.float64))
    lengths = (least / space.squared_norm(steps)).sqrt()
    gains = []
    for length in (1e-3, 0.1, 1.0):
        others = space.compose(mean, space.exp(space.expand(length * lengths) * steps))
        dispersion = space.squared_distance(others.unsqueeze(1), x).mean(1)
        gains.append(float((least - dispersion).max() / (2 * least)))
    yield Row(
        "Proposition 4.1 (1), MLE of M",
        subject.name,
        "largest gain of log-likelihood by 300 other means than Fréchet's, per sample, σ = v",
        max(gains),
        0.0,
    )


def homogeneity_of_density(subject: Subject) -> Iterator[Row]:
    """p(B ⊕ x | B ⊕ M) = p(x | M), where k(σ) cancels."""
    space, generator = subject.space, subject.generator()
    x, mean = subject.batch(200, generator=generator), subject.point(generator)
    b = subject.point(generator)
    before = space.squared_distance(mean, x)
    after = space.squared_distance(space.compose(b, mean), space.compose(b, x))
    yield Row(
        "Proposition 4.1 (2), homogeneity",
        subject.name,
        "|log p(B ⊕ x | B ⊕ M) - log p(x | M)|, σ = 1",
        float((0.5 * (after - before)).abs().max()),
        1e-9,
    )


def homogeneity_of_distribution(subject: Subject) -> Iterator[Row]:
    """B ⊕ X with X from N(M, σ²) against draws from N(B ⊕ M, σ²), seen from a third point."""
    if subject.law() is None:
        return
    from scipy import stats

    space, generator, sigma = subject.space, subject.generator(), 0.6
    mean, b, third = (subject.point(generator) for _ in range(3))
    moved = space.compose(b, mean)
    onto = space.compose(b, Gaussian(space, mean, sigma).sample(COUNT, generator))
    drawn = Gaussian(space, moved, sigma).sample(COUNT, generator)
    seen = [space.distance(third, x).numpy() for x in (onto, drawn)]
    yield Row(
        "Proposition 4.1 (2), as distributions",
        subject.name,
        f"p-value that B ⊕ N(M, σ²) is N(B ⊕ M, σ²): Kolmogorov-Smirnov, {COUNT} draws each",
        float(stats.ks_2samp(*seen).pvalue),
        UNLIKELY,
        least=True,
    )


CHECKS = (likeliest_mean, homogeneity_of_density, homogeneity_of_distribution)
