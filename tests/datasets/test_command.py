"""The command line: what it prints and its exit status."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from liebn import cli
from liebn.datasets import CARDS


@pytest.fixture
def run(command: Callable[..., tuple[int, str, str]]) -> Callable[..., tuple[int, str, str]]:
    return command


def test_list_shows_every_dataset(run: Callable, tmp_path: Path) -> None:
    (tmp_path / "hdm05").mkdir()
    (tmp_path / "hdm05" / "a_0.npy").touch()
    status, out, _ = run("data", "list", "--data", tmp_path)
    assert status == 0
    assert "radar  [simulated]" in out
    assert f"hdm05  [found at {tmp_path / 'hdm05'}]" in out
    assert "g3d  [not found]" in out
    for card in CARDS.values():
        assert card.licence in out
        assert card.size in out


def test_check_of_the_default_succeeds_without_a_file(run: Callable, tmp_path: Path) -> None:
    status, out, err = run("data", "check", "radar", "--data", tmp_path)
    assert (status, err) == (0, "")
    assert "radar (simulated): 3000 samples of shape (20, 20)" in out
    assert out.endswith("usable\n")


def test_check_writes_a_picture(run: Callable, tmp_path: Path) -> None:
    picture = tmp_path / "radar.png"
    status, _, _ = run("data", "check", "radar", "--spectrogram", picture)
    assert status == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_check_of_bad_data_fails_with_one_line(run: Callable, tmp_path: Path) -> None:
    (tmp_path / "hdm05").mkdir()
    bad = np.eye(93)
    bad[0, 1] = 0.5
    np.save(tmp_path / "hdm05" / "a_0.npy", bad)
    status, out, err = run("data", "check", "hdm05", "--data", tmp_path)
    assert status == 1
    assert "samples of shape (93, 93)" in out
    assert err == "liebn: hdm05 cannot be used: 1 matrices are not symmetric\n"


def test_check_of_a_broken_file_names_it(run: Callable, tmp_path: Path) -> None:
    (tmp_path / "hdm05").mkdir()
    (tmp_path / "hdm05" / "a_0.npy").write_bytes(b"nonsense")
    status, _, err = run("data", "check", "hdm05", "--data", tmp_path)
    assert status == 1
    assert err.startswith(f"liebn: {tmp_path / 'hdm05' / 'a_0.npy'}: not a readable .npy")
    assert err.count("\n") == 1


PACKED = {
    "fpha": "fpha_cov63.npz",
    "hdm05-11": "hdm05_11class.npz",
    "ssvep-exo": "ssvep_exo_cov24.npz",
    "msr-action3d": "msraction3d.npz",
    "hinss2021": "hinss2021_epochs.npz",
}


@pytest.mark.parametrize("name", PACKED)
@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"nonsense"])
def test_a_broken_packed_file_is_named(
    run: Callable, tmp_path: Path, name: str, content: bytes
) -> None:
    path = tmp_path / name / PACKED[name]
    path.parent.mkdir()
    path.write_bytes(content)
    status, out, err = run("data", "check", name, "--data", tmp_path)
    assert (status, out) == (1, "")
    assert err.startswith(f"liebn: {path}: not a readable .npz file")
    assert err.count("\n") == 1


def test_check_of_absent_data_says_what_to_do(run: Callable, tmp_path: Path) -> None:
    status, _, err = run("data", "check", "hdm05", "--data", tmp_path)
    assert status == 1
    assert "liebn data fetch hdm05 says how to get it" in err
    assert err.count("\n") == 1


def test_fetch_by_hand_prints_the_steps(run: Callable, tmp_path: Path) -> None:
    status, _, err = run("data", "fetch", "g3d", "--data", tmp_path)
    assert status == 1
    assert "G3D_Lie_data.zip" in err
    assert f"{tmp_path}/g3d/liedb_g3d_lie20_half_inter.mat" in err


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("data",),
        ("data", "check"),
        ("data", "check", "mnist"),
        ("data", "list", "--nonsense"),
        ("data", "fetch", "g3d", "--sha256", "abc"),
        ("data", "check", "fpha", "--spectrogram", "x.png"),
    ],
)
def test_wrong_usage_exits_2(run: Callable, arguments: tuple[str, ...]) -> None:
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert err.startswith("usage: liebn")


@pytest.mark.parametrize(
    "arguments, word",
    [
        (("--help",), "data"),
        (("data", "--help"), "LIEBN_DATA"),
        (("data", "check", "--help"), "Exit status"),
        (("data", "fetch", "--help"), "licence"),
    ],
)
def test_help_teaches(run: Callable, arguments: tuple[str, ...], word: str) -> None:
    status, out, _ = run(*arguments)
    assert status == 0
    assert word in " ".join(out.split())


def test_a_missing_extra_is_named(run: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyriemann.estimation", None)
    status, _, err = run("data", "check", "radar")
    assert status == 1
    assert err == (
        "liebn: this needs the library pyriemann, which is not installed: "
        "run  pip install 'liebn[experiments]'\n"
    )


def test_a_group_that_cannot_be_imported_names_the_extra(
    run: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "GROUPS", ("no_such_library.command",))
    status, _, err = run("data", "list")
    assert status == 1
    assert err == (
        "liebn: no_such_library is not installed: run  pip install 'liebn[experiments]'\n"
    )


def test_files_that_cannot_be_written_are_named(run: Callable, tmp_path: Path) -> None:
    target = tmp_path / "no" / "folder.png"
    status, _, err = run("data", "check", "radar", "--spectrogram", target)
    assert status == 1
    assert str(target) in err
    assert err.count("\n") == 1
