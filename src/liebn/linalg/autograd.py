"""torch's base for functions with their own gradient, typed, and plain about second derivatives."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import torch


class Function(torch.autograd.Function):
    """See `torch.autograd.Function`; torch gives its `apply` no type."""

    if TYPE_CHECKING:

        @classmethod
        def apply(cls, *args: Any) -> Any:
            """Call `forward`, and remember how to go back."""


def first_order(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a backward pass that cannot be differentiated in turn; asked to, it raises at once."""

    @wraps(backward)
    def once(ctx: Any, *grads: Any) -> Any:
        if torch.is_grad_enabled():  # backward(create_graph=True)
            name = type(ctx).__name__.removesuffix("Backward").lstrip("_")
            raise RuntimeError(
                f"the second derivative is not provided for {name}: differentiate it once, without "
                "create_graph=True, or use the functions of liebn.linalg.spectral, which have one"
            )
        return backward(ctx, *grads)

    return once
