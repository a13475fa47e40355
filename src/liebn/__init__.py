"""Batch normalization on Lie groups, for PyTorch."""

from liebn import groups, nn
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
    "nn",
]
