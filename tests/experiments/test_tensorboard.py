"""What TensorBoard is given, read back from its files; and what is said without it."""

import sys

import pytest

from liebn.experiments.errors import ExperimentError
from liebn.experiments.listeners import Post, read_posts, require_tensorboard
from liebn.experiments.watch import Epoch
from tests.experiments import small


def test_events_are_the_history_of_the_record(command, tmp_path):
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    protocol = small.file(tmp_path, ("max_epochs = 2\n", "max_epochs = 11\n"))
    line = ("reproduce", protocol, "--seeds", "1", "--methods", "LieBN-LCM(1)")
    board = tmp_path / "board"
    status, _, err = command(*line, "--results", tmp_path / "results", "--tensorboard", board)
    assert (status, err) == (0, "")
    folder = board / "small" / "LieBN-LCM(1)" / "seed-0" / "seed-0"  # method, split, seed
    events = reader.EventAccumulator(str(folder)).Reload()
    assert set(events.Tags()["scalars"]) == {"train loss", "seconds", "test score"}
    (record,) = small.records(tmp_path / "results").values()
    history = record["history"]
    for tag, name in (("train loss", "train_loss"), ("test score", "test_score")):
        values = {e.step: e.value for e in events.Scalars(tag)}
        kept = {n: v for n, v in enumerate(history[name], start=1) if v is not None}
        assert values == pytest.approx(kept, rel=1e-6)  # it keeps float32
    assert list(kept) == [10, 11]


def test_without_tensorboard_a_line_says_what_to_install(command, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(ExperimentError, match=r"run  pip install 'liebn\[tensorboard\]'"):
        require_tensorboard()
    results = tmp_path / "results"
    line = ("reproduce", small.file(tmp_path), "--results", results, "--tensorboard", tmp_path)
    status, out, err = command(*line)
    assert (status, out) == (1, "")
    assert err == "liebn: --tensorboard needs TensorBoard: run  pip install 'liebn[tensorboard]'\n"
    assert not results.exists()


def test_posts_are_the_last_epochs(tmp_path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr("liebn.experiments.listeners.time.monotonic", lambda: now[0])
    post = Post(tmp_path / "key.json")
    epochs = [Epoch(n, 3, 0.5 / n, 0.1, None) for n in (1, 2, 3)]
    post(epochs[0])
    post(epochs[1])  # too soon to be written
    assert read_posts(tmp_path) == {"key": epochs[0]}
    now[0] += 1
    post(epochs[2])
    assert read_posts(tmp_path) == {"key": epochs[2]}
    (tmp_path / "torn.json").write_text('{"number": 1')
    assert read_posts(tmp_path) == {"key": epochs[2]}
    assert read_posts(tmp_path / "gone") == {}
    Post(tmp_path / "gone" / "key.json")(epochs[0])  # the sweep and its folder have ended
