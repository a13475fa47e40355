"""Sweeps: nothing twice, nothing lost, and no run stops the others."""

import json
import threading
from dataclasses import replace

import pytest
from joblib import Parallel
from joblib.externals.loky.process_executor import BrokenProcessPool

from liebn.experiments import sweep as module
from liebn.experiments.configuration import key_of
from liebn.experiments.display import Lines
from liebn.experiments.errors import ExperimentError
from liebn.experiments.store import Store
from liebn.experiments.sweep import Means, sweep
from tests.experiments import small

MEANS = Means()


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results")


@pytest.fixture
def made(monkeypatch):
    """The keys of the runs that are made, in order."""
    keys = []

    def counted(configuration, *others):
        keys.append(key_of(configuration))
        return task(configuration, *others)

    task = module._task
    monkeypatch.setattr(module, "_task", counted)
    return keys


def test_every_run_is_made_once(store, made):
    runs = small.runs()
    first = sweep(runs, store, MEANS, small.data())
    assert made == [key_of(c) for c in runs]
    assert [r["configuration"] for r in first] == runs
    assert all(r["status"] == "finished" for r in first)
    assert sweep(runs, store, MEANS, small.data()) == first
    assert len(made) == len(runs)


def test_a_sweep_goes_on_where_it_stopped(store, made, capsys):
    runs = small.runs()
    sweep(runs[:4], store, MEANS, small.data())
    del made[:]
    records = sweep(runs, store, MEANS, small.data())
    assert made == [key_of(c) for c in runs[4:]]
    assert [r["key"] for r in records] == [key_of(c) for c in runs]
    assert "4 of 6 runs have a record already" in capsys.readouterr().out


def test_a_table_takes_over_the_runs_of_another(store, made):
    sweep(small.runs(), store, MEANS, small.data())
    del made[:]
    renamed = [c | {"experiment": "other", "method": f"my {c['method']}"} for c in small.runs()]
    records = sweep(renamed, store, MEANS, small.data())
    assert made == []
    assert [r["configuration"] for r in records] == renamed
    assert small.records(store.root).keys() == small.records(store.root, "other").keys()


def bad_runs():
    """One that fails, one that diverges, one that is in order."""
    fails, diverges, good = small.runs(seeds=1)
    fails["network_options"] = {"sizes": [20, 60]}
    return [fails, diverges | {"lr": 1e200}, good]


def test_a_run_that_fails_or_diverges_does_not_stop_the_rest(store, made, capsys):
    records = sweep(bad_runs(), store, MEANS, small.data())
    assert [r["status"] for r in records] == ["failed", "diverged", "finished"]
    assert len(small.records(store.root)) == 3
    lines = capsys.readouterr().out.splitlines()
    assert "SPDNet, seed 0: failed: ValueError: expected 1 ≤ d_out ≤ d_in" in lines[0]
    assert "LieBN-LCM(1), seed 0: diverged: after " in lines[1]
    sweep(bad_runs(), store, MEANS, small.data())
    assert len(made) == 3


def test_retry_makes_runs_again_that_did_not_finish_and_no_others(store, made):
    unfinished = [key_of(c) for c in bad_runs()[:2]]
    sweep(bad_runs(), store, MEANS, small.data())
    again = sweep(bad_runs(), store, replace(MEANS, retry=True), small.data())
    assert made[3:] == unfinished
    assert again[0]["status"] == "failed"
    # What failed for want of something that is there now, such as memory.
    mended = again[0] | {"reason": "MemoryError", "key": key_of(bad_runs()[2])}
    store.write(mended | {"configuration": bad_runs()[2]})
    (record,) = sweep(bad_runs()[2:], store, replace(MEANS, retry=True), small.data())
    assert record["status"] == "finished"


