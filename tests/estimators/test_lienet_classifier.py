"""LieNetClassifier on sequences of rotations."""

import pickle

import numpy as np
import pytest
import torch
from sklearn.model_selection import cross_val_score

from liebn.estimators import LieNetClassifier
from liebn.models import RotationNorm
from liebn.nn import LieBatchNorm
from tests.models import problems

QUICK = {"blocks": 2, "max_epochs": 6, "lr": 0.05, "optimizer": "adam", "random_state": 0}


@pytest.fixture(scope="module")
def data():
    x, labels = problems.rotations(0, samples=90)
    return x.numpy(), labels.numpy()


def test_it_learns_and_is_reproducible(data):
    classifier = LieNetClassifier(**QUICK).fit(*data)
    assert classifier.score(*data) > 0.9
    assert isinstance(classifier.network_.layers[-1], LieBatchNorm)
    again = LieNetClassifier(**QUICK).fit(*data)
    expected = classifier.predict_proba(data[0])
    np.testing.assert_array_equal(again.predict_proba(data[0]), expected)
    other = pickle.loads(pickle.dumps(classifier))  # noqa: S301
    np.testing.assert_array_equal(other.predict_proba(data[0]), expected)


def test_cross_validation(data):
    assert cross_val_score(LieNetClassifier(norm=None, **QUICK), *data, cv=2).min() > 0.8


def test_the_defaults_are_the_published_ones():
    parameters = LieNetClassifier().get_params()
    expected = {"blocks": 3, "pooling": 4, "optimizer": "sgd", "lr": 1e-2, "weight_decay": 1e-5}
    assert parameters | expected == parameters


def test_the_bias_stays_on_its_manifold(data):
    classifier = LieNetClassifier(**QUICK).fit(*data)
    norm = classifier.network_.layers[-1]
    assert classifier.network_.arguments["norm"] == RotationNorm(bias="manifold")
    assert not torch.equal(norm.bias_point, norm.group.identity().expand_as(norm.bias_point))
    assert float(norm.group.violation(norm.bias_point.detach()).max()) < 1e-5


def test_the_norm_may_be_a_callable(data):
    norm = RotationNorm(momentum=0.5, statistics="fast")
    classifier = LieNetClassifier(norm=norm, **QUICK).set_params(max_epochs=1).fit(*data)
    assert classifier.network_.layers[-1].momentum == 0.5


@pytest.mark.parametrize(
    "spoil, message",
    [
        (lambda x: x[..., 0], r"expected rotations \(samples, locations, time, 3, 3\)"),
        (lambda x: np.where(np.arange(90)[:, None, None, None, None] == 7, -x, x), "sample 7"),
        (lambda x: 1.1 * x, "sample 0, location 0, frame 0"),
    ],
)
def test_what_is_no_rotation_is_refused(spoil, message, data):
    with pytest.raises(ValueError, match=message):
        LieNetClassifier().fit(spoil(data[0]), data[1])


def test_an_unknown_norm_is_refused(data):
    with pytest.raises(ValueError, match="'so'"):
        LieNetClassifier(norm="aim").fit(*data)


def test_sequences_of_another_length_are_refused_in_prediction(data):
    classifier = LieNetClassifier(norm=None, **QUICK).set_params(max_epochs=1).fit(*data)
    with pytest.raises(
        ValueError, match=r"shape \(6, 16, 3, 3\), as in fitting, got \(6, 8, 3, 3\)"
    ):
        classifier.predict(data[0][:, :, :8])
