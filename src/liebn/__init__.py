"""Batch normalization on Lie groups, for PyTorch.

The layers stand here; `groups` has the spaces they take, `nn` the other layers, `models` networks
of them. `estimators`, `datasets`, `distributions`, `diffeos`, `linalg`, `optim` and `plots` are
imported when first asked for: some need libraries that an extra brings.
"""

import importlib
from typing import Any

from liebn import groups, models, nn
from liebn.nn import DomainLieBatchNorm, LieBatchNorm, MomentumLieBatchNorm
from liebn.nn.conversion import convert
from liebn.version import __version__

__all__ = [
    "DomainLieBatchNorm",
    "LieBatchNorm",
    "MomentumLieBatchNorm",
    "__version__",
    "convert",
    "groups",
    "models",
    "nn",
]

_ON_DEMAND = (
    "datasets",
    "diffeos",
    "distributions",
    "estimators",
    "linalg",
    "optim",
    "plots",
)


def __getattr__(name: str) -> Any:
    if name in _ON_DEMAND:
        return importlib.import_module(f"liebn.{name}")
    raise AttributeError(f"module 'liebn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_ON_DEMAND})
