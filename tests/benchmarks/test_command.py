"""The whole benchmark on tiny sizes: that it runs and writes what it says, not what it measures."""

import argparse
import json
from pathlib import Path

import pytest
import torch

from benchmarks import command, processes
from benchmarks.plan import PARTS, Plan


def parse(*options: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="group", required=True)
    command.register(commands)
    return parser.parse_args(["bench", *options])


def test_tiny_run_writes_tables_times_plot_and_profile(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = [part for part in PARTS if part != "processes"]
    threads = torch.get_num_threads()
    arguments = parse("--quick", "--out", str(tmp_path), "--parts", *parts)
    assert arguments.run(arguments) == 0
    printed = capsys.readouterr().out
    assert (tmp_path / "tables.md").read_text() in printed
    assert "AIM exact" in printed
    assert "processor time" in printed
    assert "*published*" in printed
    found = json.loads((tmp_path / "results.json").read_text())
    assert len(found["spd seconds"]["4x3"]["AIM exact, float32, evaluation"]) == 2
    assert "torch" in found["machine"]["versions"]
    assert (tmp_path / "growth.svg").stat().st_size > 0
    assert "LCM exact" in (tmp_path / "profile.txt").read_text()
    assert torch.get_num_threads() == threads


@pytest.mark.distributed
def test_two_processes_report_a_throughput() -> None:
    found = processes.measure(4, 3, steps=1, rounds=1, progress=lambda: None)
    assert found.wall.median > 0
    assert found.processor.median > 0


def test_options_change_the_plan() -> None:
    options = [
        "--shapes",
        "4x3",
        "8x5",
        "--rounds",
        "7",
        "--dtype",
        "float32",
        "--parts",
        "accuracy",
        "speed",
    ]
    plan = command.plan_of(parse(*options))
    assert plan.shapes == ((4, 3), (8, 5))
    assert plan.rounds == 7
    assert plan.dtypes == ("float32",)
    assert plan.parts == ("speed", "accuracy")
    assert command.plan_of(parse()) == Plan()


@pytest.mark.parametrize("options", [("--shapes", "30"), ("--rounds", "0"), ("--parts", "all")])
def test_wrong_options_are_refused(
    options: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        parse(*options)
    assert stopped.value.code == 2
    assert options[1] in capsys.readouterr().err


def test_a_missing_peer_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(command, "NEEDED", ("no_such_module",))
    arguments = parse("--out", str(tmp_path))
    with pytest.raises(command.BenchmarkError, match=r"no_such_module.*liebn\[bench\]"):
        arguments.run(arguments)
