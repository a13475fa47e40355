"""All spaces by name: what the tests, the command line and the docs go through."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from liebn.groups.ball import Ball
from liebn.groups.base import Gyrogroup
from liebn.groups.correlation import correlation
from liebn.groups.grassmann import Grassmann
from liebn.groups.product import Product
from liebn.groups.rigid import SE
from liebn.groups.so import SO
from liebn.groups.spd import spd
from liebn.groups.sphere import Sphere
from liebn.groups.transvection import Transvection
from liebn.groups.vector import Euclidean

catalog: dict[str, Callable[[int], Gyrogroup]] = {
    "euclidean": Euclidean,
    "spd-aim": partial(spd, metric="aim"),
    "spd-lem": partial(spd, metric="lem"),
    "spd-lcm": partial(spd, metric="lcm"),
    "spd-gyro-aim": partial(spd, metric="gyro-aim"),
    "spd-crim": partial(spd, metric="crim"),
    "spd-alem": partial(spd, metric="alem"),
    "so": SO,
    "gyro-so": lambda n: Transvection(SO(n)),
    "se": SE,
    "correlation-ecm": partial(correlation, metric="ecm"),
    "correlation-lecm": partial(correlation, metric="lecm"),
    "correlation-olm": partial(correlation, metric="olm"),
    "correlation-lsm": partial(correlation, metric="lsm"),
    "sphere": Sphere,
    "ball": Ball,
    "grassmann": lambda n: Grassmann(n, n // 2),
    "product": lambda n: Product(SO(n), Euclidean(n)),
}
"""Name -> factory(size)."""