def test_a_broken_record_is_told_before_anything_is_trained(store, made):
    runs = small.runs()
    path = store.path("small", key_of(runs[-1]))
    path.parent.mkdir(parents=True)
    path.write_text('{"format": 1, "key": "')
    with pytest.raises(ExperimentError, match="remove the file, and the run is made again"):
        sweep(runs, store, MEANS, small.data())
    assert made == []


def test_runs_on_simulated_and_on_measured_data_are_kept_apart(store, made):
    runs = small.runs(seeds=1)
    sweep(runs, store, MEANS, small.data())
    measured = replace(small.data(), simulated=False)
    with pytest.raises(ExperimentError, match="of measured data of 3 classes, as they are found"):
        sweep(runs, store, MEANS, measured)
    four = replace(small.data(), classes=("a", "b", "c", "d"))
    with pytest.raises(ExperimentError, match="got one of simulated data of 3 classes; choose"):
        sweep(runs, store, MEANS, four)


def test_a_sweep_waits_for_the_runs_of_another(store, made, monkeypatch, capsys):
    """Another sweep holds a run when this one comes to it; then it is done, or has given up."""
    monkeypatch.setattr(module, "POLL_SECONDS", 0.05)
    runs = small.runs(seeds=1)
    by_other = {key_of(c): store.claim(key_of(c)) for c in runs[:2]}
    waiting = threading.Event()
    monkeypatch.setattr(module.time, "sleep", lambda _: waiting.set())
    found = []
    ours = threading.Thread(target=lambda: found.extend(sweep(runs, store, MEANS, small.data())))
    ours.start()
    assert waiting.wait(300)
    done, given_up = by_other
    record = small.records(store.root)[key_of(runs[2])]
    store.write(record | {"key": done, "configuration": runs[0]})
    for claim in by_other.values():
        claim.release()
    ours.join(300)
    assert made == [key_of(runs[2]), given_up]
    assert [r["key"] for r in found] == [key_of(c) for c in runs]
    assert "waiting for 2 runs that another sweep is making" in capsys.readouterr().out


def test_claims_are_given_back_when_a_sweep_ends_early(store, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        sweep(small.runs(), store, MEANS, small.data())
    store.claim(key_of(small.runs()[0])).release()


def test_processes_give_the_records_that_one_process_gives(store, tmp_path):
    runs = [*small.runs(), *(c | {"experiment": "bad"} for c in bad_runs()[:2])]
    ours = sweep(runs, store, MEANS, small.data())
    other = sweep(runs, Store(tmp_path / "other"), replace(MEANS, jobs=2), small.data())
    assert [small.without_times(r) for r in ours] == [small.without_times(r) for r in other]
    assert json.dumps(ours[0])


class Breaking:
    """joblib's Parallel, whose process for the first run is killed, twice."""

    left = 2

    def __init__(self, **options):
        self.parallel = Parallel(**options)

    def __call__(self, tasks):
        if not Breaking.left:
            return self.parallel(tasks)
        Breaking.left -= 1
        next(tasks)
        raise BrokenProcessPool("killed")


def test_a_process_that_is_killed_costs_its_run_and_no_other(store, made, monkeypatch, capsys):
    """As the system does to a process that takes too much memory."""
    runs = small.runs(seeds=1)
    monkeypatch.setattr(module, "Parallel", Breaking)
    missing = {key_of(c): c for c in runs}
    module._Sweep(missing, store, MEANS, Lines(3, 0), None).make((BrokenProcessPool,))
    assert made == [key_of(c) for c in runs[1:]]
    records = [store.read("small", key_of(c)) for c in runs]
    assert [r["status"] for r in records] == ["failed", "finished", "finished"]
    assert records[0]["reason"] == "its process was killed 2 times, perhaps for want of memory"
    assert records[0].keys() == records[1].keys()
    assert capsys.readouterr().out.count("its runs begin anew") == 2
    assert not list((store.root / "records").glob(".*.lock"))
    again = sweep(runs, store, replace(MEANS, retry=True), small.data())
    assert [r["status"] for r in again] == 3 * ["finished"]
