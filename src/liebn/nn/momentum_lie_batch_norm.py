"""Batch normalization whose training statistics are running averages too."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from liebn.groups import Centred, Gyrogroup, Rule
from liebn.nn.lie_batch_norm import LieBatchNorm
from liebn.nn.samples import Layout
from liebn.nn.statistics import Running, Update


class MomentumLieBatchNorm(LieBatchNorm):
    """Momentum batch normalization on a Lie group, the paper's Algorithm 2.

    In training the batch is normalized with running averages M̄ and v̄², in which it has the share
    γ_train; a second pair, with the fixed share γ, serves evaluation. The variance of a batch is
    taken about its own mean. Gradients flow through the part that the batch has in M̄ and v̄².

    Args:
        group: the space.
        channels: as in `LieBatchNorm`.
        gamma: γ, the share of a batch in the averages for evaluation.
        schedule: (K, ρ) for γ_train(k) = 1 - ρ^(max(K - k, 0) / (K - 1)) + ρ in epoch k = 1, 2,
            ..., which falls from 1 to ρ at k = K; None for γ_train = γ.
        eps: as in `LieBatchNorm`, and so are the other arguments.
        affine: learn scale and bias.
        statistics: how the batch mean is found.
        mean_only: translate and do not scale.
        correction: for the running variances.
        bias: how the bias is learnt.
        device: of parameters and running averages.
        dtype: of parameters and running averages.

    Attributes:
        train_mean: M̄, points of the group.
        train_var: v̄².
    """

    running_mean: Tensor
    running_var: Tensor
    num_batches_tracked: Tensor
    train_mean: Tensor
    train_var: Tensor

    def __init__(
        self,
        group: Gyrogroup,
        channels: int | tuple[int, ...] = (),
        *,
        gamma: float = 0.1,
        schedule: tuple[int, float] | None = None,
        eps: float = 1e-5,
        affine: bool = True,
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
            momentum=gamma,
            eps=eps,
            affine=affine,
            statistics=statistics,
            mean_only=mean_only,
            correction=correction,
            bias=bias,
            device=device,
            dtype=dtype,
        )
        if schedule is not None and not (schedule[0] >= 2 and 0 < schedule[1] <= 1):
            raise ValueError(f"expected a schedule (K, ρ) with K ≥ 2 and 0 < ρ ≤ 1, got {schedule}")
        self.gamma = gamma
        self.schedule = schedule
        self.gamma_train = gamma
        self.set_epoch(1)

    def _register_statistics(self, where: dict[str, Any]) -> None:
        super()._register_statistics(where)
        self.register_buffer("train_mean", self.running_mean.clone())
        self.register_buffer("train_var", self.running_var.clone())

    @torch.no_grad()
    def reset_running_stats(self) -> None:  # noqa: D102
        super().reset_running_stats()
        self.train_mean.copy_(self.running_mean)
        self.train_var.copy_(self.running_var)

    def set_epoch(self, epoch: int) -> None:
        """Set γ_train for an epoch, counted from 1; call it at the start of each."""
        if self.schedule is not None:
            last, rho = self.schedule
            self.gamma_train = 1 - rho ** (max(last - epoch, 0) / (last - 1)) + rho

    def _normalise(
        self, y: Tensor, weights: Tensor | None, layout: Layout
    ) -> tuple[Tensor, list[Update]]:
        if not self._learns:
            return super()._normalise(y, weights, layout)
        running = Running(self.running_mean, self.running_var)
        running_train = Running(self.train_mean, self.train_var)
        return self._normalise_running(y, weights, running, running_train, self.num_batches_tracked)

    def _normalise_running(
        self,
        y: Tensor,
        weights: Tensor | None,
        running: Running,
        running_train: Running,
        count: Tensor,
    ) -> tuple[Tensor, list[Update]]:
        """Normalize a batch with the second averages, advanced by it; the updates of both."""
        correction = self._correction(y, weights)
        centred = self._centre(y, weights)
        with torch.no_grad():
            unbiased = centred.variance * correction
            moved = running.moved(self.group, centred.mean, unbiased, self.gamma)
            updates = [running.update(*moved, self.group, count)]
        mean, variance = running_train.moved(
            self.group, centred.mean, centred.variance, self.gamma_train
        )
        updates.append(running_train.update(mean, variance, self.group))
        return self._scale_and_bias(Centred(mean, self._ray_from(mean, y), variance)), updates

    def extra_repr(self) -> str:  # noqa: D102
        return f"{super().extra_repr()}, schedule={self.schedule}"
