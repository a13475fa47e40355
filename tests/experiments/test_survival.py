"""Sweeps in processes of their own: one is killed in the middle, two share a folder."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

from tests.experiments import small

PATIENCE = 300
"""Seconds for a process to come to something, on a machine that is busy."""
EPOCHS = "max_epochs = 2\n", "max_epochs = 40\n"


def wait_for(condition, process):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline, "the process is too slow"
        time.sleep(0.01)


def test_a_killed_sweep_loses_nothing_and_repeats_nothing(command, tmp_path):
    protocol = small.file(tmp_path, EPOCHS)
    results = tmp_path / "results"
    folder = results / "records" / "small"
    process = small.start("reproduce", protocol, "--results", results)
    try:
        wait_for(lambda: len(list(folder.glob("*.json"))) >= 2, process)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert process.returncode == -signal.SIGKILL
    before = {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in folder.glob("*.json")}
    assert 2 <= len(before) < 6
    assert all(json.loads(content) for content, _ in before.values())
    # The lock of the run that was cut off is on the disk, and holds nobody up.
    assert list((results / "records").glob(".*.lock"))

    status, out, err = command("reproduce", protocol, "--results", results)
    assert (status, err) == (0, "")
    assert f"{len(before)} of 6 runs have a record already" in out
    assert len(re.findall(r"^\[\d/6, ", out, re.M)) == 6 - len(before)
    for path, (content, time_written) in before.items():
        assert (path.read_bytes(), path.stat().st_mtime_ns) == (content, time_written)
    assert not list((results / "records").glob(".*.lock"))

    command("reproduce", protocol, "--results", tmp_path / "whole")
    ours, whole = small.records(results), small.records(tmp_path / "whole")
    assert len(whole) == 6
    assert ours.keys() == whole.keys()
    for key, record in whole.items():
        assert small.without_times(ours[key]) == small.without_times(record)


LOGGED = """
import sys, time
from pathlib import Path
from liebn import cli
from liebn.experiments import sweep
from liebn.experiments.configuration import key_of

log, ready, go, *arguments = sys.argv[1:]
task = sweep._task

def logged(configuration, *others):
    with Path(log).open("a") as file:
        file.write(key_of(configuration) + "\\n")
    return task(configuration, *others)

sweep._task = logged
Path(ready).touch()
while not Path(go).exists():
    time.sleep(0.01)
sys.exit(cli.main(arguments))
"""


def test_two_sweeps_share_a_folder_and_make_each_run_once(tmp_path):
    protocol, results = small.file(tmp_path, EPOCHS), tmp_path / "results"
    logs = [tmp_path / f"log {i}" for i in range(2)]
    ready = [tmp_path / f"ready {i}" for i in range(2)]
    sweeps = [
        subprocess.Popen(
            [sys.executable, "-c", LOGGED, log, here, tmp_path / "go", "reproduce", protocol,
             "--results", results],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        for log, here in zip(logs, ready, strict=True)
    ]  # fmt: skip
    try:
        for process, here in zip(sweeps, ready, strict=True):
            wait_for(here.exists, process)
        (tmp_path / "go").touch()
        outputs = [process.communicate(timeout=PATIENCE)[0] for process in sweeps]
    finally:
        for process in sweeps:
            process.kill()
    assert [process.returncode for process in sweeps] == [0, 0], outputs
    first, second = (log.read_text().split() for log in logs)
    assert first
    assert second
    assert sorted(first + second) == sorted(small.records(results))
    tables = [out.partition("A few radar signals")[2] for out in outputs]
    assert tables[0] == tables[1]


def test_bars_on_a_terminal(command, tmp_path, monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")
    ours, terminal = os.openpty()
    shown: list[bytes] = []

    def read():
        while chunk := os.read(ours, 65536):
            shown.append(chunk)
            if b"the end" in chunk:
                return

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    protocol = small.file(
        tmp_path, ("max_epochs = 2\n", "max_epochs = 150\n"), ("LieBN-AIM(1)", "[bold]x[/red]")
    )
    with os.fdopen(terminal, "w") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        line = ("reproduce", protocol, "--seeds", "1", "--results", tmp_path / "results")
        status, out, _ = command(*line, "--methods", "LieBN-LCM(1)", "[[]bold*")
        stream.write("the end")
        stream.flush()
        reader.join(PATIENCE)
    os.close(ours)
    assert status == 0
    seen = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", b"".join(shown).decode()).replace("\r", "\n")
    assert re.search(r"all runs .*[━╸╺]+ 0/2 .* left", seen)
    assert re.search(r"all runs .* 2/2 ", seen)
    assert re.search(r"LieBN-LCM\(1\), seed 0 .* epoch \d+/150 [-:0-9]+ left loss \d\.\d+", seen)
    assert re.search(r"^\[bold\]x\[/red\], seed 0: \d+\.\d\d %", seen, re.M)
    assert "[1/2" not in out  # no lines beside the bars
    assert "A few radar signals" in out


def test_an_interrupt_ends_a_sweep_with_a_word(tmp_path):
    protocol = small.file(tmp_path, ("max_epochs = 2\n", "max_epochs = 5000\n"))
    results = tmp_path / "results"
    process = small.start("reproduce", protocol, "--results", results)
    try:
        wait_for(lambda: list((results / "records").glob(".*.lock")), process)
        process.send_signal(signal.SIGINT)
        out = process.communicate(timeout=PATIENCE)[0]
    finally:
        process.kill()
    assert process.returncode == 130
    assert out.splitlines() == ["liebn: interrupted"]
    assert not list((results / "records").glob(".*.lock"))
