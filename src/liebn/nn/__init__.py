"""Layers for networks on Lie groups.

`LieBatchNorm` and its momentum and domain-specific forms take any space of `liebn.groups`;
`baselines` holds the methods they are compared with. The other layers are those of SPD and rotation
networks.
"""

from liebn.nn import baselines
from liebn.nn.domain_lie_batch_norm import DomainLieBatchNorm
from liebn.nn.lie_batch_norm import LieBatchNorm
from liebn.nn.momentum_lie_batch_norm import MomentumLieBatchNorm
from liebn.nn.rotation import LogMap, Rectifier, RotMap, RotPooling
from liebn.nn.spd import BiMap, CovariancePool, DelayEmbedding, LogEig, ReEig
from liebn.nn.synchronise import convert_sync_lie_batchnorm

__all__ = [
    "BiMap",
    "CovariancePool",
    "DelayEmbedding",
    "DomainLieBatchNorm",
    "LieBatchNorm",
    "LogEig",
    "LogMap",
    "MomentumLieBatchNorm",
    "ReEig",
    "Rectifier",
    "RotMap",
    "RotPooling",
    "baselines",
    "convert_sync_lie_batchnorm",
]
