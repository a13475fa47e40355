"""Invertible smooth maps between spaces, one to a file.

A space is pulled back through such a map by `liebn.groups.Pullback`; maps compose with `@`.
"""

from liebn.diffeos.adaptive_log import AdaptiveLog
from liebn.diffeos.base import Chain, Diffeo, Inverse, PositiveDefiniteMap
from liebn.diffeos.log import Log
from liebn.diffeos.log_cholesky import LogCholesky
from liebn.diffeos.power import Power

__all__ = [
    "AdaptiveLog",
    "Chain",
    "Diffeo",
    "Inverse",
    "Log",
    "LogCholesky",
    "PositiveDefiniteMap",
    "Power",
]
