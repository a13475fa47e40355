"""All checks, in the order of the paper."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping

import torch

from liebn.groups import Gyrogroup
from liebn.verify import deformation, layers, methods, population, sample, scaling
from liebn.verify.row import Check, Row, Subject

CHECKS: tuple[Check, ...] = (
    *methods.CHECKS,
    *population.CHECKS,
    *sample.CHECKS,
    *deformation.CHECKS,
    *layers.CHECKS,
    *scaling.CHECKS,
)

Watch = Callable[[list[tuple[Check, Subject]]], Iterable[tuple[Check, Subject]]]


def verify(
    spaces: Mapping[str, Gyrogroup],
    seed: int = 0,
    checks: Iterable[Check] = CHECKS,
    watch: Watch = iter,
) -> list[Row]:
    """Measure every claim on every space it applies to.

    Args:
        spaces: by name; some claims are about the names of `groups.catalog`.
        seed: of all random points.
        checks: which claims.
        watch: shows how far it is, by passing on the list of tasks.
    """
    tasks = [(check, Subject(name, s, seed)) for check in checks for name, s in spaces.items()]
    rows = [row for check, subject in watch(tasks) for row in _rows(check, subject)]
    # One claim under another, though a check may have measured several on each space.
    claims = dict.fromkeys(row.claim for row in rows)
    places = {claim: place for place, claim in enumerate(claims)}
    return sorted(rows, key=lambda row: places[row.claim])


def _rows(check: Check, subject: Subject) -> list[Row]:
    """The rows of a check; one that fails where the space does not let it come to an end."""
    try:
        with torch.no_grad():  # a space may have parameters
            return list(check(subject))
    except (ArithmeticError, RuntimeError, ValueError) as error:
        claim = (check.__doc__ or check.__name__).splitlines()[0]
        return [Row(claim, subject.name, f"stopped: {error}", math.nan, 0.0)]
