"""From a protocol to configurations: everything that determines the numbers of one run."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from liebn.datasets import Dataset
from liebn.estimators.trainer import OPTIMIZERS
from liebn.experiments.errors import ExperimentError
from liebn.experiments.networks import NETWORKS, network_options, training_options
from liebn.experiments.norms import DOMAIN_SPECIFIC, Domains, build_norm, norm_options
from liebn.experiments.protocol import QUICK, Method, Protocol
from liebn.experiments.values import at_least, canonical, require_known, require_one_of
from liebn.version import __version__

Configuration = dict[str, Any]

KEY_LENGTH = 20
NAMES = ("experiment", "method")


def quick(protocol: Protocol) -> Protocol:
    """The protocol with what its quick look replaces."""
    own = {name: value for name, value in protocol.quick.items() if name in QUICK}
    training = {name: value for name, value in protocol.quick.items() if name not in QUICK}
    if "dataset_options" in own:
        own["dataset_options"] = {**protocol.dataset_options, **own["dataset_options"]}
    return replace(protocol, **own, training={**protocol.training, **training})


def key_of(configuration: Mapping[str, Any]) -> str:
    """The name of a run's record, from all that determines its numbers, and so not from its names.

    A run that stands in two tables, or under two names, has one key.
    """
    numbers = {name: value for name, value in configuration.items() if name not in NAMES}
    content = canonical({"configuration": numbers, "code": __version__})
    return hashlib.sha256(content.encode()).hexdigest()[:KEY_LENGTH]


def configurations(
    protocol: Protocol, data: Dataset, seeds: Iterable[int]
) -> Iterator[Configuration]:
    """All runs of a protocol, seed by seed, so that a part of them is balanced over the methods."""
    require_one_of(protocol.protocol, data.protocols, f"{protocol.name}, protocol")
    common = [_of_method(protocol, method, data) for method in protocol.methods]
    _require_different(common)
    for seed in seeds:
        splits = data.splits(protocol.protocol, seed)
        for split in islice(splits, protocol.splits or None):
            for values in common:
                yield values | {"split": split.name, "seed": seed}


def _require_different(common: Sequence[Configuration]) -> None:
    """Refuse two rows that are one run: there is one record of it."""
    names: dict[str, str] = {}
    for values in common:
        first = names.setdefault(key_of(values), values["method"])
        if first != values["method"]:
            raise ExperimentError(
                f"{values['experiment']}: expected methods that differ, got the same under the "
                f"names {first!r} and {values['method']!r}; leave one out"
            )


def _of_method(protocol: Protocol, method: Method, data: Dataset) -> Configuration:
    """What all runs of a method share."""
    where = f"{protocol.name}, method {method.name}"
    given = dict(protocol.network)
    name = given.pop("name", None)
    require_one_of(name, NETWORKS, f"{protocol.name}, network name")
    if data.space != NETWORKS[name].space:
        raise ExperimentError(
            f"{where}: {name} is for data of the kind {NETWORKS[name].space}, "
            f"and {data.name} is of the kind {data.space} with these options"
        )
    network = network_options(name, {**given, **method.network}, where)
    training = training_options(name, {**protocol.training, **method.training}, where)
    require_known(protocol.quick, [*QUICK, *training], f"{protocol.name}, quick")
    require_one_of(training["optimizer"], OPTIMIZERS, f"{where}, optimizer")
    for least, option in ((1, "max_epochs"), (1, "batch_size"), (0, "lr"), (0, "weight_decay")):
        at_least(training[option], least, f"{where}, {option}")
    options = norm_options(method.norm, method.norm_options, name, training["max_epochs"], where)
    norm = {"kind": method.norm, **options}
    _check_norm(norm, name, network, where)
    return {
        "experiment": protocol.name,
        "dataset": protocol.dataset,
        "dataset_options": dict(protocol.dataset_options),
        "protocol": protocol.protocol,
        "network": name,
        "network_options": network,
        "method": method.name,
        "norm": norm,
        **training,
        "score": protocol.score,
        "refit": _refit(method, where),
    }


def _refit(method: Method, where: str) -> bool | None:
    if method.norm in DOMAIN_SPECIFIC:
        return True if method.refit is None else method.refit
    if method.refit is not None:
        raise ExperimentError(
            f"{where}: refit is for the norms {' and '.join(DOMAIN_SPECIFIC)}, not {method.norm}"
        )
    return None


def _check_norm(norm: Mapping[str, Any], network: str, options: Configuration, where: str) -> None:
    """Build the layers once, so that a wrong value is told before anything is trained."""
    recipe = build_norm(norm, network, Domains())
    sizes = {"spdnet": options.get("sizes", ())[1:], "tsmnet": [options.get("subspace")]}
    try:
        for size in sizes.get(network, [1]):
            if recipe is not None:
                recipe(size)
    except ValueError as error:
        raise ExperimentError(f"{where}: {error}") from None
