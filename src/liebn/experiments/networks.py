"""The networks that a protocol can name, as estimators."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from liebn.estimators import LieNetClassifier, SPDNetClassifier, TSMNetClassifier
from liebn.estimators.network_classifier import NetworkClassifier
from liebn.experiments.errors import ExperimentError
from liebn.experiments.values import at_least, of_kind, require_known
from liebn.models import Norm

Options = dict[str, Any]

TRAINING = ("optimizer", "lr", "weight_decay", "max_epochs", "batch_size")


@dataclass(frozen=True)
class Network:
    """A network.

    Attributes:
        estimator: its class.
        space: what it takes, in the words of `datasets.Dataset`.
        options: the names of the estimator's arguments that are the network's own.
    """

    estimator: type[NetworkClassifier]
    space: str
    options: tuple[str, ...]

    def defaults(self, names: Sequence[str]) -> Options:
        """The estimator's defaults."""
        parameters = inspect.signature(self.estimator).parameters
        return {name: parameters[name].default for name in names}


NETWORKS = {
    "spdnet": Network(SPDNetClassifier, "spd", ("sizes",)),
    "tsmnet": Network(
        TSMNetClassifier,
        "signal",
        (
            "temporal_filters",
            "temporal_kernel",
            "spatial_filters",
            "subspace",
            "domains_per_batch",
        ),
    ),
    "lienet": Network(LieNetClassifier, "rotation", ("blocks", "pooling")),
}


def network_options(name: str, given: Mapping[str, Any], where: str) -> Options:
    """All options of a network, with the defaults."""
    network = NETWORKS[name]
    require_known(given, network.options, f"{where}, network {name}")
    defaults = network.defaults(network.options)
    if defaults.get("sizes", ()) is None:
        if "sizes" not in given:
            raise ExperimentError(f"{where}: {name} needs its sizes, such as sizes = [63, 33]")
        defaults["sizes"] = []
    options = {
        option: of_kind(given.get(option, value), type(value), f"{where}, {option}")
        for option, value in defaults.items()
    }
    for option, value in options.items():  # sizes and counts, all of them
        at_least(min(value) if isinstance(value, list) else value, 1, f"{where}, {option}")
    return options


def training_options(name: str, given: Mapping[str, Any], where: str) -> Options:
    """How a network is trained, with the defaults."""
    require_known(given, TRAINING, f"{where}, training")
    return {
        option: of_kind(given.get(option, value), type(value), f"{where}, {option}")
        for option, value in NETWORKS[name].defaults(TRAINING).items()
    }


def build_estimator(
    configuration: Mapping[str, Any], norm: Norm | None, callbacks: Sequence[Any]
) -> NetworkClassifier:
    """The estimator of a configuration."""
    options = dict(configuration["network_options"])
    if configuration["refit"] is not None:
        options["unseen"] = "adapt" if configuration["refit"] else "neutral"
    return NETWORKS[configuration["network"]].estimator(
        norm=norm,
        callbacks=list(callbacks),
        random_state=configuration["seed"],
        **{name: configuration[name] for name in TRAINING},
        **options,
    )
