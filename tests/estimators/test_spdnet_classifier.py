"""SPDNetClassifier among scikit-learn's and pyRiemann's tools."""

import pickle

import numpy as np
import pytest
import torch
from pyriemann.estimation import Covariances
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from skorch.callbacks import Callback, Checkpoint
from skorch.dataset import ValidSplit

from liebn.estimators import SPDNetClassifier
from liebn.models import SPDNet, SPDNorm, load, save
from liebn.nn.baselines import SPDNetBN
from tests.models import problems

QUICK = {"max_epochs": 8, "lr": 0.03, "random_state": 0}


@pytest.fixture(scope="module")
def data():
    x, labels = problems.matrices(0, samples=90)
    return x.numpy(), np.array(["rest", "left", "right"])[labels.numpy()]


@pytest.fixture(scope="module")
def fitted(data):
    return SPDNetClassifier(norm="lem", **QUICK).fit(*data)


def test_it_learns_classes_by_name(data, fitted):
    x, y = data
    assert fitted.score(x, y) > 0.95
    assert set(fitted.predict(x)) == {"rest", "left", "right"}
    assert fitted.classes_.tolist() == ["left", "rest", "right"]
    np.testing.assert_allclose(fitted.predict_proba(x).sum(1), 1)
    history = fitted.net_.history[:, "train_loss"]
    assert len(history) == 8
    assert history[-1] < 0.5 * history[0]


def test_the_same_seed_gives_the_same_model_and_leaves_torchs_generator_alone(data, fitted):
    x, y = data
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    again = clone(fitted).fit(x, y)
    assert torch.equal(torch.rand(3), expected)
    np.testing.assert_array_equal(again.predict_proba(x), fitted.predict_proba(x))
    other = clone(fitted).set_params(random_state=1).fit(x, y)
    assert np.abs(other.predict_proba(x) - fitted.predict_proba(x)).max() > 1e-3


def test_it_is_pickled(data, fitted):
    other = pickle.loads(pickle.dumps(fitted))  # noqa: S301
    np.testing.assert_array_equal(other.predict_proba(data[0]), fitted.predict_proba(data[0]))


def test_its_network_is_saved_and_loaded(data, fitted, tmp_path):
    save(fitted.network_, tmp_path / "network.pt")
    network = load(tmp_path / "network.pt")
    assert isinstance(network, SPDNet)
    probabilities = network(torch.from_numpy(data[0])).softmax(-1)
    np.testing.assert_array_equal(probabilities.detach().numpy(), fitted.predict_proba(data[0]))


def test_a_pipeline_after_covariances():
    generator = np.random.default_rng(0)
    y = np.arange(60) % 2
    signals = generator.standard_normal((60, 4, 50))
    signals[y == 1, 0] *= 3
    pipeline = make_pipeline(Covariances("oas"), SPDNetClassifier(norm="lcm", **QUICK))
    assert cross_val_score(pipeline, signals, y, cv=3).min() > 0.9


def test_a_grid_search_over_metric_and_theta(data):
    x, y = data
    grid = {"norm": ["aim", "lcm"], "theta": [0.5, 1.0]}
    search = GridSearchCV(
        SPDNetClassifier(**QUICK).set_params(max_epochs=3), grid, cv=2, error_score="raise"
    )
    search.fit(x, y)
    assert search.best_score_ > 0.6
    norm = search.best_estimator_.network_.arguments["norm"]
    metric, theta = search.best_params_["norm"], search.best_params_["theta"]
    assert norm == SPDNorm(metric, theta, bias="manifold")
    # Every member of the grid is another model.
    assert len(set(search.cv_results_["mean_test_score"])) > 1


@pytest.mark.parametrize(
    "norm, kind",
    [(None, None), (SPDNetBN, SPDNetBN), (SPDNorm("lem", statistics="fast"), None)],
    ids=["none", "baseline", "recipe"],
)
def test_the_norm_may_be_none_or_a_callable(norm, kind, data):
    classifier = SPDNetClassifier(norm=norm, **QUICK).set_params(max_epochs=2).fit(*data)
    assert classifier.network_.arguments["norm"] == norm
    if kind is not None:
        assert isinstance(classifier.network_.layers[1], kind)


