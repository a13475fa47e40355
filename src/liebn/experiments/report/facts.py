"""What a report says about the runs it is made of."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from liebn.experiments.configuration import quick
from liebn.experiments.networks import TRAINING
from liebn.experiments.protocol import Method, Protocol
from liebn.experiments.report.variants import Record, Settings, Variant, flat


def protocol_of(name: str, records: Sequence[Record]) -> Protocol:
    """What records tell of a protocol whose file is not at hand."""
    own = [record["configuration"] for record in records]
    names = dict.fromkeys(c["method"] for c in own)
    kinds = {c["method"]: c["norm"]["kind"] for c in own}
    return Protocol(
        name=name,
        title=name,
        dataset=own[0]["dataset"],
        dataset_options=own[0]["dataset_options"],
        protocol=own[0]["protocol"],
        seeds=len({c["seed"] for c in own}),
        splits=0,
        score=own[0]["score"],
        baseline="",
        note="",
        network={},
        training={},
        quick={},
        methods=tuple(Method(n, kinds[n]) for n in names),
        published={},
    )


def wanted(protocol: Protocol) -> Settings:
    """The settings that a protocol gives for all methods at once, as `conditions` names them."""
    network = {k: v for k, v in protocol.network.items() if k != "name"}
    return flat(
        {
            **protocol.training,
            "network_options": network,
            "dataset_options": protocol.dataset_options,
            "protocol": protocol.protocol,
            "score": protocol.score,
        }
    )


def departures(protocol: Protocol, records: Sequence[Record]) -> Settings:
    """The settings of runs that are not as their protocol says."""
    own = {method.name: flat({**method.training, "network_options": method.network})
           for method in protocol.methods}  # fmt: skip
    found: Settings = {}
    for record in records:
        actual = flat(record["configuration"])
        said = wanted(protocol) | own.get(actual["method"], {})
        keys = [*said, *(key for key in actual if key.startswith("dataset_options."))]
        found |= {key: actual.get(key) for key in keys if actual.get(key) != said.get(key)}
    return found


def commands(protocol: Protocol, source: str, variant: Variant, results: str) -> list[str]:
    """What makes these runs, each command one line; none where the protocol at hand cannot.

    Args:
        protocol: of the experiment.
        source: its name or its file, for `liebn reproduce`.
        variant: the runs.
        results: the folder of results.
    """
    records = variant.records
    options = []
    changed = departures(protocol, records)
    short = quick(protocol)
    if len(departures(short, records)) < len(changed):
        options, protocol = ["--quick"], short
        changed = departures(short, records)
    if changed.keys() - {"max_epochs"}:
        return []
    seeds = 1 + max(record["configuration"]["seed"] for record in records)
    if seeds != protocol.seeds:
        options += ["--seeds", str(seeds)]
    splits = splits_of_a_seed(records)
    if protocol.splits and splits != protocol.splits:
        options += ["--splits", str(splits)]
    if changed:
        options += ["--epochs", str(changed["max_epochs"])]
    methods = {record["configuration"]["method"] for record in records}
    names = [method.name for method in protocol.methods if method.name in methods]
    if len(names) < len(protocol.methods):
        options += ["--methods", *names]
    return [shlex.join(["liebn", "reproduce", source, "--results", results, *options])]


def single_commands(variant: Variant, results: str) -> list[str]:
    """What makes runs of `liebn run`, each command one line."""
    lines = (_single(record["configuration"], results) for record in variant.records)
    return list(dict.fromkeys(lines))


def _single(own: Mapping[str, Any], results: str) -> str:
    words = ["liebn", "run", "--results", results]
    for option in ("dataset", "protocol", "split", "network", "seed"):
        words += [f"--{option}", str(own[option])]
    words += ["--norm", own["norm"]["kind"]]
    sections = {
        "dataset_options": own["dataset_options"],
        "network": own["network_options"],
        "norm": {k: v for k, v in own["norm"].items() if k != "kind"},
        "training": {k: own[k] for k in TRAINING},
    }
    values = {f"{name}.{k}": v for name, options in sections.items() for k, v in options.items()}
    values |= {k: own[k] for k in ("score", "refit") if own[k] is not None}
    for key, value in values.items():
        words += ["--set", f"{key}={json.dumps(value)}"]
    return shlex.join(words)


def splits_of_a_seed(records: Sequence[Record]) -> int:
    """How many splits a seed has, at most."""
    pairs = {(r["configuration"]["seed"], r["configuration"]["split"]) for r in records}
    return max(Counter(seed for seed, _ in pairs).values())


def remarks(protocol: Protocol, records: Sequence[Record]) -> list[str]:
    """What a reader must know before comparing the figures."""
    found = []
    if any(record["simulated"] for record in records):
        found.append("Simulated data: these numbers are no measurement of the real set.")
    said = wanted(protocol)
    changed = departures(protocol, records)
    found += [
        f"Not as in the protocol: {key} is {word(value)} instead of {word(said.get(key))}."
        for key, value in changed.items()
    ]
    seeds = {record["configuration"]["seed"] for record in records}
    if len(seeds) < protocol.seeds:
        found.append(f"Made with {len(seeds)} of the {protocol.seeds} seeds of the protocol.")
    made = Counter(record["configuration"]["method"] for record in records)
    missing = [method.name for method in protocol.methods if method.name not in made]
    if missing:
        found.append(f"Without runs so far: {', '.join(missing)}.")
    most = max(made.values())
    fewer = [f"{name} {count}" for name, count in made.items() if count < most]
    if fewer:
        found.append(f"Not all methods have {most} runs: {', '.join(fewer)}.")
    if len({record["source"] for record in records}) > 1:
        found.append(
            "The runs come from different states of the source, listed under versions; a record "
            "tells its own."
        )
    return found


def unfinished(records: Sequence[Record]) -> list[Record]:
    """The runs that diverged or failed."""
    return [record for record in records if record["status"] != "finished"]


def seconds(records: Sequence[Record]) -> float:
    """The processor seconds that all training took."""
    return sum(sum(record["history"]["seconds"]) for record in records)


def word(value: Any) -> str:
    """A setting in words."""
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(word, value)) or "none"
    return str(value)
