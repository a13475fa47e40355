"""TSMNet (Kobler et al., 2022), with the normalization layer before the logarithm."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from liebn.models.network import Network
from liebn.models.norms import Norm
from liebn.nn import DomainLieBatchNorm
from liebn.nn.spd import BiMap, CovariancePool, LogEig, ReEig

REFIT_CHUNK = 128
"""How many signals `refit` takes through the convolutions at a time."""


class TSMNet(Network):
    """Classifies multichannel signals (channels, time), such as epochs of EEG.

    Temporal convolution → spatial convolution → covariance → BiMap → ReEig → norm → LogEig →
    Linear. From the covariance on everything is computed in float64.

    Args:
        channels: of the signal; 30 was published for Hinss2021.
        classes: how many there are.
        norm: makes the normalization layer for matrices of a given size; None for no normalization.
            A `DomainLieBatchNorm` gets the domain of each sample.
        temporal_filters: of the first convolution.
        temporal_kernel: its length in time; the ends of the signal are reflected.
        spatial_filters: of the second convolution, over all channels: the size of the covariances.
        subspace: the size of the matrices after BiMap.
        threshold: of ReEig.
        weight: "manifold" trains the BiMap with geoopt's optimisers, "parametrized" with any other.
        device: of all parameters.
        dtype: of the convolutions.
    """

    def __init__(
        self,
        channels: int,
        classes: int,
        norm: Norm | None = None,
        *,
        temporal_filters: int = 4,
        temporal_kernel: int = 25,
        spatial_filters: int = 40,
        subspace: int = 20,
        threshold: float = 1e-4,
        weight: str = "manifold",
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(
            {
                "channels": channels,
                "classes": classes,
                "norm": norm,
                "temporal_filters": temporal_filters,
                "temporal_kernel": temporal_kernel,
                "spatial_filters": spatial_filters,
                "subspace": subspace,
                "threshold": threshold,
                "weight": weight,
                "dtype": dtype,
            }
        )
        double = torch.float64
        self.convolutions = nn.Sequential(
            nn.Conv2d(
                1,
                temporal_filters,
                (1, temporal_kernel),
                padding="same",
                padding_mode="reflect",
                device=device,
                dtype=dtype,
            ),
            nn.Conv2d(temporal_filters, spatial_filters, (channels, 1), device=device, dtype=dtype),
            nn.Flatten(start_dim=2),
        )
        self.matrices = nn.Sequential(
            CovariancePool(),
            BiMap(spatial_filters, subspace, weight=weight, device=device, dtype=double),
            ReEig(threshold),
        )
        self.norm = None if norm is None else norm(subspace).to(device=device, dtype=double)
        self.log = LogEig()
        features = self.log.features(subspace)
        self.classifier = nn.Linear(features, classes, device=device, dtype=double)

    def forward(
        self,
        x: Float[Tensor, "batch channels time"],
        domains: Int[Tensor, "batch"] | None = None,
    ) -> Float[Tensor, "batch classes"]:
        """Class scores; the domains are for a domain-specific norm, and ignored without one."""
        scores: Tensor = self.classifier(self.log(self._normalize(self.features(x), domains)))
        return scores

    def features(self, x: Float[Tensor, "batch channels time"]) -> Float[Tensor, "batch n n"]:
        """The positive definite matrices that are normalized."""
        signals: Tensor = self.convolutions(x.unsqueeze(1))
        matrices: Tensor = self.matrices(signals.double())
        return matrices

    def _normalize(self, matrices: Tensor, domains: Tensor | None) -> Tensor:
        if self.norm is None:
            return matrices
        if not isinstance(self.norm, DomainLieBatchNorm):
            normalized: Tensor = self.norm(matrices)
            return normalized
        if domains is None:
            raise ValueError(
                "expected the domain of each sample, since the norm is domain-specific, got none; "
                "call network(x, domains)"
            )
        adapted: Tensor = self.norm(matrices, domains)
        return adapted

    @torch.no_grad()
    def refit(
        self, x: Float[Tensor, "samples channels time"], domains: Int[Tensor, "samples"]
    ) -> None:
        """Recompute the statistics of domains, new ones included, from their unlabelled signals."""
        if not isinstance(self.norm, DomainLieBatchNorm):
            raise TypeError(
                f"expected a network with a DomainLieBatchNorm to refit, got {self.norm}; "
                "build it with norm=models.DomainNorm(...)"
            )
        known = set(self.norm.domain_names.tolist())
        for domain in sorted(set(domains.tolist()) - known):
            self.norm.add_domain(domain)
        matrices = torch.cat([self.features(part) for part in x.split(REFIT_CHUNK)])
        self.norm.refit(matrices, domains)
