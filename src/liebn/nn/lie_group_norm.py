"""Group normalization on Lie groups."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from liebn.groups import Gyrogroup, Rule
from liebn.linalg import InvalidPointError
from liebn.nn.lie_norm import LieNorm
from liebn.nn.samples import Layout


class LieGroupNorm(LieNorm):
    """Group normalization on a Lie group or gyrogroup: a mean per element and set of channels.

    The map is that of `LieBatchNorm`, with the Fréchet mean M and variance v² of the points of
    several channels of one element of the batch, and a scale and a bias for each channel. Training
    and evaluation are alike. On `Euclidean()` this is `torch.nn.GroupNorm`.

    Shape:
        Input and output (batch, channels, *extra, *point), with statistics over extra and the
        channels of a set. The optional weights are (batch, *extra), nonnegative, not all zero in
        any element of the batch.

    Args:
        group: the space.
        num_groups: how many sets of neighbouring channels have statistics of their own.
        channels: how many channels, a multiple of `num_groups`.
        eps: ε.
        affine: learn a scale and a bias for each channel.
        statistics: as in `LieBatchNorm`.
        mean_only: translate and do not scale.
        bias: as in `LieBatchNorm`.
        device: of parameters.
        dtype: of parameters.

    Attributes:
        scale: s, (channels,), or None.
        bias_tangent: b, (channels, *model point), or None.
    """

    def __init__(
        self,
        group: Gyrogroup,
        num_groups: int,
        channels: int,
        *,
        eps: float = 1e-5,
        affine: bool = True,
        statistics: str | Rule = "exact",
        mean_only: bool = False,
        bias: str = "tangent",
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(
            group,
            channels,
            eps=eps,
            affine=affine,
            statistics=statistics,
            mean_only=mean_only,
            bias=bias,
            device=device,
            dtype=dtype,
        )
        if num_groups < 1 or channels % num_groups:
            raise ValueError(
                f"expected channels to be a multiple of num_groups={num_groups}, got {channels}"
            )
        self.num_groups = num_groups
        self.channels = channels

    def _forward(self, x: Tensor, weights: Tensor | None, normalise: Any) -> Tensor:
        Layout.of(x, (self.channels,), tuple(self.group.point_shape))
        size = self.channels // self.num_groups
        try:
            y = super()._forward(x.unflatten(1, (self.num_groups, size)), weights, normalise)
        except InvalidPointError as error:
            first, block, member, *rest = error.index
            index = (first, block * size + member, *rest)
            raise InvalidPointError(index, error.reason) from None
        return y.flatten(1, 2)

    def _layout(self, x: Tensor) -> Layout:
        sizes = (self.num_groups, self.channels // self.num_groups)
        return Layout.of(x, sizes, tuple(self.group.point_shape)).within(2)

    def extra_repr(self) -> str:  # noqa: D102
        options = {
            "num_groups": self.num_groups,
            "channels": self.channels,
            "eps": self.eps,
            "affine": self.affine,
            "statistics": self.statistics,
        }
        return self._describe(options, {})
