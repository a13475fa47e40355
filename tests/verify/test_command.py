"""The command line: table, page and exit status."""

from pathlib import Path

import pytest

from liebn import cli
from liebn.groups import catalog
from tests.laws.test_toy_space import Scalings
from tests.verify.test_claims import Bent

PAGE = Path(__file__).parents[2] / "docs" / "verify.md"


@pytest.fixture
def run(capsys):
    """Run `liebn verify` and return its exit status, output and errors."""

    def command(*arguments):
        try:
            status = cli.main(["verify", *map(str, arguments)])
        except SystemExit as leaving:
            status = int(leaving.code or 0)
        streams = capsys.readouterr()
        return status, streams.out, streams.err

    return command


def test_prints_a_table(run):
    status, out, err = run("--spaces", "euclidean")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split() == ["claim", "space", "measured", "value", "allowed", "verdict"]
    assert all(line.endswith(("holds", "correction", "as written")) for line in lines[1:-1])
    assert lines[-1].startswith(f"{len(lines) - 2} rows: ")


def test_writes_a_page(run, tmp_path):
    file = tmp_path / "page.md"
    status, out, _ = run("--spaces", "euclidean", "so", "--seed", 3, "--markdown", file)
    assert status == 0
    page = file.read_text(encoding="utf-8")
    assert f"liebn verify --spaces euclidean so --seed 3 --markdown {file}" in page
    assert out.splitlines()[-1] in page
    assert page.count("\n| ") == len(out.splitlines()) - 2 + 2
    assert [f.name for f in tmp_path.iterdir()] == ["page.md"]


def test_a_broken_space_gives_exit_status_1(run, monkeypatch):
    monkeypatch.setitem(catalog, "euclidean", Bent)
    status, out, _ = run("--spaces", "euclidean")
    assert status == 1
    assert "FAILED" in out


def test_spaces_without_gaussians_are_named(run, monkeypatch):
    monkeypatch.setitem(catalog, "so", Scalings)
    _, out, _ = run("--spaces", "so")
    assert out.endswith("want of an exact sampler: claims about distributions on so.\n")


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--spaces", "torus"], "invalid choice: 'torus'"),
        (["--seed", "-1"], "expected a whole number of at least 0, got '-1'"),
        (["--seed", "x"], "got 'x'"),
    ],
)
def test_wrong_usage(run, arguments, words):
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert words in err


def test_no_folder_to_write_in(run, tmp_path):
    status, out, err = run("--markdown", tmp_path / "absent" / "page.md")
    assert (status, out) == (1, "")
    assert err == (
        f"liebn: {tmp_path / 'absent'}: expected a folder, got none of that name; make it, or "
        "write elsewhere\n"
    )


def test_the_page_in_the_documentation_covers_the_catalog():
    """Figures differ between machines; which rows there are does not."""
    page = PAGE.read_text(encoding="utf-8")
    assert "\nliebn verify --markdown docs/verify.md\n" in page
    assert "FAILED" not in page
    spaces = {line.split(" | ")[1] for line in page.splitlines() if line.startswith("| ")}
    assert spaces >= set(catalog)
