"""torch's base for functions with a gradient of their own, with a type for `apply`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch


class Function(torch.autograd.Function):
    """See `torch.autograd.Function`; torch gives its `apply` no type."""

    if TYPE_CHECKING:

        @classmethod
        def apply(cls, *args: Any) -> Any:
            """Call `forward`, and remember how to go back."""
