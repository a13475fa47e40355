"""Batch normalization on Lie groups."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from liebn.groups import Centred, Gyrogroup, Ray, Rule, Total
from liebn.groups.mean import LOCAL, RULES, Average
from liebn.nn.samples import Layout, admit
from liebn.nn.statistics import OtherProcessError, ProcessTotal, Running, Update


class Still:
    """Points that are translated and not scaled: the ray of a layer that only centres."""

    def __init__(self, space: Gyrogroup, points: Tensor) -> None:
        self.space, self.points = space, points

    def squared_norm(self) -> Tensor:
        """‖log x‖²."""
        return self.space.ray(self.points).squared_norm()

    def at(self, t: Tensor, onto: Tensor | None = None) -> Tensor:
        """Onto ⊕ x, whatever t."""
        return self.points if onto is None else self.space.compose(onto, self.points)


class LieBatchNorm(nn.Module):
    """Batch normalization on a Lie group or gyrogroup.

    In training, with the Fréchet mean M and variance v² of the batch,

        x ↦ B ⊕ exp( s / √(v² + ε) · log(⊖M ⊕ x) ),

    so that the output has mean B and variance s² v² / (v² + ε). In evaluation M and v² are running
    averages: after each training batch M moves along the geodesic to the batch mean by the share
        `momentum`,
    and v² likewise. On `Euclidean()` this is `torch.nn.BatchNorm1d` and `BatchNorm2d`.

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

    scale: nn.Parameter | None
    bias_tangent: nn.Parameter | None
    bias_manifold: nn.Parameter | None
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

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
        super().__init__()
        self.group = group
        self.channels = (channels,) if isinstance(channels, int) else tuple(channels)
        self.momentum = momentum
        self.eps = eps
        self.affine = affine
        self.track_running_stats = track_running_stats
        self.statistics = statistics
        self.mean_only = mean_only
        self.correction = correction
        self.bias = bias
        self.synchronised = False
        self.process_group: Any = None
        self._require_known_options()
        where = {"device": device, "dtype": dtype}
        self._register_parameters(where)
        self._register_statistics(where)

    def _require_known_options(self) -> None:
        if isinstance(self.statistics, str) and self.statistics not in RULES:
            raise ValueError(
                f"expected statistics to be a Rule or one of {', '.join(RULES)}, "
                f"got {self.statistics!r}"
            )
        if self.bias not in {"tangent", "manifold"}:
            raise ValueError(f"expected bias to be 'tangent' or 'manifold', got {self.bias!r}")
        if self.correction not in {0, 1}:
            raise ValueError(f"expected correction to be 0 or 1, got {self.correction}")
        if self.eps < 0:
            raise ValueError(f"expected eps ≥ 0, got {self.eps}")

    def _register_parameters(self, where: dict[str, Any]) -> None:
        scale = tangent = point = None
        if self.affine and not self.mean_only:
            scale = nn.Parameter(torch.ones(self.channels, **where))
        if self.affine and self.bias == "tangent":
            shape = (*self.channels, *self.group.model.point_shape)
            tangent = nn.Parameter(torch.zeros(shape, **where))
        if self.affine and self.bias == "manifold":
            manifold = self.group.manifold()
            if manifold is None:
                raise ValueError(
                    f"{self.group} has no manifold in geoopt to keep a bias on: use bias='tangent'"
                )
            import geoopt

            identity = self.group.identity(*self.channels, **where)
            point = geoopt.ManifoldParameter(identity, manifold=manifold)
        self.register_parameter("scale", scale)
        self.register_parameter("bias_tangent", tangent)
        self.register_parameter("bias_manifold", point)

    def _register_statistics(self, where: dict[str, Any]) -> None:
        mean = var = count = None
        if self.track_running_stats:
            mean = self.group.identity(*self.channels, **where)
            var = torch.ones(self.channels, **where)
            count = torch.tensor(0, dtype=torch.long, device=where["device"])
        self.register_buffer("running_mean", mean)
        self.register_buffer("running_var", var)
        self.register_buffer("num_batches_tracked", count)

    @torch.no_grad()
    def reset_running_stats(self) -> None:
        """Forget all batches: the identity, variance one."""
        if self.running_mean is not None and self.running_var is not None:
            self.running_mean.copy_(self.group.identity().to(self.running_mean))
            self.running_var.fill_(1)
        if self.num_batches_tracked is not None:
            self.num_batches_tracked.zero_()

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Start anew: no running averages, scale one, bias the identity."""
        self.reset_running_stats()
        if self.scale is not None:
            self.scale.fill_(1)
        if self.bias_tangent is not None:
            self.bias_tangent.zero_()
        if self.bias_manifold is not None:
            self.bias_manifold.copy_(self.group.identity().to(self.bias_manifold))

    @property
    def rule(self) -> Rule:
        """How the mean is sought."""
        return RULES[self.statistics] if isinstance(self.statistics, str) else self.statistics

    @property
    def bias_point(self) -> Tensor:
        """B, points of the group, (*channels, *point)."""
        if self.bias_manifold is not None:
            return self.bias_manifold
        if self.bias_tangent is not None:
            return self.group.exp(self.bias_tangent)
        own = next((t for t in (self.scale, self.running_mean) if t is not None), torch.empty(0))
        return self.group.identity(*self.channels, dtype=own.dtype, device=own.device)

    def forward(self, x: Tensor, weights: Tensor | None = None) -> Tensor:
        """Normalize points, (batch, *channels, *extra, *point)."""
        return self._forward(x, weights, self._normalise)

    def _forward(self, x: Tensor, weights: Tensor | None, normalise: Any) -> Tensor:
        """Normalize, and write running averages once nothing can go wrong on any process.

        `normalise` maps points of the model, (N, *channels, *point), with their weights and the
        layout they came in, to such points and the updates to write.
        """
        try:
            y, updates = self._compute(x, weights, normalise)
        except OtherProcessError:
            raise
        except Exception:
            if self._sums_over_processes:
                ProcessTotal(self.process_group).agree(x.device, failed=True)
            raise
        if self._sums_over_processes:
            ProcessTotal(self.process_group).agree(x.device)
        for update in updates:
            update.apply()
        return y

    def _compute(
        self, x: Tensor, weights: Tensor | None, normalise: Any
    ) -> tuple[Tensor, list[Update]]:
        layout = Layout.of(x, self.channels, tuple(self.group.point_shape))
        dtype = self._computing_dtype(x)
        with torch.autocast(x.device.type, enabled=False), layout.naming_samples():
            samples = layout.gather(x).to(dtype)
            if weights is not None:
                weights = layout.flatten(weights, "weights").to(samples)
            samples = self._admit(samples, weights)
            if samples.shape[0] == 0 and not self._sums_over_processes:
                return x.clone(), []
            z, updates = normalise(self.group.to_model(samples), weights, layout)
            return layout.scatter(self.group.from_model(z)).to(x.dtype), updates

    def _computing_dtype(self, x: Tensor) -> torch.dtype:
        if not x.is_floating_point():
            raise ValueError(f"expected points of a floating dtype, got {x.dtype}")
        for own in (self.running_mean, self.scale, self.bias_tangent, self.bias_manifold):
            if own is not None:
                dtype = torch.promote_types(x.dtype, own.dtype)
                break
        else:
            dtype = x.dtype
        return torch.promote_types(dtype, torch.float32)

    @property
    def _uses_batch(self) -> bool:
        return self.training or self.running_mean is None

    @property
    def _sums_over_processes(self) -> bool:
        return self.synchronised and self.training

    def _admit(self, samples: Tensor, weights: Tensor | None) -> Tensor:
        samples = admit(self.group, samples, weights, strict=self._sums_over_processes)
        if self._uses_batch:
            counted = samples.new_ones(samples.shape[0]) if weights is None else weights
            if not bool(self._total(counted) > 0):
                raise ValueError(
                    "expected at least one sample in training, got an empty batch"
                    if samples.shape[0] == 0
                    else "expected a sample of positive weight, got none"
                )
        return samples

    def _normalise(
        self, y: Tensor, weights: Tensor | None, layout: Layout
    ) -> tuple[Tensor, list[Update]]:
        """All three steps, on points of the model."""
        if self._uses_batch:
            correction = self._correction(y, weights)
            centred = self._centre(y, weights)
            updates = []
            if self.training and self._running is not None:
                updates.append(self._advance(self._running, centred, correction))
            return self._scale_and_bias(centred), updates
        assert self._running is not None  # noqa: S101
        return self._normalise_with(self._running, y), []

    @property
    def _running(self) -> Running | None:
        if self.running_mean is None or self.running_var is None:
            return None
        return Running(self.running_mean, self.running_var)

    def _normalise_with(self, running: Running, y: Tensor) -> Tensor:
        mean = self.group.to_model(running.mean.to(y.dtype))
        ray = self._ray_from(mean, y)
        return self._scale_and_bias(Centred(mean, ray, running.var.to(y.dtype)))

    @property
    def _total(self) -> Total:
        return ProcessTotal(self.process_group) if self._sums_over_processes else LOCAL

    def _centre(self, y: Tensor, weights: Tensor | None) -> Centred:
        model, total = self.group.model, self._total
        if not self.mean_only:
            return model.centre(y, weights, rule=self.rule, total=total)
        mean = model._mean(y, Average(y, weights, total), self.rule)
        ray = self._ray_from(mean, y)
        return Centred(mean, ray, y.new_ones(self.channels))

    def _ray_from(self, mean: Tensor, y: Tensor) -> Ray:
        model = self.group.model
        centred = model.untranslate(mean, y)
        return Still(model, centred) if self.mean_only else model.ray(centred)

    def _correction(self, y: Tensor, weights: Tensor | None) -> float:
        """n / (n - correction) for the number n of samples, by weight, in all processes."""
        if not self.correction:
            return 1.0
        mass = float(Average(y, weights, self._total).mass)
        if mass <= 1:
            raise ValueError(f"correction=1 needs more than one sample, got {mass:g}")
        return mass / (mass - 1)

    @torch.no_grad()
    def _advance(self, running: Running, centred: Centred, correction: float) -> Update:
        assert self.num_batches_tracked is not None  # noqa: S101
        seen = int(self.num_batches_tracked)
        share = 1 / (seen + 1) if self.momentum is None else self.momentum
        unbiased = centred.variance * correction
        moved = running.moved(self.group, centred.mean, unbiased, share)
        return running.update(*moved, self.group, self.num_batches_tracked)

    def _scale_and_bias(self, centred: Centred) -> Tensor:
        t = self._factor(centred.variance)
        return centred.ray.at(t, self._bias_in_model(t))

    def _factor(self, variance: Tensor) -> Tensor:
        """s / √(v² + ε)."""
        t = (variance + self.eps).rsqrt()
        return t if self.scale is None else self.scale.to(t) * t

    def _bias_in_model(self, like: Tensor) -> Tensor | None:
        """B as points of the model, in the dtype of `like`; None for the identity."""
        if self.bias_manifold is not None:
            return self.group.to_model(self.bias_manifold.to(like))
        if self.bias_tangent is not None:
            return self.group.model.exp(self.bias_tangent.to(like))
        return None

    def extra_repr(self) -> str:  # noqa: D102
        options = {
            "channels": self.channels,
            "momentum": self.momentum,
            "eps": self.eps,
            "affine": self.affine,
            "track_running_stats": self.track_running_stats,
            "statistics": self.statistics,
        }
        unusual = {"mean_only": False, "correction": 0, "bias": "tangent", "synchronised": False}
        options |= {
            k: getattr(self, k) for k, usual in unusual.items() if getattr(self, k) != usual
        }
        return ", ".join(f"{name}={value!r}" for name, value in options.items())
