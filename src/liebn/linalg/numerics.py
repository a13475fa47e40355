"""Every tolerance of the library, by dtype, and the error that names a bad sample."""

from __future__ import annotations

from typing import NoReturn

import torch
from torch import Tensor

TINY = 1e-30
"""Added to a nonnegative ratio so that 0/0 becomes its limit; a normal number in float32 too."""

SLACK = 16.0
"""How many rounding errors an iterative solver may stay above the floor of its arithmetic."""

NEWTON_STEPS = 100
"""When Newton's method gives up; at a condition of 1e15, damped, it takes under 30 steps."""

SERIES_GAP = 0.03
"""Relative spread of three eigenvalues under which a second divided difference is a series."""


ROUGH = 2e-2
"""How far from its space a point may be for a layer to take it: more than half precision rounds."""


TOO_FAR = "has a power or an exponential that overflows: it is too far from the identity"
"""What is said of a point that is none of floating-point numbers any more."""


class InvalidPointError(ValueError):
    """A point that is not in its space: which one, and why.

    Attributes:
        index: position of the offending point in the batch shape, `()` where there is no batch.
        reason: what is wrong with it.
    """

    def __init__(self, index: tuple[int, ...], reason: str) -> None:
        super().__init__(index, reason)
        self.index = index
        self.reason = reason

    def __str__(self) -> str:
        where = "the point" if self.index == () else f"sample {list(self.index)}"
        return f"{where} {self.reason}"


def eps(dtype: torch.dtype) -> float:
    """Distance from 1 to the next number of `dtype`."""
    return torch.finfo(dtype).eps


def finite(x: Tensor) -> bool:
    """Whether every entry is finite: one sum tells, unless the sum itself overflows."""
    x = x.detach() if x.requires_grad else x
    total = x.sum()
    return bool(total - total == 0) or bool(torch.isfinite(x).all())


def raise_first(bad: Tensor, reason: str) -> NoReturn:
    """Raise `InvalidPointError` for the first true entry of `bad`, a mask of the batch shape."""
    index = tuple(int(i) for i in bad.nonzero()[0])
    raise InvalidPointError(index, reason)


def raise_where(bad: Tensor, reason: str) -> None:
    """Raise `InvalidPointError` if any entry of the mask `bad` is true."""
    if bool(bad.any()):
        raise_first(bad, reason)


def require_positive(smallest: Tensor, bad: Tensor) -> None:
    """Raise where `bad`, a mask of the batch shape like the smallest eigenvalues it is told of."""
    if bool(bad.any()):
        value = float(smallest[bad][0])
        raise_first(bad, f"is not positive definite: smallest eigenvalue {value:.3g}")


def non_finite(x: Tensor, point_dims: int) -> Tensor:
    """Mask, of the batch shape, of the points with an infinite or undefined entry."""
    finite: Tensor = torch.isfinite(x)
    return ~finite.flatten(x.dim() - point_dims).all(-1) if point_dims else ~finite


def require_finite(
    x: Tensor, point_dims: int, reason: str = "has entries that are not finite"
) -> None:
    """Raise `InvalidPointError` naming the first point with an entry that is not finite."""
    if not finite(x):
        raise_first(non_finite(x.detach(), point_dims), reason)
