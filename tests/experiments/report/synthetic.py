"""Records that no training made, for experiments that need one."""

import random

from liebn.experiments.protocol import parse_protocol
from liebn.experiments.run import FORMAT
from liebn.experiments.store import Store

NASTY = """<script>alert(1)</script> & "x" 'y' $\\frac|a|_*b*`c` ](http://a.b)"""
METHODS = {
    "none": {"kind": "none"},
    "base": {"kind": "spdnetbn", "statistics": "reference", "momentum": 0.1},
    "aim 1": {"kind": "lie", "metric": "aim", "theta": 1.0, "alpha": 1.0, "beta": 0.0},
    "aim 0.5": {"kind": "lie", "metric": "aim", "theta": 0.5, "alpha": 1.0, "beta": 0.0},
}
PROTOCOL = {
    "title": "A table",
    "dataset": "radar",
    "protocol": "random",
    "seeds": 2,
    "baseline": "base",
    "note": "A note.",
    "network": {"name": "spdnet", "sizes": [20, 8]},
    "training": {"max_epochs": 3},
    "methods": [
        {"name": name, "norm": norm["kind"]} | {k: v for k, v in norm.items() if k != "kind"}
        for name, norm in METHODS.items()
    ],
    "published": {
        "source": "A paper, Table 1",
        "base": {"mean": 80.0, "std": 1.0, "max": 82.0, "seconds": 2.0},
        "aim 1": {"mean": 81.5, "std": 0.5, "max": 83.0, "seconds": 3.0},
    },
}


def protocol(name="table", **changes):
    return parse_protocol(name, PROTOCOL | changes)


def record(method, seed, split="only", *, status="finished", source="s" * 20, score=None, **own):
    draw = random.Random(f"{method} {seed} {split}")
    finished = status == "finished"
    score = draw.uniform(0.5, 1) if score is None else score
    configuration = {
        "experiment": "table",
        "dataset": "radar",
        "dataset_options": {},
        "protocol": "random",
        "network": "spdnet",
        "network_options": {"sizes": [20, 8]},
        "method": method,
        "norm": METHODS.get(method, METHODS["aim 1"]),
        "optimizer": "amsgrad",
        "lr": 0.005,
        "weight_decay": 0.0,
        "max_epochs": 3,
        "batch_size": 30,
        "score": "accuracy",
        "refit": None,
        "split": split,
        "seed": seed,
    } | own
    times = [draw.uniform(1, 2) for _ in range(configuration["max_epochs"])]
    return {
        "format": FORMAT,
        "key": f"{draw.getrandbits(80):020x}",
        "code": "0.1.0",
        "source": source,
        "configuration": configuration,
        "status": status,
        "reason": None if finished else "the loss is nan in epoch 2",
        "score": score if finished else None,
        "scores": {"accuracy": score, "balanced_accuracy": score} if finished else None,
        "history": {
            "train_loss": [draw.uniform(0.1, 1) for _ in times],
            "test_score": [*(None for _ in times[1:]), score],
            "seconds": times,
        },
        "fit_seconds": sum(times) / len(times),
        "confusion": [[8, 1, 0], [2, 6, 1], [0, 0, 9]] if finished else None,
        "classes": ["one", "two", "three"],
        "samples": {"train": 30, "test": 27},
        "simulated": True,
        "notes": ["dropped 1 sample, number 7"],
        "environment": {"liebn": "0.1.0", "torch": "2", "processor": "any", "threads": 1},
        "finished_at": f"2026-01-01T00:00:{seed:02}Z",
    }


def table(seeds=2, **changes):
    return [record(method, seed, **changes) for seed in range(seeds) for method in METHODS]


def keep(records, root):
    store = Store(root)
    for own in records:
        store.write(own)
    return root
