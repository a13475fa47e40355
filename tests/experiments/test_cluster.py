"""Sweeps on a Dask cluster: a scheduler and two workers, as `dask` starts them, on the loopback."""

import json
import os
import subprocess
import sys
import time

import pytest

from tests.experiments import small

pytestmark = pytest.mark.distributed
distributed = pytest.importorskip("distributed")

PATIENCE = 300


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory, shared_cache):
    """The address of a scheduler with two workers."""
    folder = tmp_path_factory.mktemp("dask")
    said = folder / "scheduler.json"
    places = dict.fromkeys(("XDG_CACHE_HOME", "LOCALAPPDATA", "HOME"), str(shared_cache))
    here = ["--host", "127.0.0.1", "--no-dashboard"]
    lines = [
        ["scheduler", *here, "--port", "0", "--scheduler-file", said],
        *2 * [["worker", *here, "--scheduler-file", said, "--nthreads", "1", "--no-nanny"]],
    ]
    with (folder / "log").open("w") as log:
        processes = [
            subprocess.Popen(
                [sys.executable, "-m", "dask", *map(str, line)],
                cwd=folder, env=os.environ | places, stdout=log, stderr=subprocess.STDOUT,
            )
            for line in lines
        ]  # fmt: skip
    try:
        deadline = time.monotonic() + PATIENCE
        while not said.exists() and time.monotonic() < deadline:
            assert all(p.poll() is None for p in processes), (folder / "log").read_text()
            time.sleep(0.05)
        address = json.loads(said.read_text())["address"]
        with distributed.Client(address) as client:
            client.wait_for_workers(2, timeout=PATIENCE)
        yield address
    finally:
        for process in processes:
            process.kill()
            process.wait()


def test_a_cluster_gives_the_records_of_one_process(scheduler, command, tmp_path):
    assert scheduler.startswith("tcp://127.0.0.1:")
    protocol = small.file(tmp_path)
    command("reproduce", protocol, "--results", tmp_path / "here")
    there = ("--results", tmp_path / "there", "--cluster", scheduler)
    status, out, err = command("reproduce", protocol, *there)
    assert (status, err) == (0, "")
    assert out.count(" left] ") == 6
    ours, theirs = small.records(tmp_path / "here"), small.records(tmp_path / "there")
    assert len(theirs) == 6
    assert ours.keys() == theirs.keys()
    for key, record in ours.items():
        assert small.without_times(theirs[key]) == small.without_times(record)


@pytest.mark.parametrize("address", ["127.0.0.1:1", "nonsense", "ftp://127.0.0.1:1"])
def test_no_scheduler_gives_one_line(address, command, tmp_path, monkeypatch):
    monkeypatch.setattr("liebn.experiments.sweep.CONNECT_SECONDS", 1)
    line = ("reproduce", small.file(tmp_path), "--results", tmp_path / "r", "--cluster", address)
    status, out, err = command(*line)
    assert (status, out) == (1, "")
    assert err.startswith(f"liebn: no Dask scheduler at {address} (")
    assert err.endswith("; start one with  dask scheduler\n")
    assert err.count("\n") == 1


def test_without_dask_a_line_says_what_to_install(command, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    line = ("reproduce", small.file(tmp_path), "--results", tmp_path / "r", "--cluster", "a:1")
    status, _, err = command(*line)
    assert status == 1
    assert err == "liebn: --cluster needs Dask: run  pip install 'liebn[cluster]'\n"
