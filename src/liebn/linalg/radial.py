"""Maps of vectors that change their length only."""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

Vectors = Float[Tensor, "*batch n"]


def radial(v: Vectors, function: Callable[[Tensor], Tensor]) -> Vectors:
    """f(|v|) v / |v| for an odd function f with f'(0) = 1, which it takes elementwise.

    Where |v|² underflows, f(|v|) / |v| is 1 to rounding; there the gradient is the identity.
    """
    square = v.square().sum(-1, keepdim=True)
    moved = square > torch.finfo(v.dtype).tiny
    length = torch.where(moved, square, 1.0).sqrt()
    return torch.where(moved, function(length) / length, 1.0) * v
