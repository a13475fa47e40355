"""One measured claim, and what it is measured on."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum

import torch
from torch import Tensor

from liebn.distributions import Law, NoLawError, law_of
from liebn.groups import Gyrogroup
from liebn.verify.samples import points

FAILED = "FAILED"
UNLIKELY = 1e-6
"""The p-value below which a test of fit rejects: not by chance, but surely a wrong factor."""


class Finding(Enum):
    """What the measurement says of a claim if its value is as allowed."""

    HOLDS = "holds"
    CORRECTED = "holds with a correction"
    REFUTED = "does not hold as written"


@dataclass(frozen=True)
class Row:
    """A claim on a space, with one number that decides it.

    Attributes:
        claim: with the paper's numbering.
        space: its name.
        measured: what the number is, with the correction or the counterexample.
        value: the number.
        allowed: its bound.
        finding: what a value within the bound shows.
        least: whether the bound is the least allowed, and not the largest.
    """

    claim: str
    space: str
    measured: str
    value: float
    allowed: float
    finding: Finding = Finding.HOLDS
    least: bool = False

    @property
    def as_expected(self) -> bool:
        """Whether the value is within its bound; never if it is not finite."""
        if not math.isfinite(self.value):
            return False
        return self.value >= self.allowed if self.least else self.value <= self.allowed

    @property
    def verdict(self) -> str:
        """The finding, or that it has failed."""
        return self.finding.value if self.as_expected else FAILED

    @property
    def cells(self) -> tuple[str, ...]:
        """As shown in the table."""
        sign = "≥" if self.least else "≤"
        bound = f"{sign} {self.allowed:.2g}"
        return self.claim, self.space, self.measured, f"{self.value:.1e}", bound, self.verdict


COLUMNS = ("claim", "space", "measured", "value", "allowed", "verdict")


@dataclass(frozen=True)
class Subject:
    """A space under its name, with the randomness that checks draw from."""

    name: str
    space: Gyrogroup
    seed: int = 0

    def generator(self) -> torch.Generator:
        """A fresh one, the same on each call."""
        return torch.Generator().manual_seed(self.seed)

    def batch(self, *sizes: int, generator: torch.Generator | None = None) -> Tensor:
        """Points about a centre, on a compact space near enough to have one mean."""
        return points(self.space, *sizes, generator=generator or self.generator())

    def point(self, generator: torch.Generator) -> Tensor:
        """One point, near enough to the identity to be used as a translation."""
        x = self.space.random(generator=generator, dtype=torch.float64)
        return self.space.exp(0.5 * self.space.log(x))

    def identity(self) -> Tensor:
        """The identity, in float64."""
        return self.space.identity(dtype=torch.float64)

    @property
    def compact(self) -> bool:
        """Whether there is a cut locus."""
        return self.space.injectivity_radius < math.inf

    def law(self) -> Law | None:
        """Its Gaussians, where they are known."""
        try:
            return law_of(self.space)
        except NoLawError:
            return None


Check = Callable[[Subject], Iterable[Row]]
"""The rows of one claim on one space; none where the claim does not apply."""
