"""From the normalization layers of spd_learn to those of this library."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from liebn.groups import Rule, spd
from liebn.nn.baselines import SPDBN, SPDNetBN
from liebn.nn.lie_batch_norm import LieBatchNorm

METRICS = {
    ("AIM", "cholesky"): "aim",
    ("AIM", "eig"): "gyro-aim",
    ("LEM", "cholesky"): "lem",
    ("LEM", "eig"): "lem",
    ("LCM", "cholesky"): "lcm",
    ("LCM", "eig"): "lcm",
}
"""The metric and the congruence of an `SPDBatchNormLie` -> our name of the space."""


def convert(model: nn.Module, *, statistics: str | Rule | None = None) -> nn.Module:
    """Replace the SPD batch normalizations of an spd_learn model by those of this library.

    `SPDBatchNormMean` becomes `SPDNetBN`, `SPDBatchNormMeanVar` becomes `SPDBN`, and
    `SPDBatchNormLie` a `LieBatchNorm`, with bias, scale, running averages, dtype, device,
    `requires_grad` and mode carried over, so that evaluation gives the same output. An optimiser
    must be made anew. Training goes on alike but for this: the scale s is learnt itself, not its
    logarithm; a layer that has run on (batch, channels, n, n) has a bias, a scale and a variance
    for every channel; and no gradient flows through the variance of an `SPDBatchNormMeanVar` unless
    `statistics` is "exact".

    Args:
        model: changed in place; nothing is changed where an error is raised.
        statistics: how batch means are found, as in `LieBatchNorm`; None for as many Karcher steps
            as each layer takes.

    Returns:
        The model, or the new layer where the model is itself one to replace.

    Raises:
        ValueError: naming the submodule that cannot be carried over, and why.
    """
    replacements: dict[nn.Module, nn.Module] = {}
    for name, layer in model.named_modules():
        found = _replacement(layer)
        if found is None:
            continue
        try:
            replacements[layer] = _carry_over(layer, found, statistics)
        except ValueError as error:
            where = f"submodule {name!r}" if name else "the module"
            raise ValueError(f"{where}, a {_own_type(layer).__name__}: {error}") from None
    for module in model.modules():
        for name, child in module._modules.items():
            if child in replacements:
                module._modules[name] = replacements[child]
    return replacements.get(model, model)


Build = Callable[[Any, dict[str, Any]], LieBatchNorm]


def _mean(layer: Any, options: dict[str, Any]) -> LieBatchNorm:
    return SPDNetBN(layer.num_features, **options)


def _mean_and_variance(layer: Any, options: dict[str, Any]) -> LieBatchNorm:
    return SPDBN(layer.num_features, eps=layer.eps, affine=layer.affine, **options)


def _lie(layer: Any, options: dict[str, Any]) -> LieBatchNorm:
    metric = METRICS[layer.metric, layer.congruence]
    space = spd(layer.num_features, metric, layer.theta, layer.alpha, layer.beta)
    return LieBatchNorm(space, eps=layer.eps, **options)


BUILDERS: dict[str, tuple[Build, str | None]] = {
    "SPDBatchNormMean": (_mean, None),
    "SPDBatchNormMeanVar": (_mean_and_variance, "weight"),
    "SPDBatchNormLie": (_lie, "shift"),
}
"""Their name -> how to build ours, and their name for the scale."""


def _own_type(layer: nn.Module) -> type[nn.Module]:
    """The class of a layer, as written; torch makes another for one with parametrizations."""
    own = type(layer)
    return own.__bases__[0] if parametrize.is_parametrized(layer) else own


def _replacement(layer: nn.Module) -> tuple[Build, str | None] | None:
    """What to build for a layer, by the name of its class: spd_learn need not be there."""
    for ancestor in type(layer).__mro__:
        if ancestor.__module__.split(".")[0] == "spd_learn" and ancestor.__name__ in BUILDERS:
            return BUILDERS[ancestor.__name__]
    return None


@torch.no_grad()
def _carry_over(
    layer: Any, replacement: tuple[Build, str | None], statistics: str | Rule | None
) -> LieBatchNorm:
    build, scale_name = replacement
    if _own_type(layer).__module__.split(".")[0] != "spd_learn":
        raise ValueError("a subclass may compute something else, so it is not replaced")
    # The running mean takes on a dimension for channels with the first batch that has one.
    channels = tuple(layer.running_mean.shape[1:-2])
    if statistics is None:
        published = layer.n_iter == 1
        statistics = "reference" if published else _karcher_steps(layer.n_iter)
    options = {
        "channels": channels,
        "momentum": layer.momentum,
        "statistics": statistics,
        "device": layer.running_mean.device,
        "dtype": layer.running_mean.dtype,
    }
    ours = build(layer, options)
    # Exactly, from whatever they keep: logarithms of the bias and the scale, and for LEM, LCM and
    # powers a mean in the image of the deformation.
    source = copy.deepcopy(layer).to("cpu", torch.float64)
    whitening = scale_name != "shift"
    mean = source.running_mean.squeeze(0)
    _fill(ours.running_mean, mean if whitening else ours.group.from_model(mean))
    if scale_name is not None:
        variance = source.running_var
        single = variance.numel() == 1
        _fill(ours.running_var, variance.reshape(() if single else channels))
    if ours.bias_tangent is not None:
        _fill(ours.bias_tangent, ours.group.log(source.bias.squeeze(0)))
        ours.bias_tangent.requires_grad_(_is_learnt(layer, "bias"))
    if ours.scale is not None and scale_name is not None:
        _fill(ours.scale, getattr(source, scale_name))
        ours.scale.requires_grad_(_is_learnt(layer, scale_name))
    ours.train(layer.training)
    return ours


def _karcher_steps(count: int) -> Rule:
    return Rule(start="average", step="karcher", most_steps=count, detach=True)


def _fill(target: Tensor | None, values: Tensor) -> None:
    """Copy values, the same for all channels if they have none."""
    if not bool(torch.isfinite(values).all()):
        raise ValueError("it has parameters or running averages that are not finite")
    assert target is not None  # noqa: S101
    target.copy_(values)


def _is_learnt(layer: nn.Module, name: str) -> bool:
    parameters = layer.named_parameters(recurse=True)
    return any(p.requires_grad for key, p in parameters if name in key.split("."))
