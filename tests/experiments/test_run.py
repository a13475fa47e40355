"""One run: its record, and that the same configuration gives the same record."""

import json
import re

import numpy as np
import pytest
import torch
from skorch import NeuralNetClassifier

from liebn.experiments.run import LAST_EPOCHS, run
from liebn.experiments.scores import confusion, scores
from liebn.experiments.watch import EVERY, DivergedError, Epoch, Watch
from tests.experiments import small

OPTIMIZERS = ("sgd", "amsgrad")
METHODS = {"none": 0, "lcm": 1, "aim": 2}


def configuration(method="lcm", **changes):
    return small.runs()[METHODS[method]] | changes


def test_a_record_is_json_and_says_what_was_run():
    configured = configuration()
    record = run(configured)
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert record["configuration"] == configured
    assert record["status"] == "finished"
    assert record["reason"] is None
    assert record["simulated"] is True
    assert record["samples"] == {"train": 12, "test": 6}
    assert np.sum(record["confusion"]) == 6
    assert record["score"] == record["scores"]["accuracy"]
    assert record["score"] == np.trace(record["confusion"]) / 6
    assert record["environment"]["torch"] == torch.__version__


@pytest.mark.parametrize("method", METHODS)
def test_the_same_configuration_gives_the_same_bits(method):
    first = run(configuration(method))
    torch.rand(3)  # whatever else draws random numbers
    second = run(configuration(method))
    assert small.without_times(first) == small.without_times(second)
    other = run(configuration(method, seed=1, split="seed 1"))
    assert other["history"]["train_loss"] != first["history"]["train_loss"]


def test_watching_a_run_does_not_change_it():
    """Looking at the test part, every tenth epoch, and telling listeners, draws no numbers."""
    epochs = EVERY + 2
    told: list[Epoch] = []
    watched = run(configuration(max_epochs=epochs), listeners=[told.append])
    looked = [n + 1 for n, s in enumerate(watched["history"]["test_score"]) if s is not None]
    assert looked == [EVERY, epochs]
    assert [epoch.number for epoch in told] == list(range(1, epochs + 1))
    assert [epoch.train_loss for epoch in told] == watched["history"]["train_loss"]
    assert told[-1].test_score == watched["score"]
    short = run(configuration(max_epochs=EVERY - 1))
    assert short["history"]["train_loss"] == watched["history"]["train_loss"][: EVERY - 1]
    seconds = watched["history"]["seconds"]
    assert watched["fit_seconds"] == pytest.approx(np.mean(seconds[-LAST_EPOCHS:]))


def test_a_run_leaves_the_process_as_it_was():
    before, threads = torch.get_rng_state(), torch.get_num_threads()
    run(configuration())
    assert torch.equal(before, torch.get_rng_state())
    assert torch.get_num_threads() == threads


@pytest.mark.parametrize(
    "method, optimizer", [("none", "sgd"), *((m, o) for m in ("lcm", "aim") for o in OPTIMIZERS)]
)
def test_a_run_that_diverges_is_recorded_with_its_reason(method, optimizer):
    """The loss overflows, or a layer or the optimiser finds that weights did."""
    record = run(configuration(method, lr=1e200, optimizer=optimizer, max_epochs=30))
    assert record["status"] == "diverged", record["reason"]
    assert re.match(
        r"after \d+ batches (InvalidPointError: |.*linalg\.)|the loss is", record["reason"]
    )
    assert record["score"] is None
    assert record["confusion"] is None
    assert len(record["history"]["train_loss"]) < 30
    json.dumps(record, allow_nan=False)


def test_a_loss_that_is_not_finite_stops_the_run():
    watch = Watch(5, "accuracy", [])
    net = NeuralNetClassifier(
        torch.nn.Linear, module__in_features=2, module__out_features=2, callbacks=[watch],
        criterion=torch.nn.CrossEntropyLoss, train_split=None, verbose=0, max_epochs=5,
    )  # fmt: skip
    with pytest.raises(DivergedError, match="the loss is nan in epoch 1"):
        net.fit(np.full((4, 2), np.nan, dtype=np.float32), np.array([0, 1, 0, 1]))
    assert watch.losses == []


def test_a_run_that_fails_is_recorded_with_its_reason():
    record = run(configuration(network_options={"sizes": [19, 6]}))
    assert record["status"] == "failed"
    assert record["reason"].startswith("ValueError: expected sizes that begin with 20")
    assert record["score"] is None
    assert record["fit_seconds"] is None


def test_a_listener_that_fails_is_the_failure_of_the_run():
    def full_disk(epoch):
        raise OSError("no space left")

    record = run(configuration(), listeners=[full_disk])
    assert (record["status"], record["reason"]) == ("failed", "OSError: no space left")


def test_scores_by_hand():
    table = confusion(np.array([0, 0, 0, 1, 1, 3]), np.array([0, 0, 1, 1, 0, 3]), 4)
    assert table.tolist() == [[2, 1, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]]
    assert scores(table) == {
        "accuracy": pytest.approx(4 / 6),
        "balanced_accuracy": pytest.approx((2 / 3 + 1 / 2 + 1) / 3),  # no sample is of class 2
    }
