"""`liebn report`: from a folder of records to pages."""

import json

import pytest

from liebn import cli
from tests.experiments.report.synthetic import METHODS, keep, record, table

TOML = """
title = "Mine"
dataset = "radar"
protocol = "random"
baseline = "base"
network = { name = "spdnet", sizes = [20, 8] }
methods = [{ name = "none", norm = "none" }, { name = "base", norm = "spdnetbn" }]
"""


def report(*words):
    return cli.main(["report", *map(str, words)])


def named(records, name):
    return [r | {"configuration": r["configuration"] | {"experiment": name}} for r in records]


def test_without_records_it_says_how_to_make_some(tmp_path, capsys):
    assert report("--results", tmp_path) == 1
    said = capsys.readouterr().err
    assert "expected records of runs, found none" in said
    assert said.count("\n") == 1


def test_an_unknown_name_gives_those_there_are(tmp_path, capsys):
    keep(table(1), tmp_path)
    assert report("nothing", "--results", tmp_path) == 1
    assert "no records of 'nothing'" in (said := capsys.readouterr().err)
    assert "there are: table" in said


def test_one_experiment_gives_two_forms_and_their_figures(tmp_path, capsys):
    keep(table(2), tmp_path)
    assert report("--results", tmp_path) == 0
    output = tmp_path / "report"
    assert capsys.readouterr().out == f"report: {output / 'table.html'}\n"
    assert sorted(path.name for path in output.iterdir()) == ["figures", "table.html", "table.md"]
    text = (output / "table.md").read_text(encoding="utf-8")
    files = {path.name for path in (output / "figures").iterdir()}
    assert files == {part.partition(")")[0] for part in text.split("](figures/")[1:]}
    for path in (output / "figures").iterdir():
        assert "<svg" in path.read_text(encoding="utf-8")
        assert 'fill="white"' in path.read_text(encoding="utf-8")
    assert not list(output.rglob("*.tmp"))


def test_several_experiments_give_an_overview_too(tmp_path, capsys):
    keep(table(1), tmp_path)
    keep(named(table(1), "radar"), tmp_path)
    output = tmp_path / "elsewhere"
    assert report("--results", tmp_path, "--output", output) == 0
    assert capsys.readouterr().out == f"report: {output / 'index.html'}\n"
    names = {"figures", "index.md", "index.html"}
    names |= {f"{name}.{form}" for name in ("radar", "table") for form in ("md", "html")}
    assert {path.name for path in output.iterdir()} == names
    radar = (output / "radar.md").read_text(encoding="utf-8")
    assert radar.startswith("# Radar, random 50/25/25\n")  # as the packaged protocol has it
    assert (output / "table.md").read_text(encoding="utf-8").startswith("# table\n")


def test_a_protocol_of_ones_own_is_read(tmp_path):
    (tmp_path / "mine.toml").write_text(TOML, encoding="utf-8")
    names = list(METHODS)[:2]
    keep(named([record(name, 0) for name in names], "mine"), tmp_path)
    assert report(tmp_path / "mine.toml", "--results", tmp_path) == 0
    text = (tmp_path / "report" / "mine.md").read_text(encoding="utf-8")
    assert text.startswith("# Mine\n")
    assert "relative to base" in text


def test_a_second_report_is_the_same(tmp_path):
    keep(table(1), tmp_path)
    contents = []
    for _ in range(2):
        assert report("--results", tmp_path) == 0
        files = sorted((tmp_path / "report").rglob("*.*"))
        contents.append({path.name: path.read_bytes() for path in files})
    assert contents[0] == contents[1]


def test_a_broken_record_is_named(tmp_path, capsys):
    keep(table(1), tmp_path)
    path = next((tmp_path / "records" / "table").glob("*.json"))
    path.write_text("{", encoding="utf-8")
    assert report("--results", tmp_path) == 1
    assert str(path) in capsys.readouterr().err


def test_real_records_make_a_report(tmp_path, capsys):
    """The records of a sweep, of one epoch on a few simulated signals."""
    words = "reproduce radar --data /nowhere --epochs 1 --seeds 1 --methods SPDNet LieBN-LEM(1)"
    assert cli.main([*words.split(), "--results", str(tmp_path)]) == 0
    assert report("radar", "--results", tmp_path) == 0
    capsys.readouterr()
    (folder,) = (tmp_path / "records").glob("radar")
    scores = {}
    for path in folder.glob("*.json"):
        own = json.loads(path.read_text(encoding="utf-8"))
        scores[own["configuration"]["method"]] = f"{100 * own['score']:.2f}"
    text = (tmp_path / "report" / "radar.md").read_text(encoding="utf-8")
    for method, score in scores.items():
        assert f"| {method} | {score} | {score} | 1 |" in text
    assert "Simulated data" in text
    assert len(scores) == 2


@pytest.mark.parametrize("words", [["--nothing"], ["--results"]])
def test_wrong_usage_is_status_2(words, capsys):
    with pytest.raises(SystemExit) as end:
        report(*words)
    assert end.value.code == 2


def test_runs_of_a_protocol_that_is_not_at_hand(tmp_path):
    keep(named([*table(1), record("none", 3, dataset="fpha")], "a name"), tmp_path)
    assert report("--results", tmp_path) == 0
    text = (tmp_path / "report" / "a name.md").read_text(encoding="utf-8")
    assert "Runs with dataset fpha" in text
    assert "Not as in the protocol" not in text
    assert "of the protocol" not in text
    assert "give liebn reproduce the file they were made with" in text
    assert "](figures/a-name-loss.svg)" in text
    assert (tmp_path / "report" / "figures" / "a-name-2-loss.svg").is_file()


def test_single_runs_are_made_again_by_liebn_run(tmp_path):
    keep(named(table(1), "run"), tmp_path)
    assert report("run", "--results", tmp_path) == 0
    text = (tmp_path / "report" / "run.md").read_text(encoding="utf-8")
    assert text.count("\nliebn run --results") == len(METHODS)
