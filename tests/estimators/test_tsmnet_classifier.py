"""TSMNetClassifier: domains, adaptation to new ones, and scikit-learn's metadata routing."""

import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, LeaveOneGroupOut, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from skorch.dataset import ValidSplit

from liebn.estimators import TSMNetClassifier
from liebn.models import DomainNorm, SPDNorm, load, save
from tests.models import problems

QUICK = {
    "norm": "lem",
    "temporal_kernel": 9,
    "spatial_filters": 6,
    "subspace": 4,
    "max_epochs": 8,
    "momentum_epochs": 6,
    "batch_size": 30,
    "domains_per_batch": 3,
    "lr": 0.03,
    "random_state": 0,
}


@pytest.fixture(scope="module")
def data():
    """Two classes in four domains, named."""
    x, labels, domains = problems.signals(0, samples=120, domains=4)
    return x.numpy(), labels.numpy(), np.array(["a1", "a2", "b1", "b2"])[domains.numpy()]


@pytest.fixture(scope="module")
def source(data):
    """A classifier that knows all domains but b2."""
    x, y, domains = data
    known = domains != "b2"
    return TSMNetClassifier(**QUICK).fit(x[known], y[known], domains=domains[known])


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_it_learns_over_domains(data, source):
    x, y, domains = data
    known = domains != "b2"
    assert source.score(x[known], y[known], domains=domains[known]) > 0.9
    assert source.domains_.tolist() == ["a1", "a2", "b1"]
    history = source.net_.history[:, "train_loss"]
    assert history[-1] < 0.6 * history[0]
    # The batches are balanced: 3 domains with 10 samples each, so three batches in an epoch.
    assert len(source.net_.history[0, "batches", :, "train_batch_size"]) == 3


def test_a_new_domain_is_refused_until_adapted_to(data, source):
    x, y, domains = data
    new = domains == "b2"
    with pytest.raises(ValueError, match=r"\['b2'\]; call adapt"):
        source.predict(x[new], domains=domains[new])
    adapted = pickle.loads(pickle.dumps(source)).adapt(x[new], domains[new])  # noqa: S301
    assert adapted.domains_.tolist() == ["a1", "a2", "b1", "b2"]
    assert adapted.score(x[new], y[new], domains=domains[new]) > 0.9
    assert source.domains_.tolist() == ["a1", "a2", "b1"]


def test_adapting_centres_the_new_domain_and_leaves_the_others_alone(data, source):
    x, _, domains = data
    known, new = domains != "b2", domains == "b2"
    adapted = pickle.loads(pickle.dumps(source)).adapt(x[new], domains[new])  # noqa: S301
    before = source.predict_proba(x[known], domains=domains[known])
    np.testing.assert_array_equal(adapted.predict_proba(x[known], domains=domains[known]), before)
    norm = adapted.network_.norm
    z = norm(adapted.network_.features(_tensor(x[new])), 3).detach()
    mean = norm.group.mean(z)
    assert float(norm.group.distance(mean, norm.group.identity().to(mean))) < 1e-6


def _tensor(x):
    import torch

    return torch.from_numpy(x)


def test_the_statistics_of_training_domains_are_those_of_all_their_samples(data, source):
    x, _, domains = data
    norm = source.network_.norm
    for number, name in enumerate(["a1", "a2", "b1"]):
        matrices = source.network_.features(_tensor(x[domains == name])).detach()
        distance = norm.group.distance(norm.group.mean(matrices), norm.running_mean[number])
        assert float(distance) < 1e-5


def test_unseen_domains_may_be_adapted_to_for_the_time_of_a_prediction(data, source):
    x, _, domains = data
    new = domains == "b2"
    lenient = pickle.loads(pickle.dumps(source)).set_params(unseen="adapt")  # noqa: S301
    adapted = pickle.loads(pickle.dumps(source)).adapt(x[new], domains[new])  # noqa: S301
    np.testing.assert_array_equal(
        lenient.predict_proba(x[new], domains[new]), adapted.predict_proba(x[new], domains[new])
    )
    assert lenient.domains_.tolist() == ["a1", "a2", "b1"]


def test_a_failed_adaptation_leaves_no_trace(data):
    x, y, domains = data
    plain = TSMNetClassifier(**QUICK).set_params(norm=SPDNorm("lem"), max_epochs=1)
    plain.fit(x, y, domains=domains)
    with pytest.raises(TypeError, match="DomainNorm"):
        plain.adapt(x, np.full(len(x), "c1"))
    assert "c1" not in plain.domains_
    # Without statistics by domain a new domain is no obstacle.
    plain.predict(x, np.full(len(x), "c1"))