def test_sizes(data, fitted):
    assert fitted.network_.arguments["sizes"] == [8, 4]
    deeper = SPDNetClassifier(sizes=[8, 6, 3], norm=None, max_epochs=1).fit(*data)
    assert deeper.network_.layers[-1].weight.shape == (6, 3)
    with pytest.raises(ValueError, match="sizes that begin with 8"):
        SPDNetClassifier(sizes=[9, 6]).fit(*data)


def test_skorch_gives_validation_callbacks_and_checkpoints(data, tmp_path):
    class Count(Callback):
        batches = 0

        def on_batch_end(self, net, training, **_):
            self.batches += training

    count = Count()
    classifier = SPDNetClassifier(
        norm=None,
        max_epochs=2,
        random_state=0,
        train_split=ValidSplit(3, stratified=True),
        callbacks=[count, Checkpoint(monitor="valid_acc_best", dirname=str(tmp_path))],
    ).fit(*data)
    assert count.batches == 2 * 2  # two epochs of 60 samples in batches of 30
    assert len(classifier.net_.history[:, "valid_acc"]) == 2
    assert (tmp_path / "params.pt").exists()


def test_progress_is_printed_if_asked_for(data, capsys):
    SPDNetClassifier(norm=None, max_epochs=1, verbose=1).fit(*data)
    assert "train_loss" in capsys.readouterr().out


def test_decay_spares_the_manifold(data):
    classifier = SPDNetClassifier(norm="lem", max_epochs=1, weight_decay=0.1).fit(*data)
    decayed, free = classifier.net_.optimizer_.param_groups
    assert (decayed["weight_decay"], free["weight_decay"]) == (0.1, 0.0)
    assert len(free["params"]) == 2  # the BiMap and the bias


@pytest.mark.parametrize("optimizer", ["amsgrad", "adam", "sgd"])
def test_every_optimizer(optimizer, data):
    classifier = SPDNetClassifier(norm="lcm", **QUICK).set_params(optimizer=optimizer, lr=0.03)
    classifier.fit(*data)
    history = classifier.net_.history[:, "train_loss"]
    assert history[-1] < 0.95 * history[0]


def test_an_unknown_optimizer_is_refused(data):
    with pytest.raises(ValueError, match="amsgrad, adam, sgd, got 'newton'"):
        SPDNetClassifier(optimizer="newton").fit(*data)


def test_an_unknown_metric_is_refused(data):
    with pytest.raises(ValueError, match="unknown metric 'euclid'"):
        SPDNetClassifier(norm="euclid").fit(*data)


@pytest.mark.parametrize(
    "spoil, message",
    [
        (lambda x: x[:, :, :7], r"expected matrices \(samples, n, n\), got shape \(90, 8, 7\)"),
        (lambda x: x + np.triu(np.ones((8, 8))) * (np.arange(90) == 3)[:, None, None], "sample 3"),
        (lambda x: x - 9 * np.eye(8) * (np.arange(90) == 4)[:, None, None], "sample 4 .* shrink"),
        (lambda x: np.where(x > x.max() - 1e-9, np.nan, x), "NaN"),
    ],
)
def test_bad_matrices_are_refused(spoil, message, data):
    x, y = data
    with pytest.raises(ValueError, match=message):
        SPDNetClassifier().fit(spoil(x), y)


def test_labels_are_checked(data):
    x, y = data
    with pytest.raises(ValueError, match="one label of each of 90 samples, got 80"):
        SPDNetClassifier().fit(x, y[:80])
    with pytest.raises(ValueError, match="two classes"):
        SPDNetClassifier().fit(x, np.ones(90))


def test_matrices_of_another_size_are_refused_in_prediction(fitted):
    with pytest.raises(ValueError, match=r"shape \(8, 8\), as in fitting, got \(5, 5\)"):
        fitted.predict(np.eye(5)[None])
