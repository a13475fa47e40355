"""Batch normalization on Lie groups, for PyTorch."""

from liebn import groups, nn
from liebn.nn import DomainLieBatchNorm, LieBatchNorm, MomentumLieBatchNorm

__all__ = ["DomainLieBatchNorm", "LieBatchNorm", "MomentumLieBatchNorm", "groups", "nn"]
