"""Layers for networks on Lie groups.

`LieBatchNorm` and its momentum and domain-specific forms take any space of `liebn.groups`;
`baselines` holds the methods they are compared with.
"""

from liebn.nn import baselines
from liebn.nn.domain_lie_batch_norm import DomainLieBatchNorm
from liebn.nn.lie_batch_norm import LieBatchNorm
from liebn.nn.momentum_lie_batch_norm import MomentumLieBatchNorm
from liebn.nn.synchronise import convert_sync_lie_batchnorm

__all__ = [
    "DomainLieBatchNorm",
    "LieBatchNorm",
    "MomentumLieBatchNorm",
    "baselines",
    "convert_sync_lie_batchnorm",
]
