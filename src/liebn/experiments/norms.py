"""The normalization layers that a protocol can name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from liebn.experiments.errors import ExperimentError
from liebn.experiments.values import of_kind, require_known
from liebn.models.norms import DomainNorm, Norm, RotationNorm, SPDNorm

Options = dict[str, Any]


@dataclass(frozen=True)
class Domains:
    """What a domain-specific layer is told about the training data.

    Attributes:
        count: of domains.
        in_batch: how many are in a batch.
    """

    count: int = 1
    in_batch: int = 1


@dataclass(frozen=True)
class Kind:
    """A kind of layer.

    Attributes:
        help: what it is.
        defaults: its options.
        build: makes the recipe.
    """

    help: str
    defaults: Options
    build: Callable[[Options, Domains], Norm | None]


LAYER = {"statistics": "exact", "momentum": 0.1, "bias": "manifold"}
"""The bias as published. In the tangent space Adam takes a step in every coordinate at once."""
PUBLISHED_LAYER = LAYER | {"statistics": "reference"}
METRIC = {"metric": "aim", "theta": 1.0, "alpha": 1.0, "beta": 0.0}
# 0 stands for four fifths of the epochs: 40 of 50 were published.
DOMAIN_LAYER = {"statistics": "exact", "gamma": 0.1, "momentum_epochs": 0}
PUBLISHED_DOMAIN_LAYER = DOMAIN_LAYER | {"statistics": "reference"}
MOMENTUM_SHARE = 0.8
FEWEST_MOMENTUM_EPOCHS = 2


def _domain_norm(options: Options, domains: Domains) -> Norm:
    own = dict(options)
    schedule = (own.pop("momentum_epochs"), 1 / domains.in_batch)
    return DomainNorm(domains.count, schedule=schedule, **own)


NONE = Kind("no normalization", {}, lambda options, domains: None)
OF_COVARIANCES = {
    "none": NONE,
    "lie": Kind("LieBN", METRIC | LAYER, lambda options, domains: SPDNorm(**options)),
    "spdnetbn": Kind(
        "SPDNetBN (Brooks et al., 2019): the mean only, under AIM",
        PUBLISHED_LAYER,
        lambda options, domains: SPDNorm("gyro-aim", mean_only=True, **options),
    ),
    "spdbn": Kind(
        "SPDBN (Kobler et al., 2022): mean and variance, under AIM",
        PUBLISHED_LAYER,
        lambda options, domains: SPDNorm("gyro-aim", **options),
    ),
}
KINDS: dict[str, dict[str, Kind]] = {
    "spdnet": OF_COVARIANCES,
    "tsmnet": OF_COVARIANCES
    | {
        "domain-lie": Kind("DSMLieBN, domain-specific LieBN", METRIC | DOMAIN_LAYER, _domain_norm),
        "spddsmbn": Kind(
            "SPDDSMBN (Kobler et al., 2022): domain-specific SPDBN",
            PUBLISHED_DOMAIN_LAYER,
            lambda options, domains: _domain_norm({"metric": "gyro-aim"} | options, domains),
        ),
    },
    "lienet": {
        "none": NONE,
        "lie": Kind("LieBN on rotations", LAYER, lambda options, domains: RotationNorm(**options)),
    },
}
"""By network and name."""

DOMAIN_SPECIFIC = ("domain-lie", "spddsmbn")


def norm_options(
    kind: str, given: Mapping[str, Any], network: str, epochs: int, where: str
) -> Options:
    """All options of a layer, with the defaults."""
    kinds = KINDS[network]
    if kind not in kinds:
        raise ExperimentError(
            f"{where}: expected a norm of {network}, one of {', '.join(kinds)}, got {kind!r}"
        )
    defaults = kinds[kind].defaults
    require_known(given, defaults, f"{where}, norm {kind}")
    options = {
        name: of_kind(given.get(name, value), type(value), f"{where}, {name}")
        for name, value in defaults.items()
    }
    if options.get("momentum_epochs") == 0:
        options["momentum_epochs"] = max(FEWEST_MOMENTUM_EPOCHS, round(MOMENTUM_SHARE * epochs))
    return options


def build_norm(norm: Mapping[str, Any], network: str, domains: Domains) -> Norm | None:
    """The recipe of a layer from its part of a configuration."""
    options = dict(norm)
    return KINDS[network][options.pop("kind")].build(options, domains)
