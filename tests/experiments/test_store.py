"""The folder of records: whole files or none, and one holder of each run."""

import json
import multiprocessing

import pytest

from liebn.experiments.errors import ExperimentError
from liebn.experiments.store import FORMAT, Store

CONFIGURATION = {"experiment": "one", "method": "a", "lr": 0.1}
KEY = "0123456789abcdef0123"
RECORD = {"format": FORMAT, "key": KEY, "configuration": CONFIGURATION, "score": 1 / 3}


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results")


def test_what_is_written_is_read(store):
    assert store.read("one", KEY) is None
    assert list(store.records("one")) == []
    path = store.write(RECORD)
    assert path == store.root / "records" / "one" / f"{KEY}.json"
    assert store.read("one", KEY) == RECORD
    assert list(store.records("one")) == [RECORD]
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_a_record_that_cannot_be_written_leaves_the_old_one(store, monkeypatch):
    path = store.write(RECORD)
    with pytest.raises(ValueError, match="Out of range"):
        store.write(RECORD | {"score": float("nan")})

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        store.write(RECORD | {"score": 0.5})
    assert store.read("one", KEY) == RECORD
    assert [p.name for p in path.parent.iterdir()] == [path.name]


BROKEN = {
    "truncated": json.dumps(RECORD)[:-9],
    "empty": "",
    "null": "null",
    "list": "[]",
    "other key": json.dumps(RECORD | {"key": "0" * 20}),
    "other format": json.dumps(RECORD | {"format": 99}),
    "depth": "[" * 100_000,
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_record_is_named(case, store):
    path = store.write(RECORD)
    path.write_text(BROKEN[case])
    with pytest.raises(ExperimentError) as caught:
        store.find(CONFIGURATION, KEY)
    message = str(caught.value)
    assert message.startswith(f"{path}: expected a record, got ")
    assert message.endswith("; remove the file, and the run is made again")
    assert "\n" not in message


def test_the_record_of_another_experiment_is_taken_over(store):
    store.write(RECORD)
    wanted = CONFIGURATION | {"experiment": "two", "method": "b"}
    assert store.find(wanted, "0" * 20) is None
    assert store.find(wanted, KEY) == RECORD | {"configuration": wanted}
    assert store.read("two", KEY) == RECORD | {"configuration": wanted}
    assert store.read("one", KEY) == RECORD


def test_a_new_name_of_a_method_reaches_its_record(store):
    store.write(RECORD)
    renamed = CONFIGURATION | {"method": "b"}
    store.find(renamed, KEY)
    assert store.read("one", KEY)["configuration"] == renamed


def hold(root, key, ready, leave):
    claim = Store(root).claim(key)
    ready.send(claim is not None)
    leave.recv()


def test_a_run_is_claimed_once_and_the_dead_hold_nothing(store):
    claim = store.claim(KEY)
    assert claim is not None
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    stay, left = context.Pipe()

    def other():
        process = context.Process(target=hold, args=(store.root, KEY, there, left))
        process.start()
        return process, here.recv()

    process, got = other()
    assert not got
    stay.send(None)
    process.join()

    claim.release()
    process, got = other()
    assert got
    assert store.claim(KEY) is None
    process.kill()
    process.join()
    again = store.claim(KEY)
    assert again is not None
    again.release()
    assert not any(p.suffix == ".lock" for p in (store.root / "records").iterdir())


def test_a_claim_on_a_file_that_its_holder_has_just_removed_fails(store, monkeypatch):
    first = store.claim(KEY)
    flock = __import__("fcntl").flock

    def released_meanwhile(file, how):
        first.release()
        flock(file, how)

    monkeypatch.setattr("liebn.experiments.store.fcntl.flock", released_meanwhile)
    assert store.claim(KEY) is None


def test_without_locks_every_claim_succeeds(store, monkeypatch):
    monkeypatch.setattr("liebn.experiments.store.fcntl", None)
    claims = [store.claim(KEY), store.claim(KEY)]
    for claim in claims:
        claim.release()
