"""SPDNet (Huang and Van Gool, 2017), with a normalization layer after each BiMap."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor, nn

from liebn.models.network import Network
from liebn.models.norms import Norm
from liebn.nn.spd import BiMap, LogEig, ReEig


class SPDNet(Network):
    """Classifies n × n positive definite matrices.

    (BiMap → norm → ReEig)* → BiMap → norm → LogEig → Linear, with no ReEig after the last norm.

    Args:
        sizes: of the matrices at the input and after each BiMap; 20, 16, 8 was published for Radar,
            93, 30 for HDM05, 63, 33 for FPHA.
        classes: how many there are.
        norm: makes the normalization layer for matrices of a given size; None for no normalization.
        threshold: of ReEig.
        weight: "manifold" trains the BiMaps with geoopt's optimisers, "parametrized" with any
            other.
        device: of all parameters.
        dtype: of all parameters; the published experiments used float64.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        classes: int,
        norm: Norm | None = None,
        *,
        threshold: float = 1e-4,
        weight: str = "manifold",
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(
            {
                "sizes": list(sizes),
                "classes": classes,
                "norm": norm,
                "threshold": threshold,
                "weight": weight,
                "dtype": dtype,
            }
        )
        if len(sizes) < 2:
            raise ValueError(
                f"expected the sizes before and after at least one BiMap, got {list(sizes)}"
            )
        layers: list[nn.Module] = []
        for d_in, d_out in pairwise(sizes):
            if layers:
                layers.append(ReEig(threshold))
            layers.append(BiMap(d_in, d_out, weight=weight, device=device, dtype=dtype))
            if norm is not None:
                layers.append(norm(d_out).to(device=device, dtype=dtype))
        self.layers = nn.Sequential(*layers)
        self.log = LogEig(flat=True)
        self.classifier = nn.Linear(
            self.log.features(sizes[-1]), classes, device=device, dtype=dtype
        )

    def forward(self, x: Float[Tensor, "batch n n"]) -> Float[Tensor, "batch classes"]:
        """Class scores."""
        scores: Tensor = self.classifier(self.log(self.layers(x)))
        return scores
