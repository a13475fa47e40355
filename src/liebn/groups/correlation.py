"""The flat geometries of correlation matrices."""

from __future__ import annotations

from collections.abc import Callable

from liebn.diffeos import LogScaling, OffLog, UnipotentLog, UnitCholesky
from liebn.groups.base import Gyrogroup
from liebn.groups.pullback import Pullback
from liebn.groups.vector import Hollow, RowZero, StrictlyLower

METRICS: dict[str, Callable[[int], Gyrogroup]] = {
    "ecm": lambda n: Pullback(UnitCholesky(), StrictlyLower(n)),
    "lecm": lambda n: Pullback(UnipotentLog() @ UnitCholesky(), StrictlyLower(n)),
    "olm": lambda n: Pullback(OffLog(), Hollow(n)),
    "lsm": lambda n: Pullback(LogScaling(), RowZero(n)),
}


def correlation(n: int, metric: str = "ecm") -> Gyrogroup:
    """Full-rank n×n correlation matrices as a commutative group with a flat invariant metric.

    All four are vector spaces seen through a map, with ‖V‖² = ‖V‖_F² there.

    Args:
        n: the size of the matrices, at least 2.
        metric: "ecm" (Euclidean-Cholesky) and "lecm" (log-Euclidean-Cholesky), in closed form, of
            Thanwerdas and Pennec (2022), both dependent on the order of the variables; "olm"
            (off-log) and "lsm" (log-scaled) of Thanwerdas (2024), invariant under permutations of
            the variables, each with Newton's method in one direction. Under lsm ⊖C is the
            correlation matrix of C⁻¹.
    """
    if metric not in METRICS:
        raise ValueError(
            f"unknown metric {metric!r} on correlation matrices; there are {', '.join(METRICS)}"
        )
    if n < 2:
        raise ValueError(f"correlation matrices need n ≥ 2, got {n}")
    return METRICS[metric](n)
