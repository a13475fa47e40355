"""Invertible smooth maps between spaces, one to a file.

A space is pulled back through such a map by `liebn.groups.Pullback`; maps compose with `@`.
"""

from liebn.diffeos.adaptive_log import AdaptiveLog
from liebn.diffeos.base import Chain, CorrelationMap, Diffeo, Inverse, PositiveDefiniteMap
from liebn.diffeos.log import Log
from liebn.diffeos.log_cholesky import LogCholesky
from liebn.diffeos.log_scaling import LogScaling
from liebn.diffeos.off_log import OffLog
from liebn.diffeos.power import Power
from liebn.diffeos.unipotent_log import UnipotentLog
from liebn.diffeos.unit_cholesky import UnitCholesky

__all__ = [
    "AdaptiveLog",
    "Chain",
    "CorrelationMap",
    "Diffeo",
    "Inverse",
    "Log",
    "LogCholesky",
    "LogScaling",
    "OffLog",
    "PositiveDefiniteMap",
    "Power",
    "UnipotentLog",
    "UnitCholesky",
]
