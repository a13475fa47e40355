"""scikit-learn's own checks of an estimator.

They feed tables (samples, features), which the estimators refuse, so that scikit-learn runs no
check at all on them. Each check therefore runs on a subclass that turns a table into points of the
right kind, and

- computes in float64, since scikit-learn compares predictions of parts of the data to 1e-7, and
  float32 rounds differently with the size of a batch;
- has a constructor without the type checks that these tests add to the library, since scikit-learn
  tries whether it takes anything.

All else is the estimator's own: parameters, labels, training, prediction, attributes.
"""

import inspect

import numpy as np
import pytest
import torch
from sklearn.utils.estimator_checks import estimator_checks_generator
from sklearn.utils.validation import validate_data

from liebn.estimators import LieNetClassifier, SPDNetClassifier, TSMNetClassifier
from liebn.linalg import rotation


class OnTables:
    """Takes a table where the estimator takes points."""

    def _array(self, X, dtype, *, reset):
        table = validate_data(self, X, reset=reset, dtype=np.float64)
        return self._from_table(np.clip(table, -5, 5))

    def _network(self, points):
        network, arguments = super()._network(points)
        return network, arguments | {"dtype": torch.float64}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        tags.input_tags.three_d_array = False
        return tags


class SPDNetOnTables(OnTables, SPDNetClassifier):
    __init__ = inspect.unwrap(SPDNetClassifier.__init__)

    @staticmethod
    def _from_table(table):
        """A row v becomes I + w wᵀ with w = (1, v)."""
        w = np.pad(table, ((0, 0), (1, 0)), constant_values=1.0)
        return np.eye(w.shape[1]) + w[:, :, None] * w[:, None, :]


class TSMNetOnTables(OnTables, TSMNetClassifier):
    __init__ = inspect.unwrap(TSMNetClassifier.__init__)

    @staticmethod
    def _from_table(table):
        """A row v becomes a channel exp(v_i / 5) sin t for each feature, and one channel more."""
        gain = np.exp(np.pad(table, ((0, 0), (1, 0))) / 5)
        times = np.linspace(0, 20, 40) + np.arange(gain.shape[1])[:, None]
        return gain[:, :, None] * np.sin(times)


class LieNetOnTables(OnTables, LieNetClassifier):
    __init__ = inspect.unwrap(LieNetClassifier.__init__)

    @staticmethod
    def _from_table(table):
        """Each feature v_i becomes a pair of locations turned by v_i / 4, over two frames."""
        vectors = table.repeat(2, axis=1)[:, :, None, None].repeat(2, axis=2) / 4 * [1.0, 0.5, 0.0]
        return rotation.exp(rotation.hat(torch.from_numpy(vectors))).numpy()


ESTIMATORS = [
    SPDNetOnTables(max_epochs=6, lr=0.05, norm="lcm", random_state=0),
    TSMNetOnTables(
        max_epochs=6,
        lr=0.05,
        norm="lcm",
        temporal_kernel=3,
        spatial_filters=4,
        subspace=3,
        random_state=0,
    ),
    LieNetOnTables(max_epochs=5, lr=0.05, optimizer="adam", blocks=1, random_state=0),
]

# What is excused, by estimator and check, and why. A check that is named here has to fail.
EXCUSED: dict[tuple[str, str], str] = {}


def all_checks():
    for estimator in ESTIMATORS:
        name = type(estimator).__name__
        for clone, check in estimator_checks_generator(estimator, legacy=True):
            check_name = getattr(check, "func", check).__name__
            reason = EXCUSED.get((name, check_name))
            marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
            yield pytest.param(clone, check, id=f"{name}-{check_name}", marks=marks)


@pytest.mark.parametrize("estimator, check", list(all_checks()))
def test_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "estimator", [SPDNetClassifier(), TSMNetClassifier(), LieNetClassifier()], ids=repr
)
def test_a_table_is_refused_with_the_shape_that_is_expected(estimator):
    with pytest.raises(
        ValueError, match=r"expected (matrices|signals|rotations) \(samples, .*got shape"
    ):
        estimator.fit(np.ones((6, 4)), [0, 1] * 3)
