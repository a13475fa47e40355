"""Batches of points."""

from __future__ import annotations

import torch
from torch import Tensor

from liebn.groups import Gyrogroup


def points(
    space: Gyrogroup,
    *sizes: int,
    generator: torch.Generator,
    dtype: torch.dtype = torch.float64,
    spread: float = 0.25,
) -> Tensor:
    """Points (*sizes, *point) about a centre; on a compact space, near enough to have one mean."""
    centre = space.random(generator=generator, dtype=torch.float64)
    x = space.random(*sizes, generator=generator, dtype=torch.float64)
    return space.compose(centre, space.exp(spread * space.log(x))).detach().to(dtype)


def largest_relative(found: Tensor, wanted: Tensor) -> float:
    """max |found / wanted - 1|."""
    return float((found / wanted - 1).abs().max())
