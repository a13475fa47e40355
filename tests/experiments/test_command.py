"""`liebn reproduce` and `liebn run`: what they print, their exit status, every option."""

import re

import pytest

from liebn.experiments.protocol import packaged
from tests.experiments import small

RUN = ("run", "--dataset", "radar", "--set", "dataset_options.per_class=8", "--epochs", "1")


@pytest.fixture
def results(tmp_path):
    return tmp_path / "results"


@pytest.fixture
def run(command, results):
    """`liebn run` on a few signals; the record that it makes."""

    def one(*arguments):
        status, _, err = command(*RUN, *arguments, "--results", results)
        assert (status, err) == (0, ""), err
        (record,) = small.records(results, "run").values()
        return record["configuration"]

    return one


def test_list_names_every_experiment_and_whether_its_data_are_there(command, tmp_path):
    (tmp_path / "hdm05").mkdir()
    (tmp_path / "hdm05" / "a_0.npy").touch()
    status, out, err = command("reproduce", "--list", "--data", tmp_path)
    assert (status, err) == (0, "")
    states = dict(re.findall(r"^(\S+) +\[(.*?)\]", out, re.M))
    assert list(states) == list(packaged())
    assert (states["radar"], states["hdm05"], states["fpha"]) == (
        "simulated", "data found", "no data",
    )  # fmt: skip
    assert f"protocol files: {packaged()['radar'].parent}" in out


@pytest.mark.parametrize("verb", ["reproduce", "run"])
def test_help_teaches(verb, command):
    status, out, _ = command(verb, "--help")
    assert status == 0
    assert out.count(f"  liebn {verb} ") >= 3  # examples
    for option in ("--data", "--results", "--jobs", "--cluster", "--tensorboard", "--retry"):
        assert option in out


def test_reproduce_prints_a_table_and_keeps_the_records(command, tmp_path, results):
    status, out, err = command("reproduce", small.file(tmp_path), "--results", results)
    assert (status, err) == (0, "")
    assert [line.partition("]")[0] for line in out.splitlines()[:2]] != []
    assert len(re.findall(r"^\[\d/6, .* left\] .* %", out, re.M)) == 6
    for name in ("SPDNet", "LieBN-LCM(1)", "LieBN-AIM(1)"):
        assert re.search(rf"^{re.escape(name)} +\d+\.\d\d ± \d+\.\d\d ", out, re.M)
    assert "Simulated data" in out
    assert "Not the whole protocol" not in out
    assert out.endswith(f"records: {results / 'records' / 'small'}\n")
    assert len(small.records(results)) == 6


def test_a_copied_protocol_runs_after_editing(command, tmp_path, results):
    """The file that --list names, with data and a method of one's own."""
    text = packaged()["radar"].read_text("utf-8")
    text = text.replace('dataset = "radar"', 'dataset = "radar"\ndataset_options = {per_class = 8}')
    text = text.partition("[[methods]]")[0].replace('baseline = "SPDNetBN"', "")
    text += '[[methods]]\nname = "mine"\nnorm = "lie"\nmetric = "lcm"\ntheta = 0.7\n'
    text += 'statistics = "fast"\nnetwork = { sizes = [20, 5] }\ntraining = { lr = 1e-2 }\n'
    (tmp_path / "mine.toml").write_text(text)
    line = ("reproduce", tmp_path / "mine.toml", "--quick", "--epochs", "1", "--seeds", "1")
    status, _, err = command(*line, "--results", results)
    assert (status, err) == (0, "")
    (record,) = small.records(results, "mine").values()
    configuration = record["configuration"]
    assert configuration["norm"]["theta"] == 0.7
    assert configuration["norm"]["statistics"] == "fast"
    assert configuration["network_options"] == {"sizes": [20, 5]}
    assert (configuration["lr"], configuration["max_epochs"]) == (1e-2, 1)


def test_options_of_reproduce_choose_a_part(command, tmp_path, results):
    line = ("reproduce", small.file(tmp_path), "--results", results, "--quick")
    status, out, _ = command(*line, "--methods", "LieBN-L*", "SPDNet", "--splits", "1")
    assert status == 0
    assert (
        "Not the whole protocol: seeds 1 instead of 2, splits 1 instead of all, max_epochs 1 "
        "instead of 2." in " ".join(out.split())
    )
    found = [r["configuration"] for r in small.records(results).values()]
    assert sorted(c["method"] for c in found) == ["LieBN-LCM(1)", "SPDNet"]
    assert {c["max_epochs"] for c in found} == {1}
    assert {c["seed"] for c in found} == {0}


@pytest.mark.parametrize(
    "name", ["hdm05", "fpha", "hinss2021-inter-session", "hinss2021-inter-subject", "g3d",
             "beta-ablation", "hdm05-11", "ssvep-exo-inter-session", "msr-action3d"],
)  # fmt: skip
def test_missing_data_give_one_line(name, command, tmp_path, results):
    status, out, err = command("reproduce", name, "--data", tmp_path, "--results", results)
    assert (status, out) == (1, "")
    assert re.fullmatch(r"liebn: \S+: expected .* in .*, found none; liebn data fetch \S+ says how "
                        r"to get it\n", err)  # fmt: skip
    assert not results.exists()


