"""The methods that the paper compares with, as configurations of the same layer.

A symmetric space is a gyrogroup under transvections, the isometries that carry the identity along a
geodesic in parallel. Whitening by M^(-½) is such a translation, and so is parallel transport from M
to the identity.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch import Tensor

from liebn.groups import SO, Gyrogroup, Rotations, Rule, Transvection, spd
from liebn.groups.affine_invariant import GyroAffineInvariant
from liebn.groups.base import Centred
from liebn.groups.vector import Vector
from liebn.nn.domain_lie_batch_norm import DomainLieBatchNorm
from liebn.nn.lie_batch_norm import LieBatchNorm

__all__ = [
    "SPDBN",
    "SPDDSMBN",
    "HomogeneousBN",
    "MatrixGroupBN",
    "SPDNetBN",
    "TransportBN",
    "transvections",
]


class SPDNetBN(LieBatchNorm):
    """X ↦ B^½ M^(-½) X M^(-½) B^½ (Brooks et al., 2019): controls the mean only.

    Args:
        n: size of the SPD matrices.
        channels: as in `LieBatchNorm`.
        statistics: as published by default.
        **options: the other arguments of `LieBatchNorm`.
    """

    def __init__(
        self,
        n: int,
        channels: int | tuple[int, ...] = (),
        *,
        statistics: str | Rule = "reference",
        **options: Any,
    ) -> None:
        super().__init__(
            spd(n, "gyro-aim"), channels, statistics=statistics, mean_only=True, **options
        )


class SPDBN(LieBatchNorm):
    """X ↦ B^½ (M^(-½) X M^(-½))^(s/v) B^½ (Kobler et al., 2022): mean and variance.

    Args:
        n: size of the SPD matrices.
        channels: as in `LieBatchNorm`.
        statistics: as published by default.
        **options: the other arguments of `LieBatchNorm`.
    """

    def __init__(
        self,
        n: int,
        channels: int | tuple[int, ...] = (),
        *,
        statistics: str | Rule = "reference",
        **options: Any,
    ) -> None:
        super().__init__(spd(n, "gyro-aim"), channels, statistics=statistics, **options)


class SPDDSMBN(DomainLieBatchNorm):
    """Domain-specific momentum SPDBN (Kobler et al., 2022).

    Args:
        n: size of the SPD matrices.
        domains: as in `DomainLieBatchNorm`.
        channels: as in `LieBatchNorm`.
        statistics: as published by default.
        **options: the other arguments of `DomainLieBatchNorm`.
    """

    def __init__(
        self,
        n: int,
        domains: int | Iterable[int],
        channels: int | tuple[int, ...] = (),
        *,
        statistics: str | Rule = "reference",
        **options: Any,
    ) -> None:
        super().__init__(spd(n, "gyro-aim"), domains, channels, statistics=statistics, **options)


def transvections(space: Gyrogroup) -> Gyrogroup:
    """A symmetric space as the gyrogroup of its transvections.

    Raises:
        ValueError: if the space is none of those known to be symmetric with these transvections.
    """
    if isinstance(space, Vector | GyroAffineInvariant | Transvection):
        return space
    if isinstance(space, Rotations):
        return Transvection(space)
    raise ValueError(
        f"parallel transport is known on vector spaces, gyro-aim and SO(n), not on {space}"
    )


class HomogeneousBN(LieBatchNorm):
    """Transport M → E, scale by s/v, transport E → B (Chakraborty, 2020, Algorithms 1 and 2).

    Args:
        space: a symmetric space: a vector space, `spd(n, "gyro-aim")` or `SO(n)`.
        channels: as in `LieBatchNorm`.
        **options: the other arguments of `LieBatchNorm`.
    """

    def __init__(
        self, space: Gyrogroup, channels: int | tuple[int, ...] = (), **options: Any
    ) -> None:
        super().__init__(transvections(space), channels, **options)


class MatrixGroupBN(LieBatchNorm):
    """R ↦ B exp(s/v log MᵀR) on rotations (Chakraborty, 2020, Algorithms 3 and 4).

    The method is for matrix groups with d(P, Q) = ‖log P⁻¹Q‖_F, which on SO(n) is LieBN itself.

    Args:
        n: size of the rotation matrices.
        channels: as in `LieBatchNorm`.
        **options: the other arguments of `LieBatchNorm`.
    """

    def __init__(self, n: int, channels: int | tuple[int, ...] = (), **options: Any) -> None:
        super().__init__(SO(n), channels, **options)


class TransportBN(LieBatchNorm):
    """X ↦ Exp_B[(s/v) PT_{M→B} Log_M X], transported along the geodesic (Lou et al., 2020).

    On a symmetric space that is M ⊕ (C ⊕ exp(s/v log(⊖M ⊕ X))) with C = ⊖M ⊕ B, since translation
    by C is the transvection from the identity and conjugating it by the isometry M ⊕ · gives the
    one from M to B.

    Args:
        space: a symmetric space: a vector space, `spd(n, "gyro-aim")` or `SO(n)`.
        channels: as in `LieBatchNorm`.
        **options: the other arguments of `LieBatchNorm`.
    """

    def __init__(
        self, space: Gyrogroup, channels: int | tuple[int, ...] = (), **options: Any
    ) -> None:
        super().__init__(transvections(space), channels, **options)

    def _place(self, centred: Centred, scale: Tensor | None, bias: Tensor | None) -> Tensor:
        model, mean, t = self.group.model, centred.mean, self._factor(centred.variance, scale)
        onto = model.inverse(mean) if bias is None else model.untranslate(mean, bias)
        return model.compose(mean, centred.ray.at(t, onto))
