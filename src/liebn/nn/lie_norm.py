"""What all normalization layers share: parameters, precision, and the way in and out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn

from liebn.groups import Centred, Gyrogroup, Ray, Rule, Total
from liebn.groups.mean import LOCAL, RULES, Average
from liebn.nn.samples import Layout, admit
from liebn.nn.statistics import Update


def _without_autocast(device: str) -> AbstractContextManager[Any]:
    """A block in which operations keep the dtype of their arguments."""
    if not torch.is_autocast_enabled(device):
        return nullcontext()
    return torch.autocast(device, enabled=False)


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


class LieNorm(nn.Module, ABC):
    """x ↦ B ⊕ exp( s / √(v² + ε) · log(⊖M ⊕ x) ) with the mean M and variance v² of some samples.

    A layer says, by the `Layout` of its input, which samples share statistics.

    Args:
        group: the space.
        shape: that of the scale, and of the bias before the dimensions of a point.
        eps: ε.
        affine: learn the scale s and the bias B.
        statistics: "exact", "fast", "reference" or a `groups.Rule`, as in `LieBatchNorm`.
        mean_only: translate and do not scale.
        bias: "tangent" or "manifold", as in `LieBatchNorm`.
        device: of parameters.
        dtype: of parameters.
    """

    scale: nn.Parameter | None
    bias_tangent: nn.Parameter | None
    bias_manifold: nn.Parameter | None

    def __init__(
        self,
        group: Gyrogroup,
        shape: int | tuple[int, ...],
        *,
        eps: float,
        affine: bool,
        statistics: str | Rule,
        mean_only: bool,
        bias: str,
        device: torch.device | str | None,
        dtype: torch.dtype | None,
    ) -> None:
        super().__init__()
        self.group = group
        self._shape = (shape,) if isinstance(shape, int) else tuple(shape)
        self.eps = eps
        self.affine = affine
        self.statistics = statistics
        self.mean_only = mean_only
        self.bias = bias
        self._require_known_options()
        self._register_parameters({"device": device, "dtype": dtype})

    @abstractmethod
    def _layout(self, x: Tensor) -> Layout:
        """Which dimensions of the input hold the samples of one mean, and which the parameters."""

    def _require_known_options(self) -> None:
        if isinstance(self.statistics, str) and self.statistics not in RULES:
            raise ValueError(
                f"expected statistics to be a Rule or one of {', '.join(RULES)}, "
                f"got {self.statistics!r}"
            )
        if self.bias not in {"tangent", "manifold"}:
            raise ValueError(f"expected bias to be 'tangent' or 'manifold', got {self.bias!r}")
        if self.eps < 0:
            raise ValueError(f"expected eps ≥ 0, got {self.eps}")

    def _register_parameters(self, where: dict[str, Any]) -> None:
        scale = tangent = point = None
        if self.affine and not self.mean_only:
            scale = nn.Parameter(torch.ones(self._shape, **where))
        if self.affine and self.bias == "tangent":
            shape = (*self._shape, *self.group.model.point_shape)
            tangent = nn.Parameter(torch.zeros(shape, **where))
        if self.affine and self.bias == "manifold":
            manifold = self.group.manifold()
            if manifold is None:
                raise ValueError(
                    f"{self.group} has no manifold in geoopt to keep a bias on: use bias='tangent'"
                )
            import geoopt

            identity = self.group.identity(*self._shape, **where)
            point = geoopt.ManifoldParameter(identity, manifold=manifold)
        self.register_parameter("scale", scale)
        self.register_parameter("bias_tangent", tangent)
        self.register_parameter("bias_manifold", point)

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Start anew: scale one, bias the identity, and no running averages where there are any."""
        if self.scale is not None:
            self.scale.fill_(1)
        if self.bias_tangent is not None:
            self.bias_tangent.zero_()
        if self.bias_manifold is not None:
            own = self.bias_manifold
            own.copy_(self.group.identity(dtype=own.dtype, device=own.device))

    @property
    def rule(self) -> Rule:
        """How the mean is sought."""
        return RULES[self.statistics] if isinstance(self.statistics, str) else self.statistics

    @property
    def bias_point(self) -> Tensor:
        """B, points of the group, as many as the layer has scales."""
        if self.bias_manifold is not None:
            return self.bias_manifold
        if self.bias_tangent is not None:
            return self.group.exp(self.bias_tangent)
        own = next(self._own_tensors(), torch.empty(0))
        return self.group.identity(*self._shape, dtype=own.dtype, device=own.device)

    def _own_tensors(self) -> Any:
        """Parameters, then buffers, of a floating dtype: they say the dtype of the layer."""
        tensors = (*self._parameters.values(), *self._buffers.values())
        return (t for t in tensors if t is not None and t.is_floating_point())

    def forward(self, x: Tensor, weights: Tensor | None = None) -> Tensor:
        """Normalize points."""
        return self._forward(x, weights, self._normalise)

    def _forward(self, x: Tensor, weights: Tensor | None, normalise: Any) -> Tensor:
        """Normalize, and write running averages once nothing can go wrong.

        `normalise` maps points of the model, (samples, *apart, *point), with their weights and the
        layout they came in, to such points and the updates to write.
        """
        y, updates = self._compute(x, weights, normalise)
        for update in updates:
            update.apply()
        return y

    def _compute(
        self, x: Tensor, weights: Tensor | None, normalise: Any
    ) -> tuple[Tensor, list[Update]]:
        layout = self._layout(x)
        dtype = self._computing_dtype(x)
        with _without_autocast(x.device.type), layout.naming_samples():
            samples = layout.gather(x).to(dtype)
            if weights is not None:
                weights = layout.flatten(weights, "weights").to(samples)
            samples = self._admit(samples, weights)
            if samples.numel() == 0 and self._total is LOCAL:
                return x.clone(), []
            z, updates = normalise(self.group.to_model(samples), weights, layout)
            return layout.scatter(self.group.from_model(z)).to(x.dtype), updates

    def _computing_dtype(self, x: Tensor) -> torch.dtype:
        if not x.is_floating_point():
            raise ValueError(f"expected points of a floating dtype, got {x.dtype}")
        own = next(self._own_tensors(), x)
        return torch.promote_types(torch.promote_types(x.dtype, own.dtype), torch.float32)

    @property
    def _total(self) -> Total:
        return LOCAL

    @property
    def _uses_batch(self) -> bool:
        """Whether the statistics are those of the input."""
        return True

    def _admit(self, samples: Tensor, weights: Tensor | None) -> Tensor:
        samples = admit(self.group, samples, weights, strict=self._total is not LOCAL)
        if self._uses_batch:
            if weights is None and self._total is LOCAL:
                present = samples.shape[0] > 0
            else:
                counted = samples.new_ones(samples.shape[0]) if weights is None else weights
                present = bool((self._total(counted) > 0).all())
            if not present:
                raise ValueError(
                    "expected at least one sample, got an empty batch"
                    if samples.shape[0] == 0
                    else "expected a sample of positive weight for every mean, got none"
                )
        return samples

    def _normalise(
        self, y: Tensor, weights: Tensor | None, layout: Layout
    ) -> tuple[Tensor, list[Update]]:
        """All three steps, on points of the model, with the statistics of the input."""
        centred = self._centre(y, weights)
        bias = self._bias_in_model(y)
        if bias is not None:
            bias = layout.spread(bias, tuple(self.group.model.point_shape))
        scale = None if self.scale is None else layout.spread(self.scale)
        return self._place(centred, scale, bias), []

    def _centre(self, y: Tensor, weights: Tensor | None) -> Centred:
        model, total = self.group.model, self._total
        if not self.mean_only:
            return model.centre(y, weights, rule=self.rule, total=total)
        mean = model._mean(y, Average(y, weights, total), self.rule)
        ray = self._ray_from(mean, y)
        return Centred(mean, ray, y.new_ones(y.shape[1 : y.dim() - len(model.point_shape)]))

    def _ray_from(self, mean: Tensor, y: Tensor) -> Ray:
        model = self.group.model
        centred = model.untranslate(mean, y)
        return Still(model, centred) if self.mean_only else model.ray(centred)

    def _scale_and_bias(self, centred: Centred) -> Tensor:
        """The last two steps, where no parameter differs between samples of one mean."""
        return self._place(centred, self.scale, self._bias_in_model(centred.variance))

    def _place(self, centred: Centred, scale: Tensor | None, bias: Tensor | None) -> Tensor:
        """B ⊕ exp(s / √(v² + ε) log x), for points of the model."""
        return centred.ray.at(self._factor(centred.variance, scale), bias)

    def _factor(self, variance: Tensor, scale: Tensor | None) -> Tensor:
        """s / √(v² + ε)."""
        t = (variance + self.eps).rsqrt()
        return t if scale is None else scale.to(t) * t

    def _bias_in_model(self, like: Tensor) -> Tensor | None:
        """B as points of the model, in the dtype of `like`; None for the identity."""
        if self.bias_manifold is not None:
            return self.group.to_model(self.bias_manifold.to(like))
        if self.bias_tangent is not None:
            return self.group.model.exp(self.bias_tangent.to(like))
        return None

    def _describe(self, options: dict[str, Any], unusual: dict[str, Any]) -> str:
        """Options as text: those that are always told, and others where they are not as usual."""
        unusual = {"mean_only": False, "bias": "tangent", **unusual}
        options |= {
            k: getattr(self, k) for k, usual in unusual.items() if getattr(self, k) != usual
        }
        return ", ".join(f"{name}={value!r}" for name, value in options.items())