def test_without_domains_all_samples_are_of_one(data):
    x, y, _ = data
    classifier = TSMNetClassifier(**QUICK).set_params(max_epochs=1).fit(x, y)
    assert classifier.domains_.tolist() == [0]
    assert classifier.predict(x).shape == (120,)


def test_it_is_reproducible_cloned_and_pickled(data, source):
    x, y, domains = data
    known = domains != "b2"
    x, y, domains = x[known], y[known], domains[known]
    expected = source.predict_proba(x, domains=domains)
    again = clone(source).fit(x, y, domains=domains)
    np.testing.assert_array_equal(again.predict_proba(x, domains=domains), expected)
    other = pickle.loads(pickle.dumps(source))  # noqa: S301
    np.testing.assert_array_equal(other.predict_proba(x, domains=domains), expected)


def test_its_network_is_saved_and_loaded(data, source, tmp_path):
    import torch

    x, _, domains = data
    known = domains != "b2"
    save(source.network_, tmp_path / "network.pt")
    numbers = torch.from_numpy(np.searchsorted(source.domains_, domains[known]))
    scores = load(tmp_path / "network.pt")(torch.from_numpy(x[known]), numbers)
    np.testing.assert_allclose(
        scores.softmax(-1).detach().numpy(),
        source.predict_proba(x[known], domains=domains[known]),
        rtol=1e-5,  # the convolutions, in float32, are computed in batches of another size
        atol=1e-6,
    )


@pytest.mark.usefixtures("routing")
def test_domains_pass_through_pipelines_and_cross_validation(data):
    x, y, domains = data
    classifier = TSMNetClassifier(unseen="adapt", **QUICK)
    classifier.set_fit_request(domains=True).set_score_request(domains=True)
    pipeline = make_pipeline(
        FunctionTransformer(lambda x: x - x.mean(-1, keepdims=True)), classifier
    )
    scores = cross_val_score(
        pipeline,
        x,
        y,
        cv=LeaveOneGroupOut(),
        params={"domains": domains, "groups": domains},
        error_score="raise",
    )
    assert len(scores) == 4
    assert scores.min() > 0.8


@pytest.mark.usefixtures("routing")
def test_a_grid_search_with_domains(data):
    x, y, domains = data
    classifier = TSMNetClassifier(**QUICK).set_params(max_epochs=2)
    classifier.set_fit_request(domains=True).set_score_request(domains=True)
    grid = {"norm": ["lem", "lcm"], "theta": [0.5, 1.0]}
    search = GridSearchCV(classifier, grid, cv=2, error_score="raise").fit(x, y, domains=domains)
    norm = search.best_estimator_.network_.arguments["norm"]
    expected = (search.best_params_["norm"], search.best_params_["theta"])
    assert (norm.metric, norm.theta) == expected
    assert norm.domains == 4


def test_the_momentum_schedule_runs_with_the_epochs(data):
    x, y, domains = data
    classifier = TSMNetClassifier(**QUICK).set_params(max_epochs=4).fit(x, y, domains=domains)
    norm = classifier.network_.norm
    assert classifier.network_.arguments["norm"] == DomainNorm(4, "lem", schedule=(6, 1 / 3))
    # γ_train(4) = 1 - ρ^((6 - 4) / (6 - 1)) + ρ with ρ = 1/3.
    assert norm.gamma_train == pytest.approx(1 - (1 / 3) ** 0.4 + 1 / 3)


def test_validation_is_on_samples_of_known_domains(data):
    x, y, domains = data
    split = ValidSplit(4, stratified=True)
    classifier = TSMNetClassifier(train_split=split, **QUICK).set_params(max_epochs=3)
    classifier.fit(x, y, domains=domains)
    assert len(classifier.net_.history[:, "valid_acc"]) == 3


def test_signals_may_be_of_another_length_in_prediction_but_not_of_other_channels(data, source):
    x, _, domains = data
    known = domains != "b2"
    assert source.predict(x[known][..., :48], domains=domains[known]).shape == (90,)
    with pytest.raises(ValueError, match=r"shape \(4,\), as in fitting, got \(3,\)"):
        source.predict(x[known][:, :3], domains=domains[known])


@pytest.mark.parametrize(
    "arguments, options, message",
    [
        ((np.zeros((4, 3)), [0, 1] * 2), {}, r"expected signals \(samples, channels, time\)"),
        ((np.zeros((4, 3, 9)), [0, 1] * 2, [1, 2]), {}, "a domain of each of 4 samples, got 2"),
        ((np.zeros((4, 3, 9)), [0, 1] * 2), {"unseen": "ignore"}, "error, adapt, neutral"),
    ],
)
def test_wrong_arguments_are_refused(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        TSMNetClassifier(**options).fit(*arguments)
