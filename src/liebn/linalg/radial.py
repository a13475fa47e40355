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
    length = torch.linalg.vector_norm(v, dim=-1, keepdim=True)
    moved = length > torch.finfo(v.dtype).tiny ** 0.5
    length = torch.where(moved, length, 0.5)  # in the domain of any f
    return torch.where(moved, function(length) * (v / length), v)
