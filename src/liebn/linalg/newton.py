"""Newton's method for systems of n equations, batched and damped."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from liebn.linalg import numerics


class Trial(NamedTuple):
    """A candidate (*batch, n) as Newton's method sees it.

    Attributes:
        residual: how far from solving the equations, as a multiple of what rounding leaves, of the
            batch shape.
        merit: a norm of the equations, which falls along the step at the rate of its own size, of
            the batch shape; zero where the step is known to be short enough.
        step: where to go, (*batch, n).
    """

    residual: Tensor
    merit: Tensor
    step: Tensor


def solve(evaluate: Callable[[Tensor], Trial], start: Tensor, failure: str) -> Tensor:
    """The root, from a start (*batch, n), without gradients.

    A fraction t of the step is taken if the merit falls by the factor 1 - t/4 at least, else t is
    halved. Each system stops by itself, where its residual is at most 1.

    Raises:
        InvalidPointError: naming the first system that is not solved, with `failure` as the reason.
    """
    kept, now = start, evaluate(start)
    length = torch.ones_like(now.residual)
    for _ in range(numerics.NEWTON_STEPS):
        open_ = ~(now.residual <= 1)
        if not bool(open_.any()):
            return kept + now.step  # it is known, and squares what error is left
        moved = kept + length.unsqueeze(-1) * now.step
        moved = torch.where(torch.isfinite(moved).all(-1, keepdim=True), moved, kept)
        there = evaluate(moved)
        better = (there.merit <= (1 - 0.25 * length) * now.merit) | (there.residual <= 1)
        taken = open_ & better
        kept = torch.where(taken.unsqueeze(-1), moved, kept)
        now = Trial(
            torch.where(taken, there.residual, now.residual),
            torch.where(taken, there.merit, now.merit),
            torch.where(taken.unsqueeze(-1), there.step, now.step),
        )
        length = torch.where(better, (2 * length).clamp_max(1), 0.5 * length)
    numerics.raise_where(~(now.residual <= 1), failure)
    return kept + now.step
