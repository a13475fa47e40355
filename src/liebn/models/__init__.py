"""Networks on Lie groups, each with the normalization given as a callable size -> module.

`save` and `load` keep a network in a file of plain data, together with a recipe such as `SPDNorm`.
"""

from liebn.models.lienet import LieNet
from liebn.models.network import Network, load, save
from liebn.models.norms import DomainNorm, Norm, Recipe, RotationNorm, SPDNorm
from liebn.models.spdnet import SPDNet
from liebn.models.tsmnet import TSMNet

__all__ = [
    "DomainNorm",
    "LieNet",
    "Network",
    "Norm",
    "Recipe",
    "RotationNorm",
    "SPDNet",
    "SPDNorm",
    "TSMNet",
    "load",
    "save",
]
