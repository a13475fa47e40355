"""The protocol of one configuration, from the options of `liebn run`."""

from __future__ import annotations

import argparse
import tomllib
from typing import Any

from liebn.experiments.errors import ExperimentError
from liebn.experiments.networks import NETWORKS, TRAINING
from liebn.experiments.norms import DOMAIN_SPECIFIC, KINDS
from liebn.experiments.protocol import Protocol, packaged, parse_protocol, read_protocol
from liebn.experiments.values import require_one_of

NAME = "run"
METRIC_OPTIONS = ("metric", "theta", "alpha", "beta", "statistics")


def protocol_of(arguments: argparse.Namespace) -> Protocol:
    """A protocol with one method: that of the data set, with what the options replace."""
    base = _base(arguments.dataset, arguments.protocol)
    network = dict(base.network)
    if arguments.network is not None:
        require_one_of(arguments.network, NETWORKS, "--network")
        network = network if arguments.network == network["name"] else {"name": arguments.network}
    kinds = KINDS[network["name"]]
    require_one_of(arguments.norm, kinds, f"--norm, for {network['name']}")
    content: dict[str, Any] = {
        "title": f"{arguments.dataset}, one configuration",
        "dataset": arguments.dataset,
        "dataset_options": dict(base.dataset_options),
        "protocol": arguments.protocol or base.protocol,
        "score": base.score,
        "network": network,
        "training": dict(base.training),
    }
    training = {"max_epochs": arguments.epochs, "lr": arguments.lr}
    content["training"] |= {name: v for name, v in training.items() if v is not None}
    given = {name: getattr(arguments, name) for name in METRIC_OPTIONS}
    norm = {name: value for name, value in given.items() if value is not None}
    places = {
        "network": (network, NETWORKS[network["name"]].options),
        "training": (content["training"], TRAINING),
        "norm": (norm, tuple(kinds[arguments.norm].defaults)),
    }
    method: dict[str, Any] = {}
    for setting in arguments.settings:
        key, value = _setting(setting)
        section, _, option = key.rpartition(".")
        if section == "dataset_options":
            content["dataset_options"][option] = value
        elif key == "refit" and arguments.norm in DOMAIN_SPECIFIC:
            method[key] = value
        elif key == "score":
            content[key] = value
        else:
            _place(key, section, option, places)[option] = value
    words = [arguments.norm, *(f"{name} {_word(value)}" for name, value in sorted(norm.items()))]
    words += [f"{name} {_word(value)}" for name, value in method.items()]
    content["methods"] = [{"name": ", ".join(words), "norm": arguments.norm, **norm, **method}]
    return parse_protocol(NAME, content)


def _base(dataset: str, division: str | None) -> Protocol:
    """The packaged protocol of a data set that divides it so, or has its name, or is the first."""
    own = [p for p in map(read_protocol, packaged()) if p.dataset == dataset]
    if not own:
        raise ExperimentError(f"--dataset: there is no protocol for {dataset}")
    own.sort(key=lambda p: (p.protocol != division, p.name != dataset))
    return own[0]


def _setting(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals:
        raise ExperimentError(f"--set: expected KEY=VALUE, got {text!r}")
    try:
        return key.strip(), tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return key.strip(), value.strip()


def _place(
    key: str, section: str, option: str, places: dict[str, tuple[dict[str, Any], tuple[str, ...]]]
) -> dict[str, Any]:
    for name, (options, known) in places.items():
        if section in ("", name) and option in known:
            return options
    listed = [option for _, known in places.values() for option in known]
    raise ExperimentError(
        f"--set: unknown key {key!r}; known are: {', '.join([*listed, 'refit', 'score'])}, "
        "dataset_options.NAME"
    )


def _word(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
