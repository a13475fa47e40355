"""Batch normalization on Lie groups."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from liebn.groups import Gyrogroup, Rule, Total
from liebn.nn.running_lie_norm import RunningLieNorm
from liebn.nn.samples import Layout
from liebn.nn.statistics import OtherProcessError, ProcessTotal


class LieBatchNorm(RunningLieNorm):
    """Batch normalization on a Lie group or gyrogroup.

    In training, with the Fréchet mean M and variance v² of the batch,

        x ↦ B ⊕ exp( s / √(v² + ε) · log(⊖M ⊕ x) ),

    so that the output has mean B and variance s² v² / (v² + ε). In evaluation M and v² are running
    averages: after each training batch M moves along the geodesic to the batch mean by the share
    `momentum`, and v² likewise. On `Euclidean()` this is `torch.nn.BatchNorm1d` and `BatchNorm2d`.

    Shape:
        Input and output (batch, *channels, *extra, *point), with statistics over batch and extra.
        The optional weights are (batch, *extra), nonnegative; a sample of weight 0 takes no part,
        whatever it holds.

    Args:
        group: the space, e.g. `groups.spd(20)` or `groups.SO(3)`.
        channels: sizes of the dimensions that have statistics and parameters of their own.
        momentum: share of the batch in the running averages; None averages over all batches alike.
        eps: ε.
        affine: learn the scale s and the bias B.
        track_running_stats: keep running averages; without them evaluation uses the batch too.
        statistics: "exact", the converged mean with full gradients; "fast", one Newton step,
            detached; "reference", as published, one Karcher step, detached; or a `groups.Rule`.
        mean_only: translate and do not scale.
        correction: 1 multiplies v² by n / (n - 1) in the running average, as torch does.
        bias: "tangent" learns B = exp(b) through a tangent vector b, for any optimiser; "manifold"
            learns the point itself, as a geoopt parameter for Riemannian optimisers.
        device: of parameters and running averages.
        dtype: of parameters and running averages.

    Attributes:
        scale: s, (*channels); None unless affine, or if mean_only.
        bias_tangent: b, (*channels, *model point), zero at the start.
        running_mean: points of the group, (*channels, *point), the identity at the start.
        running_var: (*channels), one at the start.
        num_batches_tracked: how many batches the running averages have seen.
    """

    def __init__(
        self,
        group: Gyrogroup,
        channels: int | tuple[int, ...] = (),
        *,
        momentum: float | None = 0.1,
        eps: float = 1e-5,
        affine: bool = True,
        track_running_stats: bool = True,
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
        self.synchronised = False
        self.process_group: Any = None

    def _layout(self, x: Tensor) -> Layout:
        return Layout.of(x, self.channels, tuple(self.group.point_shape))

    @property
    def _sums_over_processes(self) -> bool:
        return self.synchronised and self.training and not self.frozen

    @property
    def _total(self) -> Total:
        return ProcessTotal(self.process_group) if self._sums_over_processes else super()._total

    def _forward(self, x: Tensor, weights: Tensor | None, normalise: Any) -> Tensor:
        """Normalize, and write running averages once nothing can go wrong on any process."""
        if not self._sums_over_processes:
            return super()._forward(x, weights, normalise)
        total = ProcessTotal(self.process_group)
        try:
            y, updates = self._compute(x, weights, normalise)
        except OtherProcessError:
            raise
        except Exception:
            total.agree(x.device, failed=True)
            raise
        total.agree(x.device)
        for update in updates:
            update.apply()
        return y

    def extra_repr(self) -> str:  # noqa: D102
        return super().extra_repr() + (", synchronised=True" if self.synchronised else "")
