"""Configurations, their keys, and what is refused."""

import pytest

from liebn.experiments import configuration
from liebn.experiments.configuration import configurations, key_of, quick
from liebn.experiments.errors import ExperimentError
from liebn.experiments.protocol import parse_protocol, read_protocol
from tests.experiments import small

# Records are found by these keys: as long as they are the same, no run is made again.
KEYS = [
    "54f6cc663aab4338a31b",
    "185fcfe17fea8cba0788",
    "f95dc1cc55c01caa6fd8",
]


def test_keys_stay_until_the_version_changes(monkeypatch):
    runs = small.runs(seeds=1)
    monkeypatch.setattr(configuration, "__version__", "0.1.0")
    assert [key_of(c) for c in runs] == KEYS
    monkeypatch.setattr(configuration, "__version__", "0.1.1")
    assert not {key_of(c) for c in runs} & set(KEYS)


def test_a_key_names_the_numbers_and_not_the_names():
    (first, *_) = small.runs()
    key = key_of(first)
    assert key == key_of(first | {"experiment": "another", "method": "other"})
    assert key == key_of(dict(reversed(first.items())))
    for name, value in first.items():
        if name not in {"experiment", "method"}:
            assert key != key_of(first | {name: "another"} if value != "another" else {}), name


def test_there_is_one_run_for_each_seed_and_split_and_method():
    found = [(c["seed"], c["split"], c["method"]) for c in small.runs()]
    methods = [m["name"] for m in small.CONTENT["methods"]]
    assert found == [(seed, f"seed {seed}", m) for seed in (0, 1) for m in methods]


def test_defaults_stand_in_the_configuration():
    run = small.runs()[1]
    assert run["norm"] == {
        "kind": "lie", "metric": "lcm", "theta": 1.0, "alpha": 1.0, "beta": 0.0,
        "statistics": "exact", "momentum": 0.1, "bias": "manifold",
    }  # fmt: skip
    assert run["lr"] == 5e-3
    assert run["network_options"] == {"sizes": [20, 6]}


def test_a_method_may_replace_network_and_training():
    methods = [{"name": "a", "norm": "none", "network": {"sizes": [20, 4]}, "training": {"lr": 1}}]
    (run, _) = small.runs(methods=methods, baseline="a", published={})
    assert run["network_options"] == {"sizes": [20, 4]}
    assert run["lr"] == 1.0
    assert type(run["lr"]) is float  # so that its key is that of 1.0


def test_only_the_first_splits():
    protocol = small.protocol(splits=1)
    assert len(list(configurations(protocol, small.data(), range(2)))) == 6


def test_quick_replaces_seeds_and_training():
    short = quick(small.protocol(quick={"seeds": 1, "lr": 0.5, "dataset_options": {"seed": 3}}))
    assert short.seeds == 1
    assert short.training["lr"] == 0.5
    assert short.dataset_options == {"per_class": 8, "seed": 3}


def test_momentum_epochs_are_four_fifths_of_the_epochs():
    from liebn.experiments.norms import norm_options

    for epochs, expected in ((50, 40), (5, 4), (1, 2)):
        options = norm_options("domain-lie", {}, "tsmnet", epochs, "here")
        assert options["momentum_epochs"] == expected
    given = norm_options("domain-lie", {"momentum_epochs": 7}, "tsmnet", 50, "here")
    assert given["momentum_epochs"] == 7


def method(**changes):
    return [small.CONTENT["methods"][0], small.CONTENT["methods"][1] | changes]


