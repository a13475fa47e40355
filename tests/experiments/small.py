"""A protocol that trains in a second: SPDNet on 24 simulated radar signals."""

import copy
import json
import signal
import subprocess
import sys
import tomllib
from functools import partial
from pathlib import Path
from typing import Any

from liebn.datasets import Dataset
from liebn.experiments.configuration import Configuration, configurations
from liebn.experiments.protocol import Protocol, parse_protocol
from liebn.experiments.run import load_dataset

TEXT = """\
title = "A few radar signals"
dataset = "radar"
dataset_options = { per_class = 8 }
protocol = "random"
seeds = 2
baseline = "SPDNet"

[network]
name = "spdnet"
sizes = [20, 6]

[training]
max_epochs = 2

[quick]
seeds = 1
max_epochs = 1

[[methods]]
name = "SPDNet"
norm = "none"

[[methods]]
name = "LieBN-LCM(1)"
norm = "lie"
metric = "lcm"

[[methods]]
name = "LieBN-AIM(1)"
norm = "lie"
metric = "aim"

[published]
source = "nobody"
SPDNet = { mean = 11.11, std = 0.5, max = 12.0, seconds = 0.3 }
"""

CONTENT = tomllib.loads(TEXT)


def content(**changes: Any) -> dict[str, Any]:
    """The content of the protocol file, with some keys replaced."""
    return copy.deepcopy(CONTENT) | changes


def protocol(**changes: Any) -> Protocol:
    return parse_protocol("small", content(**changes))


def data() -> Dataset:
    return load_dataset("radar", None, CONTENT["dataset_options"])


def runs(**changes: Any) -> list[Configuration]:
    """The configurations of all runs."""
    small = protocol(**changes)
    return list(configurations(small, data(), range(small.seeds)))


def file(folder: Path, *replacements: tuple[str, str], name: str = "small") -> Path:
    """The protocol as a file, with some of its text replaced."""
    text = TEXT
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    path = folder / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    return path


def records(results: Path, experiment: str = "small") -> dict[str, dict[str, Any]]:
    """What the files of a folder of results say, by key."""
    files = (results / "records" / experiment).glob("*.json")
    return {path.stem: json.loads(path.read_text("utf-8")) for path in files}


def without_times(record: dict[str, Any]) -> dict[str, Any]:
    """A record, but for how long it took and when."""
    kept = {k: v for k, v in record.items() if k not in {"fit_seconds", "finished_at"}}
    history = {k: v for k, v in record["history"].items() if k != "seconds"}
    return kept | {"history": history}


def start(*arguments: object, **options: Any) -> subprocess.Popen[str]:
    """The command in a process of its own, which an interrupt reaches even in the background."""
    line = [sys.executable, "-m", "liebn.cli", *map(str, arguments)]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    heed = {"preexec_fn": partial(signal.signal, signal.SIGINT, signal.SIG_DFL)}
    return subprocess.Popen(line, **streams | heed | options)
