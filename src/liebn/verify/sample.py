"""Proposition 4.2: translated and scaled samples."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from liebn.verify.row import Finding, Row, Subject
from liebn.verify.samples import largest_relative


def homogeneity_of_mean(subject: Subject) -> Iterator[Row]:
    """FM{B ⊕ P} = B ⊕ FM{P}."""
    space, generator = subject.space, subject.generator()
    x, b = subject.batch(30, generator=generator), subject.point(generator)
    mean = space.mean(x)
    deviation = space.squared_distance(mean, x).mean().sqrt()
    apart = space.distance(space.mean(space.compose(b, x)), space.compose(b, mean))
    yield Row(
        "Proposition 4.2, eq. (16), homogeneity of the mean",
        subject.name,
        "d(FM{B ⊕ P}, B ⊕ FM{P}) in standard deviations",
        float(apart / deviation),
        1e-8,
    )


def dispersion(subject: Subject) -> Iterator[Row]:
    """Σ w d²(φ_s(P), E) = s² Σ w d²(P, E), as far as exp is one-to-one."""
    space, generator = subject.space, subject.generator()
    v = 0.25 * space.log(space.random(30, generator=generator, dtype=torch.float64))
    weights = torch.rand(30, generator=generator, dtype=torch.float64)
    farthest = float(space.squared_norm(v).max().sqrt())
    claim = "Proposition 4.2, eq. (17), dispersion from E"

    def off(*scales: float) -> float:
        before = (weights * space.squared_norm(v)).sum()
        after = [
            (weights * space.squared_distance(subject.identity(), space.exp(s * v))).sum() / s**2
            for s in scales
        ]
        return largest_relative(torch.stack(after), before)

    if not subject.compact:
        what = "relative error of Σ w d²(φ_s(P), E) / s², s = -1.5, 0.5, 3"
        yield Row(claim, subject.name, what, off(-1.5, 0.5, 3.0), 1e-9)
        return
    longest = space.injectivity_radius / farthest
    yield Row(
        claim,
        subject.name,
        "the same while |s| · max ‖log P‖ is below the injectivity radius: up to 0.9 of it",
        off(-0.9 * longest, 0.5, 0.9 * longest),
        1e-9,
        Finding.CORRECTED,
    )
    yield Row(
        claim,
        subject.name,
        "counterexample: samples wrap around where |s| · max ‖log P‖ is 2.5 radii",
        off(2.5 * longest),
        0.01,
        Finding.REFUTED,
        least=True,
    )


CHECKS = (homogeneity_of_mean, dispersion)
