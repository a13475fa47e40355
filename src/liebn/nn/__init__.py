"""Layers for networks on Lie groups.

`LieBatchNorm`, its momentum and domain-specific forms, and instance, group and layer normalization
take any space of `liebn.groups`; `baselines` holds the methods they are compared with. The other
layers are those of SPD and rotation networks.
"""

from liebn.nn import baselines
from liebn.nn.domain_lie_batch_norm import DomainLieBatchNorm
from liebn.nn.lie_batch_norm import LieBatchNorm
from liebn.nn.lie_group_norm import LieGroupNorm
from liebn.nn.lie_instance_norm import LieInstanceNorm
from liebn.nn.lie_layer_norm import LieLayerNorm
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
    "LieGroupNorm",
    "LieInstanceNorm",
    "LieLayerNorm",
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
