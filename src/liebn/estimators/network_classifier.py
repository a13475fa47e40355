"""What the estimators share."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.preprocessing import LabelEncoder
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from liebn.estimators.trainer import Trainer, optimizer_options, seeded
from liebn.models import Network, Norm

Floats = NDArray[np.floating[Any]]


class NetworkClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # no types there
    """A network of `liebn.models` as a scikit-learn classifier.

    A subclass stores its parameters and defines `_points` and `_network`.

    Attributes:
        classes_: the class labels.
        shape_in_: the shape of a point, as far as all points must have the same.
        net_: skorch's net, with its history.
    """

    norm: str | Norm | None
    max_epochs: int
    batch_size: int
    lr: float
    optimizer: str
    weight_decay: float
    train_split: Any
    callbacks: Any
    device: str
    verbose: int
    random_state: Any

    @abstractmethod
    def _points(self, X: Any, *, reset: bool) -> Floats:
        """The data, checked; `reset` in fitting, where its sizes are to be remembered."""

    @abstractmethod
    def _network(self, points: Floats) -> tuple[type[Network], dict[str, Any]]:
        """The network for these data: its class, and all arguments but the number of classes."""

    def fit(self, X: Any, y: Any) -> NetworkClassifier:
        """Train the network from scratch.

        Args:
            X: the points, (samples, ...).
            y: the class of each.
        """
        points = self._points(X, reset=True)
        self._train(points, points, self._labels(y, len(points)), Trainer)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class, (samples, classes)."""
        check_is_fitted(self)
        return self._probabilities(self._points(X, reset=False))

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each sample, (samples,)."""
        best = self.predict_proba(X).argmax(1)
        labels: NDArray[Any] = self.classes_[best]
        return labels

    @property
    def network_(self) -> Network:
        """The trained network, for `liebn.models.save` for example."""
        check_is_fitted(self)
        network: Network = self.net_.module_
        return network

    def _labels(self, y: Any, samples: int) -> NDArray[np.int64]:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        if len(y) != samples:
            raise ValueError(f"expected one label of each of {samples} samples, got {len(y)}")
        encoder = LabelEncoder()
        labels: NDArray[np.int64] = encoder.fit_transform(y).astype(np.int64)
        self.classes_ = encoder.classes_
        if len(self.classes_) < 2:
            raise ValueError("expected at least two classes, got one class")
        return labels

    def _train(
        self,
        points: Floats,
        inputs: Any,
        labels: NDArray[np.int64],
        trainer: type[Trainer],
        **options: Any,
    ) -> None:
        """Train on `inputs`, which is what the network takes, points with something beside them."""
        module, arguments = self._network(points)
        arguments["classes"] = len(self.classes_)
        options |= {f"module__{name}": value for name, value in arguments.items()}
        with seeded(self.random_state, self.device):
            self.net_ = trainer(
                module,
                max_epochs=self.max_epochs,
                batch_size=self.batch_size,
                lr=self.lr,
                **optimizer_options(self.optimizer),
                optimizer__weight_decay=self.weight_decay,
                iterator_train__shuffle=True,
                train_split=self.train_split,
                callbacks=self.callbacks,
                device=self.device,
                verbose=self.verbose,
                **options,
            )
            self.net_.fit(inputs, labels)

    def _probabilities(self, inputs: Any) -> Floats:
        probabilities: Floats = self.net_.predict_proba(inputs)
        return probabilities

    def _array(self, X: Any, dtype: type, *, reset: bool) -> Floats:
        """X as an array of any dimension, with scikit-learn's checks of everything else."""
        points: Floats = validate_data(
            self, X, reset=reset, dtype=dtype, ensure_2d=False, allow_nd=True
        )
        return points

    def _require_shape(self, shape: tuple[int, ...], *, reset: bool) -> None:
        """Remember the shape of a point in fitting, and insist on it in prediction."""
        if reset:
            self.shape_in_ = shape
        elif shape != self.shape_in_:
            raise ValueError(
                f"expected points of shape {self.shape_in_}, as in fitting, got {shape}"
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags
