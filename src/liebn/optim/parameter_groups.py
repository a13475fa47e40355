"""Parameter groups: where weight decay makes sense, and where it does not."""

from __future__ import annotations

from typing import Any

from torch import nn


def parameter_groups(module: nn.Module, weight_decay: float) -> list[dict[str, Any]]:
    """Split the parameters of a module for an optimiser, with weight decay off on manifolds.

    Decay pulls towards zero. No point of a manifold lies there, and for a point given by
    coordinates zero is an arbitrary place: where it was initialised, or the identity. So decay is
    off for

    - geoopt's manifold parameters,
    - the coordinates behind a parametrization such as torch's `orthogonal`,
    - the biases of normalization layers, given as tangent vectors.

    Args:
        module: the network.
        weight_decay: for all other parameters.

    Returns:
        Groups for the constructor of any torch or geoopt optimiser; an empty group is left out.
    """
    decayed: list[nn.Parameter] = []
    free: list[nn.Parameter] = []
    for name, parameter in module.named_parameters():
        on_manifold = hasattr(parameter, "manifold") or "parametrizations" in name.split(".")
        (free if on_manifold or name.endswith("bias_tangent") else decayed).append(parameter)
    groups = [
        {"params": decayed, "weight_decay": weight_decay},
        {"params": free, "weight_decay": 0.0},
    ]
    return [group for group in groups if group["params"]]
