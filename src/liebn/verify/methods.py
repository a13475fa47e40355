"""Table 2: which of mean and variance every method controls, as measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch

from liebn.groups import Gyrogroup
from liebn.nn import DomainLieBatchNorm, LieBatchNorm
from liebn.nn.baselines import SPDBN, SPDDSMBN, HomogeneousBN, MatrixGroupBN, SPDNetBN, TransportBN
from liebn.nn.lie_norm import LieNorm
from liebn.verify.moments import errors
from liebn.verify.row import Check, Finding, Row, Subject
from liebn.verify.samples import points

CONTROLLED = 1e-9
SYMMETRIC = ("euclidean", "spd-gyro-aim", "so")


class Method(NamedTuple):
    """A layer, and what the paper's table says of it.

    Attributes:
        name: of the layer.
        spaces: names of those it is measured on; None for all.
        make: from a space and a rule for the mean to the layer.
        mean: the paper's mark for the mean.
        variance: the paper's mark for the variance.
        scale: s.
        controlled: whether mean and variance are, as measured.
    """

    name: str
    spaces: tuple[str, ...] | None
    make: Callable[[Gyrogroup, str], LieNorm]
    mean: str = "✓"
    variance: str = "✓"
    scale: float = 0.6
    controlled: tuple[bool, bool] = (True, True)

    def marks(self, space: Gyrogroup) -> tuple[str, str]:
        """The paper's, for mean and variance; none for LieBN on what is no group."""
        claimed = space.associative or self.spaces is not None
        return (self.mean, self.variance) if claimed else ("—", "—")

    def on(self, name: str) -> bool:
        """Whether it is measured on the space of this name."""
        return self.spaces is None or name in self.spaces


def _of_space(layer: Callable[..., LieNorm]) -> Callable[[Gyrogroup, str], LieNorm]:
    return lambda space, mode: layer(space, statistics=mode, dtype=torch.float64)


def _of_size(layer: Callable[..., LieNorm], *more: int) -> Callable[[Gyrogroup, str], LieNorm]:
    return lambda space, mode: layer(
        space.point_shape[0], *more, statistics=mode, dtype=torch.float64
    )


METHODS = (
    Method("LieBatchNorm", None, _of_space(LieBatchNorm)),
    Method(
        "LieBatchNorm, past the injectivity radius",
        ("so",),
        _of_space(LieBatchNorm),
        scale=6.0,
        controlled=(False, False),
    ),
    Method(
        "SPDNetBN",
        ("spd-gyro-aim",),
        _of_size(SPDNetBN),
        variance="not involved",
        controlled=(True, False),
    ),
    Method("SPDBN", ("spd-gyro-aim",), _of_size(SPDBN)),
    Method("SPDDSMBN, γ_train = 1", ("spd-gyro-aim",), _of_size(SPDDSMBN, 1)),
    Method("MatrixGroupBN", ("so",), _of_size(MatrixGroupBN)),
    Method("HomogeneousBN", SYMMETRIC, _of_space(HomogeneousBN), "✗", "✗"),
    Method("TransportBN", SYMMETRIC, _of_space(TransportBN), "✗", "✗"),
)


def measure(method: Method, space: Gyrogroup, mode: str, seed: int = 0) -> tuple[float, float]:
    """How far the mean is from B, in standard deviations, and the variance from the one wanted."""
    generator = torch.Generator().manual_seed(seed)
    layer: Any = method.make(space, mode)
    with torch.no_grad():
        if layer.scale is not None:
            layer.scale.fill_(method.scale)
        if layer.bias_tangent is not None:
            b = torch.randn(layer.bias_tangent.shape, generator=generator, dtype=torch.float64)
            layer.bias_tangent.copy_(0.4 * b)
    x = points(layer.group, 12, generator=generator, spread=0.25)
    if isinstance(layer, DomainLieBatchNorm):
        layer.gamma_train = 1.0
        return errors(layer, x, 0)
    return errors(layer, x)


def control(method: Method) -> Check:
    """A row for the mean and one for the variance of the output of a method."""

    def check(subject: Subject) -> Iterator[Row]:
        if not method.on(subject.name):
            return
        found = measure(method, subject.space, "exact", subject.seed)
        marks = method.marks(subject.space)
        for moment, off, mark, controlled in zip(
            ("mean", "variance"), found, marks, method.controlled, strict=True
        ):
            as_written = mark not in {"✓", "✗"} or controlled == (mark == "✓")
            what = "controlled" if controlled else "not controlled"
            yield Row(
                f"Table 2, {method.name}: {moment} {mark}",
                subject.name,
                f"{what}: how far the {moment} is off, s = {method.scale:g}",
                off,
                CONTROLLED if controlled else 0.01,
                Finding.HOLDS if as_written else Finding.REFUTED,
                least=not controlled,
            )

    check.__doc__ = f"Table 2, {method.name}"
    return check


CHECKS = tuple(map(control, METHODS))
