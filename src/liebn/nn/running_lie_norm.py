"""What the normalization layers with running averages share."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from liebn.groups import Centred, Gyrogroup, Rule
from liebn.groups.mean import Average
from liebn.nn.lie_norm import LieNorm
from liebn.nn.samples import Layout
from liebn.nn.statistics import Running, Update


class RunningLieNorm(LieNorm):
    """A normalization layer that can keep running averages, for use in evaluation.

    Args:
        group: the space.
        channels: sizes of the dimensions that have parameters and running averages of their own.
        momentum: share of the batch in the running averages; None averages over all batches alike.
        eps: ε.
        affine: learn the scale and the bias.
        track_running_stats: keep running averages.
        statistics: as in `LieBatchNorm`, and so are the others.
        mean_only: translate and do not scale.
        correction: for the running variance.
        bias: how the bias is learnt.
        device: of parameters and running averages.
        dtype: of parameters and running averages.
    """

    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self,
        group: Gyrogroup,
        channels: int | tuple[int, ...] = (),
        *,
        momentum: float | None,
        eps: float,
        affine: bool,
        track_running_stats: bool,
        statistics: str | Rule,
        mean_only: bool,
        correction: int,
        bias: str,
        device: torch.device | str | None,
        dtype: torch.dtype | None,
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
        if correction not in {0, 1}:
            raise ValueError(f"expected correction to be 0 or 1, got {correction}")
        self.momentum = momentum
        self.track_running_stats = track_running_stats
        self.correction = correction
        self.frozen = False
        self._register_statistics({"device": device, "dtype": dtype})

    @property
    def channels(self) -> tuple[int, ...]:
        """Sizes of the dimensions that have parameters and running averages of their own."""
        return self._shape

    def _register_statistics(self, where: dict[str, Any]) -> None:
        mean = var = count = None
        if self.track_running_stats:
            mean = self.group.identity(*self.channels, **where).detach()
            var = torch.ones(self.channels, **where)
            count = torch.tensor(0, dtype=torch.long, device=where["device"])
        self.register_buffer("running_mean", mean)
        self.register_buffer("running_var", var)
        self.register_buffer("num_batches_tracked", count)

    @torch.no_grad()
    def reset_running_stats(self) -> None:
        """Forget all batches: the identity, variance one."""
        if self.running_mean is not None and self.running_var is not None:
            own = self.running_mean
            own.copy_(self.group.identity(dtype=own.dtype, device=own.device))
            self.running_var.fill_(1)
        if self.num_batches_tracked is not None:
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:  # noqa: D102
        super().reset_parameters()
        self.reset_running_stats()

    def freeze(self, mode: bool = True) -> RunningLieNorm:
        """Normalize with the running averages in training too, and leave them as they are.

        For fine-tuning: `model.train()` does not undo it, `freeze(False)` does. Scale and bias go
        on learning; `norm.freeze().requires_grad_(False)` fixes them as well. Like `training`, it
        is a state of the module that copies and pickles keep and `state_dict` does not.
        """
        if mode and self.running_mean is None:
            raise ValueError(
                "expected a layer with running averages to freeze, got track_running_stats=False"
            )
        self.frozen = mode
        return self

    @property
    def _learns(self) -> bool:
        """Whether a batch enters the running averages."""
        return self.training and self.running_mean is not None and not self.frozen

    @property
    def _uses_batch(self) -> bool:
        return self._learns or self.running_mean is None

    @property
    def _running(self) -> Running | None:
        if self.running_mean is None or self.running_var is None:
            return None
        return Running(self.running_mean, self.running_var)

    def _normalise(
        self, y: Tensor, weights: Tensor | None, layout: Layout
    ) -> tuple[Tensor, list[Update]]:
        running = self._running
        if running is not None and not self._learns:
            return self._normalise_with(running, y), []
        correction = self._correction(y, weights)
        centred = self._centre(y, weights)
        updates = [] if running is None else [self._advance(running, centred, correction)]
        return self._scale_and_bias(centred), updates

    def _normalise_with(self, running: Running, y: Tensor) -> Tensor:
        mean = self.group.to_model(running.mean.to(y.dtype))
        ray = self._ray_from(mean, y)
        return self._scale_and_bias(Centred(mean, ray, running.var.to(y.dtype)))

    def _correction(self, y: Tensor, weights: Tensor | None) -> Tensor | float:
        """n / (n - correction) for the number n of samples, by weight, in all processes.

        As many as there are sums of weights, which may differ along the first dimensions apart.
        """
        if not self.correction:
            return 1.0
        mass = Average(y, weights, self._total).mass
        least = float(mass.min()) if isinstance(mass, Tensor) else mass
        if least <= 1:
            raise ValueError(f"correction=1 needs more than one sample, got {least:g}")
        return mass / (mass - 1)

    @torch.no_grad()
    def _advance(self, running: Running, centred: Centred, correction: Tensor | float) -> Update:
        assert self.num_batches_tracked is not None  # noqa: S101
        mean, variance = self._over_instances(centred.mean, centred.variance, correction)
        share = self.momentum
        if share is None:
            share = 1 / (int(self.num_batches_tracked) + 1)
        moved = running.moved(self.group, mean, variance, share)
        return running.update(*moved, self.group, self.num_batches_tracked)

    def _over_instances(
        self, mean: Tensor, variance: Tensor, correction: Tensor | float
    ) -> tuple[Tensor, Tensor]:
        """The mean, a point of the model, and variance that a batch brings to the averages."""
        return mean, variance * correction

    def extra_repr(self) -> str:  # noqa: D102
        options = {
            "channels": self.channels,
            "momentum": self.momentum,
            "eps": self.eps,
            "affine": self.affine,
            "track_running_stats": self.track_running_stats,
            "statistics": self.statistics,
        }
        return self._describe(options, {"correction": 0, "frozen": False})
