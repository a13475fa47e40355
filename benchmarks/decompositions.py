"""Counting the decompositions that a computation asks LAPACK for."""

from __future__ import annotations

from collections import Counter
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

KERNELS = {
    "_linalg_eigh": "eigh",
    "linalg_eigh": "eigh",
    "_linalg_eigvals": "eigh",
    "_linalg_svd": "svd",
    "linalg_svd": "svd",
    "linalg_cholesky_ex": "cholesky",
    "linalg_qr": "qr",
}


class Decompositions(TorchDispatchMode):
    """Counts by kind while active, backward passes included.

    Attributes:
        batched: of more than one matrix at once.
        single: of one matrix, such as a mean or a bias.
        bases: eigenvectors that were found for several matrices at once.
    """

    def __init__(self) -> None:
        super().__init__()
        self.batched: Counter[str] = Counter()
        self.single: Counter[str] = Counter()
        self.bases: list[Tensor] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        kind = KERNELS.get(func.overloadpacket.__name__)
        if kind is not None:
            several = args[0].shape[:-2].numel() > 1
            (self.batched if several else self.single)[kind] += 1
            if several and kind == "eigh":
                self.bases.append(result[1])
        return result
