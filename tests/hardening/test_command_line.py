"""The command line with any options: exit status 0, 1 or 2, a line on what is wrong, no traceback.

Arguments are made from the parser itself, so that a new command or option is fuzzed as well.
Whatever trains, measures or downloads is replaced: what remains is all reading and checking.
"""

import argparse
import importlib
import socket
import subprocess
import sys
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liebn import cli
from liebn.datasets import check as check_module
from liebn.datasets import load
from tests.hardening.inputs import examples

GROUPS = [importlib.import_module(name) for name in cli.GROUPS]
LIGHT = ("groups", "data", "run", "reproduce")
"""Commands that are carried out, with what is heavy in them replaced; others are only parsed."""

WORDS = ["", "x", "*", "radar", "lem", "mine.toml", "/", ".", "..", "ä", "[", "--", "-", "a=b", "="]
WORDS += ["{here}", "{here}/absent", "{here}/file", "{here}/broken.toml", "l" * 300, "inf"]
NUMBERS = ["0", "1", "-1", "2", "1e3", "nan", "inf", "-inf", "9" * 30, "0x1", " 1", "٣"]
SETTINGS = ["momentum=0.2", "sizes=[20,8]", "sizes=[]", "sizes=[20,99]", "lr=fast", "momentum"]
SETTINGS += ["=1", "optimizer=adam", "dataset_options.x=1", "refit=true", "score=x", "a.b.c=1"]
SETTINGS += ["max_epochs=0", "batch_size=-3", "beta=-9.0", "alpha=nan", "theta=inf", "sizes=[20,0]"]


def parsers(parser, path=()):
    """All parsers below one, by the words that lead there."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, child in action.choices.items():
                yield from parsers(child, (*path, name))
            return
    yield path, parser


COMMANDS = dict(parsers(cli.build_parser(GROUPS)))


def values(action):
    """Values for an option, most of them wrong."""
    known = [str(choice) for choice in action.choices or ()]
    if action.dest == "settings":
        return st.sampled_from(SETTINGS)
    return st.sampled_from([*known, *known, *WORDS, *NUMBERS])


@st.composite
def arguments(draw, path):
    """Options and values in any number and order."""
    actions = [a for a in COMMANDS[path]._actions if not isinstance(a, argparse._HelpAction)]
    words = [] if draw(st.integers(0, 9)) else [draw(st.sampled_from(["--help", "--no", "x"]))]
    for action in draw(st.lists(st.sampled_from(actions), max_size=5)) if actions else ():
        several = action.nargs in ("+", "*")
        count = 0 if action.nargs == 0 else draw(st.integers(1, 2)) if several else 1
        if action.option_strings:
            words.append(draw(st.sampled_from(action.option_strings)))
        words += [draw(values(action)) for _ in range(count)]
    for action in actions:  # else most examples would end for want of these
        needed = action.required or not action.option_strings
        if needed and draw(st.booleans()):
            known = [str(c) for c in action.choices or ()] or ["radar", "fpha", "hinss2021"]
            words += [*action.option_strings[:1], draw(st.sampled_from(known))]
    return words


@pytest.fixture
def light(monkeypatch, tmp_path):
    """Nothing is trained, simulated twice or fetched, and every file lies in one folder."""
    from liebn.datasets import command
    from liebn.experiments import run, sweep

    def refuse(*_, **__):
        raise OSError("there is no network in this test")

    here = tmp_path / "here"
    here.mkdir()
    (here / "file").write_text("x")
    (here / "broken.toml").write_text("title = ")
    monkeypatch.chdir(here)
    monkeypatch.setenv("LIEBN_DATA", str(here))
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(sweep, "sweep", lambda chosen, *_: [])
    monkeypatch.setattr(command, "load", simulated)
    monkeypatch.setattr(run, "load", simulated)
    monkeypatch.setattr(command, "check", checked)
    monkeypatch.setattr(command, "draw_spectrograms", lambda path: path.write_text("picture"))
    return here


@cache
def radar():
    return load("radar")


def simulated(name, *rest, **options):
    """The one set that needs no files, made once."""
    return radar() if name == "radar" and not options else load(name, *rest, **options)


@cache
def findings():
    return check_module.check(radar())


def checked(data):
    return findings() if data is radar() else check_module.check(data)


def status_of(words):
    try:
        return cli.main(words)
    except SystemExit as leaving:
        return leaving.code


def test_the_parser_names_every_light_command():
    assert {path[0] for path in COMMANDS} >= set(LIGHT)


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
@examples(40)
@given(data=st.data())
def test_any_options(path, data, request):
    # One set-up for all examples: what they leave behind is one more thing to cope with.
    here = request.getfixturevalue("light")
    capsys = request.getfixturevalue("capsys")
    words = [word.replace("{here}", str(here)) for word in data.draw(arguments(path))]
    if path[0] in LIGHT:
        status = status_of([*path, *words])
    else:
        try:
            cli.build_parser(GROUPS).parse_args([*path, *words])
            status = 0
        except SystemExit as leaving:
            status = leaving.code
    shown = capsys.readouterr()
    assert status in (0, 1, 2)
    assert "Traceback" not in shown.out + shown.err
    if status == 1 and path[0] in LIGHT:
        assert shown.err.startswith("liebn: ")
    if status == 2:
        assert "error:" in shown.err


@pytest.mark.parametrize(
    "words, status",
    [
        ([], 2),
        (["groups", "--size", "4"], 0),
        (["groups", "--size", "1"], 2),
        (["data", "check", "fpha", "--data", "/absent"], 1),
        (["reproduce", "absent"], 2),
        (["reproduce", "absent.toml"], 1),
        (["run", "--dataset", "radar", "--metric", "no"], 2),
    ],
    ids=str,
)
def test_in_a_process_of_its_own(words, status, tmp_path):
    command = [sys.executable, "-m", "liebn.cli", *words]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, timeout=120, check=False
    )
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