def test_a_run_that_fails_gives_status_1(command, tmp_path, results):
    path = small.file(tmp_path, ("sizes = [20, 6]", "sizes = [20, 60]"))
    status, out, err = command("reproduce", path, "--quick", "--results", results)
    assert (status, err) == (1, "")
    assert out.count("failed: ValueError: expected 1 ≤ d_out ≤ d_in") == 3
    assert "0 (+1 not finished)" in out


def test_results_that_cannot_be_written_give_one_line(command, tmp_path):
    (tmp_path / "file").touch()
    line = ("reproduce", small.file(tmp_path), "--quick", "--results", tmp_path / "file")
    status, _, err = command(*line)
    assert status == 1
    assert re.fullmatch(r"liebn: .*Not a directory: .*file.*\n", err)


USAGE = {
    "no name": (("reproduce",), "expected an experiment; liebn reproduce --list names them"),
    "unknown": (("reproduce", "mnist"), "unknown experiment 'mnist'; expected one of: beta-abl"),
    "method": (("reproduce", "radar", "--methods", "LieBN-X*"), "no method 'LieBN-X*' in radar"),
    "jobs": (("reproduce", "radar", "--jobs", "0"), "expected at least 1, got '0'"),
    "seeds": (("reproduce", "radar", "--seeds", "-1"), "expected a whole number, got '-1'"),
    "dataset": (("run", "--dataset", "mnist"), "invalid choice: 'mnist'"),
    "no dataset": (("run",), "the following arguments are required: --dataset"),
    "norm": ((*RUN, "--norm", "bn"), "--norm, for spdnet: expected one of none, lie, spdnetbn"),
    "network": ((*RUN, "--network", "resnet"), "--network: expected one of spdnet, tsmnet"),
    "wrong network": ((*RUN, "--network", "lienet"), "lienet is for data of the kind rotation"),
    "metric": ((*RUN, "--metric", "x"), "unknown metric 'x' on SPD matrices"),
    "theta": ((*RUN, "--theta", "x"), "argument --theta: invalid float value: 'x'"),
    "theta nan": ((*RUN, "--theta", "nan"), "theta: expected a finite number, got nan"),
    "no theta": ((*RUN, "--norm", "none", "--theta", "1"), "norm none: unknown key 'theta'"),
    "alpha": ((*RUN, "--alpha", "-1"), "must be positive"),
    "set": ((*RUN, "--set", "momentum"), "--set: expected KEY=VALUE, got 'momentum'"),
    "set unknown": ((*RUN, "--set", "mass=1"), "--set: unknown key 'mass'; known are: sizes, opt"),
    "set section": ((*RUN, "--set", "network.lr=1"), "--set: unknown key 'network.lr'"),
    "set type": ((*RUN, "--set", "momentum=much"), "expected a finite number, got 'much'"),
    "set nothing": ((*RUN, "--set", "momentum="), "expected a finite number, got ''"),
    "set refit": ((*RUN, "--set", "refit=true"), "--set: unknown key 'refit'"),
    "split": ((*RUN, "--split", "a"), "no split 'a'; there are: seed 0"),
    "division": ((*RUN, "--protocol", "official"), "run, protocol: expected one of random, got"),
    "data option": ((*RUN, "--set", "dataset_options.x=1"), "does not take the dataset_options"),
}  # fmt: skip


@pytest.mark.parametrize("case", USAGE)
def test_wrong_usage_gives_one_line_and_no_records(case, command, results):
    arguments, words = USAGE[case]
    status, out, err = command(*arguments, "--results", results)
    assert (status, out) == (2, "")
    assert words in err.splitlines()[-1]
    assert not results.exists()


def test_run_reaches_every_hyper_parameter(run):
    settings = [
        "optimizer=adam", "weight_decay=1e-3", "batch_size=7", "sizes=[20, 5]", "momentum=0.25",
        "bias=tangent", "score=balanced_accuracy", "dataset_options.seed=3",
    ]  # fmt: skip
    found = run(
        "--norm", "lie", "--metric", "aim", "--theta", "-0.5", "--alpha", "2", "--beta", "0.1",
        "--statistics", "reference", "--lr", "0.01", "--seed", "4",
        *(part for setting in settings for part in ("--set", setting)),
    )  # fmt: skip
    assert found["norm"] == {
        "kind": "lie", "metric": "aim", "theta": -0.5, "alpha": 2.0, "beta": 0.1,
        "statistics": "reference", "momentum": 0.25, "bias": "tangent",
    }  # fmt: skip
    assert found["network_options"] == {"sizes": [20, 5]}
    assert (found["optimizer"], found["lr"], found["weight_decay"]) == ("adam", 0.01, 1e-3)
    assert (found["max_epochs"], found["batch_size"], found["seed"]) == (1, 7, 4)
    assert found["score"] == "balanced_accuracy"
    assert found["dataset_options"] == {"per_class": 8, "seed": 3}
    assert found["method"] == (
        "lie, alpha 2, beta 0.1, bias tangent, metric aim, momentum 0.25, statistics reference, "
        "theta -0.5"
    )


def test_run_without_options_is_the_published_protocol(run):
    found = run("--split", "seed 0")
    assert found["network_options"] == {"sizes": [20, 16, 8]}
    assert (found["optimizer"], found["lr"], found["batch_size"]) == ("amsgrad", 5e-3, 30)
    assert found["norm"]["kind"] == "lie"


@pytest.mark.parametrize("kind", ["none", "spdnetbn", "spdbn"])
def test_run_knows_the_other_norms(kind, run):
    assert run("--norm", kind)["norm"]["kind"] == kind
