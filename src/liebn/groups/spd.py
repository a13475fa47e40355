"""The families of groups on positive definite matrices."""

from __future__ import annotations

from collections.abc import Callable

from liebn.diffeos import AdaptiveLog, Log, LogCholesky, Power
from liebn.groups.affine_invariant import AffineInvariant, GyroAffineInvariant
from liebn.groups.base import Gyrogroup
from liebn.groups.pullback import Pullback, right
from liebn.groups.vector import LowerTriangular, Symmetric


def _lem(n: int, _theta: float, alpha: float, beta: float) -> Gyrogroup:
    return Pullback(Log(), Symmetric(n, alpha, beta))


def _deformed(
    space: Callable[[int, float, float], Gyrogroup],
) -> Callable[[int, float, float, float], Gyrogroup]:
    """(1/θ²) P_θ^* of an affine-invariant space; its limit at θ = 0 is LEM."""

    def factory(n: int, theta: float, alpha: float, beta: float) -> Gyrogroup:
        if theta == 0:
            return _lem(n, theta, alpha, beta)
        base = space(n, alpha / theta**2, beta / theta**2)
        return base if theta == 1 else Pullback(Power(theta), base)

    return factory


def _lcm(n: int, theta: float, alpha: float, beta: float) -> Gyrogroup:
    if (alpha, beta) != (1.0, 0.0):
        raise ValueError(f"LCM takes no α and β, got α = {alpha:g}, β = {beta:g}")
    if theta == 0:
        return Pullback(Log(), Symmetric(n, alpha=0.5, delta=-0.25))
    diffeo = LogCholesky() if theta == 1 else LogCholesky() @ Power(theta)
    return Pullback(diffeo, LowerTriangular(n, 1 / theta**2))


def _alem(n: int, theta: float, alpha: float, beta: float) -> Gyrogroup:
    if theta != 1:
        raise ValueError(f"ALEM takes no θ, since it learns its own deformation, got θ = {theta:g}")
    return Pullback(AdaptiveLog(), Symmetric(n, alpha, beta))


METRICS: dict[str, Callable[[int, float, float, float], Gyrogroup]] = {
    "aim": _deformed(AffineInvariant),
    "lem": _lem,
    "lcm": _lcm,
    "gyro-aim": _deformed(GyroAffineInvariant),
    "alem": _alem,
    "crim": _deformed(lambda n, alpha, beta: right(AffineInvariant(n, alpha, beta))),
}


def spd(
    n: int, metric: str = "aim", theta: float = 1.0, alpha: float = 1.0, beta: float = 0.0
) -> Gyrogroup:
    """Positive definite n×n matrices as a group with an invariant metric.

    Args:
        n: the size of the matrices.
        metric: "aim" (affine-invariant), "lem" (log-Euclidean), "lcm" (log-Cholesky), "gyro-aim"
            (affine-invariant, translated by symmetric roots), "crim" (the right-invariant twin of
            aim) or "alem" (log-Euclidean, with a function to learn in place of the logarithm: see
            `diffeos.AdaptiveLog`).
        theta: the power deformation P ↦ P^θ, any real number; 0 stands for the limit, which is LEM
            for aim, gyro-aim and crim, and LEM under ½‖V‖² - ¼‖diag V‖² for lcm. It does not change
            lem, and alem takes none.
        alpha: weight of ‖V‖² in the inner product at the identity.
        beta: weight of (tr V)²; min(α, α + nβ) > 0 is needed. lcm takes neither.
    """
    if metric not in METRICS:
        raise ValueError(
            f"unknown metric {metric!r} on SPD matrices; there are {', '.join(METRICS)}"
        )
    return METRICS[metric](n, float(theta), float(alpha), float(beta))
