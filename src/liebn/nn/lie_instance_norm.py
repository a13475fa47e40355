"""Instance normalization on Lie groups."""

from __future__ import annotations

import torch
from torch import Tensor

from liebn.groups import Gyrogroup, Rule
from liebn.groups.mean import EXACT, LOCAL, Average
from liebn.nn.running_lie_norm import RunningLieNorm
from liebn.nn.samples import Layout


class LieInstanceNorm(RunningLieNorm):
    """Instance normalization on a Lie group or gyrogroup: a mean for every element and channel.

    The map is that of `LieBatchNorm`, with the Fréchet mean M and variance v² of the points of one
    channel of one element of the batch. On `Euclidean()` this is `torch.nn.InstanceNorm1d` and
    `InstanceNorm2d`, and as there nothing is learnt and no average is kept unless asked for. Kept
    averages move to the Fréchet mean of the instances' means and to the average of their variances,
    and evaluation uses them.

    Shape:
        Input and output (batch, *channels, *extra, *point), with statistics over extra. The
        optional weights are (batch, *extra), nonnegative, not all zero in any element of the batch.

    Args:
        group: the space.
        channels: sizes of the dimensions that have parameters of their own.
        momentum: share of the batch in the running averages; None averages over all batches alike.
        eps: ε.
        affine: learn a scale and a bias for each channel.
        track_running_stats: keep running averages; without them evaluation uses the input too.
        statistics: as in `LieBatchNorm`.
        mean_only: translate and do not scale.
        correction: 1 multiplies v² by n / (n - 1) in the running average, as torch does.
        bias: as in `LieBatchNorm`.
        device: of parameters and running averages.
        dtype: of parameters and running averages.

    Attributes:
        scale: s, (*channels), or None.
        bias_tangent: b, (*channels, *model point), or None.
        running_mean: points of the group, (*channels, *point), or None.
        running_var: (*channels), or None.
        num_batches_tracked: how many batches the running averages have seen, or None.
    """

    def __init__(
        self,
        group: Gyrogroup,
        channels: int | tuple[int, ...] = (),
        *,
        momentum: float | None = 0.1,
        eps: float = 1e-5,
        affine: bool = False,
        track_running_stats: bool = False,
        statistics: str | Rule = "exact",
        mean_only: bool = False,
        correction: int = 0,
        bias: str = "tangent",
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(
            group,
            channels,
            momentum=momentum,
            eps=eps,
            affine=affine,
            track_running_stats=track_running_stats,
            statistics=statistics,
            mean_only=mean_only,
            correction=correction,
            bias=bias,
            device=device,
            dtype=dtype,
        )

    def _layout(self, x: Tensor) -> Layout:
        return Layout.of(x, self.channels, tuple(self.group.point_shape)).within()

    def _over_instances(
        self, mean: Tensor, variance: Tensor, correction: Tensor | float
    ) -> tuple[Tensor, Tensor]:
        if isinstance(correction, Tensor):  # one for each element of the batch
            correction = correction.reshape(-1, *[1] * len(self.channels))
        average = Average(mean, None, LOCAL)
        return self.group.model._mean(mean, average, EXACT), (variance * correction).mean(0)
