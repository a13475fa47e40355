"""LieNet (Huang et al., 2017), with a normalization layer before the logarithm."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from liebn.models.network import Network
from liebn.models.norms import Norm
from liebn.nn.rotation import LogMap, Rectifier, RotMap, RotPooling

PAIR = 2
"""How many locations the first block pools: in skeletons, both relative rotations of two bones."""


class LieNet(Network):
    """Classifies sequences of rotations (locations, time, 3, 3).

    (RotMap → pooling)* → norm → LogMap → rectifier → Linear. The first block pools neighbouring
    locations by 2, all others pool time, so that with three blocks 342 × 100 rotations become
    171 × 7.

    Args:
        locations: how many rotations there are at a time; 342 was published for G3D.
        frames: the length of a sequence; 100 was published.
        classes: how many there are.
        blocks: how many, at least 1; the published networks have 1, 2 or 3.
        norm: makes the normalization layer for a given number of locations, for input
            (batch, locations, time, 3, 3); None for no normalization.
        pooling: over how many frames to pool.
        threshold: of the rectifier.
        weight: "manifold" trains the RotMaps with geoopt's optimisers, "parametrized" with any
            other.
        device: of all parameters.
        dtype: of all parameters.
    """

    def __init__(
        self,
        locations: int,
        frames: int,
        classes: int,
        norm: Norm | None = None,
        *,
        blocks: int = 3,
        pooling: int = 4,
        threshold: float = 0.3,
        weight: str = "manifold",
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(
            {
                "locations": locations,
                "frames": frames,
                "classes": classes,
                "norm": norm,
                "blocks": blocks,
                "pooling": pooling,
                "threshold": threshold,
                "weight": weight,
                "dtype": dtype,
            }
        )
        if blocks < 1:
            raise ValueError(f"expected at least one block, got {blocks}")
        layers: list[nn.Module] = []
        for block in range(blocks):
            layers.append(RotMap(locations, weight=weight, device=device, dtype=dtype))
            if block == 0:
                layers.append(RotPooling(PAIR, along="space"))
                locations = -(-locations // PAIR)
            else:
                layers.append(RotPooling(pooling, along="time"))
                frames = -(-frames // pooling)
        if norm is not None:
            layers.append(norm(locations).to(device=device, dtype=dtype))
        self.layers = nn.Sequential(*layers)
        self.log = nn.Sequential(LogMap(), Rectifier(threshold), nn.Flatten())
        self.classifier = nn.Linear(4 * locations * frames, classes, device=device, dtype=dtype)

    def forward(
        self, x: Float[Tensor, "batch locations time 3 3"]
    ) -> Float[Tensor, "batch classes"]:
        """Class scores."""
        scores: Tensor = self.classifier(self.log(self.layers(x)))
        return scores
