"""What a report says of its runs, and the commands that make them again."""

import argparse
import shlex

import pytest

from liebn.experiments import command
from liebn.experiments.configuration import configurations
from liebn.experiments.protocol import read_protocol
from liebn.experiments.report import facts
from liebn.experiments.report.variants import Variant
from liebn.experiments.run import load_dataset
from liebn.experiments.single import protocol_of
from tests.experiments.report.synthetic import METHODS, PROTOCOL, protocol, record, table


def test_a_whole_sweep_needs_no_remark_but_that_it_is_simulated():
    (only,) = facts.remarks(protocol(), table(2))
    assert only.startswith("Simulated data")
    real = [r | {"simulated": False} for r in table(2)]
    assert facts.remarks(protocol(), real) == []


def test_what_is_not_as_in_the_protocol_is_said():
    records = [r | {"simulated": False} for r in [*table(1, max_epochs=5), record("base", 3)]]
    records = [r for r in records if r["configuration"]["method"] != "aim 1"]
    records[0]["source"] = "other"
    said = "\n".join(facts.remarks(protocol(seeds=7), records))
    assert "max_epochs is 5 instead of 3" in said
    assert "2 of the 7 seeds" in said
    assert "Without runs so far: aim 1" in said
    assert "Not all methods have 2 runs: none 1, aim 0.5 1" in said
    assert "different states of the source" in said


def test_what_a_method_replaces_is_no_departure():
    methods = [PROTOCOL["methods"][0] | {"training": {"max_epochs": 9}, "network": {"sizes": [20]}}]
    own = protocol(methods=methods, baseline="", published={})
    there = record("none", 0, max_epochs=9, network_options={"sizes": [20]})
    assert facts.departures(own, [there]) == {}
    assert facts.departures(own, [record("none", 0)]) == {
        "max_epochs": 3,
        "network_options.sizes": [20, 8],
    }


def variant(records):
    return Variant({}, records)


@pytest.mark.parametrize(
    "records, options",
    [
        (table(2), ""),
        (table(5), "--seeds 5"),
        (table(2, max_epochs=9), "--epochs 9"),
        (table(1, max_epochs=1), "--quick"),
        (table(3, max_epochs=1), "--quick --seeds 3"),
        ([record("none", 0), record("none", 1)], "--methods none"),
    ],
)
def test_the_command_gives_the_options_that_were_used(records, options):
    own = protocol(quick={"seeds": 1, "max_epochs": 1})
    (line,) = facts.commands(own, "table", variant(records), "out put")
    assert line == f"liebn reproduce table --results 'out put' {options}".rstrip()


def test_no_command_is_given_that_would_make_other_runs():
    assert (
        facts.commands(protocol(), "table", variant(table(2, lr=1.0)), "r") != []
    )  # not in the protocol
    own = protocol(training={"lr": 0.005})
    assert facts.commands(own, "table", variant(table(2, lr=1.0)), "r") == []


def test_the_command_of_the_quick_radar_is_the_one_of_the_demonstration():
    radar = read_protocol("radar")
    from liebn.experiments.configuration import quick

    short = quick(radar)
    data = load_dataset("radar", "/nowhere", {})
    chosen = configurations(short, data, range(short.seeds))
    records = [record("none", 0) | {"configuration": c} for c in chosen]
    (line,) = facts.commands(radar, "radar", variant(records), "results")
    assert line == "liebn reproduce radar --results results --quick"


def test_the_command_of_a_single_run_gives_its_very_configuration(tmp_path):
    parser = argparse.ArgumentParser()
    command.register(parser.add_subparsers())
    said = "run --dataset radar --metric lcm --theta -0.5 --epochs 7 --seed 3 --set sizes=[20,5]"
    data = load_dataset("radar", "/nowhere", {})

    def configuration(words):
        arguments = parser.parse_args(words)
        (found,) = configurations(protocol_of(arguments), data, [arguments.seed])
        return {k: v for k, v in found.items() if k != "method"}

    first = configuration(said.split())
    own = record("none", 0) | {"configuration": first | {"method": "m"}}
    (line,) = facts.single_commands(variant([own]), str(tmp_path))
    words = shlex.split(line)
    assert words[0] == "liebn"
    assert configuration(words[1:]) == first


def test_seconds_are_those_of_all_runs():
    records = [record("none", 0), record("none", 1, status="diverged")]
    total = sum(sum(r["history"]["seconds"]) for r in records)
    assert facts.seconds(records) == pytest.approx(total)


def test_a_protocol_is_made_from_records_where_there_is_no_file():
    own = facts.protocol_of("mine", table(3))
    assert (own.name, own.title, own.seeds, own.baseline) == ("mine", "mine", 3, "")
    assert [(m.name, m.norm) for m in own.methods] == [(n, v["kind"]) for n, v in METHODS.items()]


@pytest.mark.parametrize(
    "value, said",
    [(None, "not set"), (True, "yes"), (False, "no"), (0.005, "0.005"), (3, "3"), ("x", "x"),
     ([20, 8], "20, 8"), ([], "none")],
)  # fmt: skip
def test_settings_in_words(value, said):
    assert facts.word(value) == said