WRONG = {
    "unknown key": ({"epochs": 3}, "unknown key 'epochs'; known are: title"),
    "seeds": ({"seeds": 0}, "small, seeds: expected at least 1, got 0"),
    "seeds is no number": ({"seeds": "2"}, "seeds: expected a whole number, got '2'"),
    "truth is no number": ({"seeds": True}, "seeds: expected a whole number, got True"),
    "splits": ({"splits": -1}, "splits: expected at least 0"),
    "title": ({"title": "a\nb"}, "title: expected one line of text"),
    "score": ({"score": "f1"}, "score: expected one of accuracy, balanced_accuracy, got 'f1'"),
    "baseline": ({"baseline": "X"}, "baseline: expected one of SPDNet"),
    "options of data": ({"dataset_options": {"per_class": [8]}}, "per_class: expected a text, a"),
    "infinite option": ({"dataset_options": {"per_class": float("inf")}}, "finite number, got inf"),
    "quick": ({"quick": {"seeds": "a"}}, "quick, seeds: expected a whole number"),
    "quick options": ({"quick": {"dataset_options": 5}}, "dataset_options: expected a table"),
    "quick unknown": ({"quick": {"epochs": 1}}, "quick: unknown key 'epochs'"),
    "network": ({"network": {"name": "resnet"}}, "network name: expected one of spdnet, tsmnet"),
    "no network": ({"network": {}}, "network name: expected one of"),
    "other kind": ({"network": {"name": "tsmnet"}}, "for data of the kind signal"),
    "no sizes": ({"network": {"name": "spdnet"}}, "spdnet needs its sizes"),
    "size": ({"network": {"name": "spdnet", "sizes": [20, 0]}}, "sizes: expected at least 1"),
    "sizes": ({"network": {"name": "spdnet", "sizes": 20}}, "expected a list of whole numbers"),
    "network key": ({"network": {"name": "spdnet", "sizes": [20, 4], "x": 1}}, "key 'x'"),
    "training key": ({"training": {"epochs": 3}}, "training: unknown key 'epochs'"),
    "optimizer": ({"training": {"optimizer": "lion"}}, "optimizer: expected one of amsgrad"),
    "rate": ({"training": {"lr": float("nan")}}, "lr: expected a finite number, got nan"),
    "huge rate": ({"training": {"lr": 10**400}}, "lr: expected a finite number"),
    "negative rate": ({"training": {"lr": -1}}, "lr: expected at least 0"),
    "no methods": ({"methods": []}, "expected at least one table"),
    "methods": ({"methods": [3]}, "expected at least one table"),
    "no norm": ({"methods": [{"name": "a"}], "baseline": ""}, "method a: expected the key 'norm'"),
    "no name": ({"methods": [{"norm": "none"}], "baseline": ""}, "1: expected the key 'name'"),
    "method name": ({"methods": method(name="a\x1b[2J")}, "name: expected one line of text"),
    "empty name": ({"methods": method(name=" ")}, "name: expected one line of text"),
    "same name": ({"methods": method(name="SPDNet")}, "two methods 'SPDNet'"),
    "same method": (
        {"methods": method(norm="none", metric="lcm")},
        "norm none: unknown key 'metric'",
    ),
    "one run twice": (
        {"methods": [*small.CONTENT["methods"], {"name": "again", "norm": "none"}]},
        "the same under the names 'SPDNet' and 'again'",
    ),
    "norm": ({"methods": method(norm="bn")}, "expected a norm of spdnet, one of none, lie"),
    "option": ({"methods": method(gamma=0.1)}, "norm lie: unknown key 'gamma'"),
    "metric": ({"methods": method(metric="x")}, "unknown metric 'x' on SPD matrices"),
    "statistics": ({"methods": method(statistics="x")}, "statistics to be a Rule or one of"),
    "alpha": ({"methods": method(metric="aim", alpha=-1.0)}, "must be positive"),
    "theta": ({"methods": method(theta="1")}, "theta: expected a finite number, got '1'"),
    "refit": ({"methods": method(refit=True)}, "refit is for the norms domain-lie and spddsmbn"),
    "published": ({"published": {"SPDNet": {"mean": 1.0}}}, "expected the key 'source'"),
    "published row": ({"published": {"source": "a", "X": {}}}, "published: unknown key 'X'"),
    "published key": ({"published": {"source": "a", "SPDNet": {"median": 1}}}, "key 'median'"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_in_a_protocol_is_told_in_one_line(case):
    changes, words = WRONG[case]
    with pytest.raises(ExperimentError) as caught:
        small.runs(**({"published": {}} | changes))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("key", ["title", "dataset", "protocol", "network", "methods"])
def test_what_is_missing_in_a_protocol_is_told(key):
    content = small.content()
    del content[key]
    with pytest.raises(ExperimentError, match=f"small: expected the key '{key}', found none"):
        parse_protocol("small", content)


FILES = {
    "syntax": b"title = [",
    "encoding": b'title = "\xff"',
    "depth": b"a = " + b"[" * 5000,
    "digits": b"seeds = " + b"9" * 5000,
    "binary": bytes(range(256)),
}


@pytest.mark.parametrize("case", FILES)
def test_a_file_that_is_no_toml(case, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_bytes(FILES[case])
    with pytest.raises(ExperimentError) as caught:
        read_protocol(str(path))
    assert str(caught.value).startswith(f"{path}: expected TOML, got an error in it: ")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ExperimentError, match="expected a protocol file, found none"):
        read_protocol(str(tmp_path / "mine.toml"))
    with pytest.raises(ExperimentError, match="unknown experiment 'mine'; expected one of: beta-"):
        read_protocol("mine")
