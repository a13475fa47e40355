"""TSMNet as a scikit-learn estimator, with a domain for each sample."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted, column_or_1d

from liebn.estimators.network_classifier import Floats, NetworkClassifier
from liebn.estimators.trainer import DomainTrainer
from liebn.models import DomainNorm, Network, Norm, TSMNet
from liebn.nn import DomainLieBatchNorm

UNSEEN = "error", "adapt", "neutral"


class TSMNetClassifier(NetworkClassifier):
    """TSMNet on signals, (samples, channels, time), with domain-specific normalization.

    A domain is what shares its statistics: for EEG, one session of one subject. Domains are given
    beside X and y, under any names, and with scikit-learn's metadata routing enabled they pass
    through pipelines and searches:
    `TSMNetClassifier().set_fit_request(domains=True).set_score_request(domains=True)`. Without them
    all samples are of one domain.

    At the end of training, the statistics of each domain are recomputed from all its samples. Those
    of a new domain come from unlabelled data by `adapt`.

    Args:
        norm: the metric of `DomainLieBatchNorm`, a name that `groups.spd` knows; or a callable that
            makes the layer for a given size; or None.
        theta: the power deformation of the metric; a callable norm takes no notice of it.
        temporal_filters: of the first convolution.
        temporal_kernel: its length in time.
        spatial_filters: of the second convolution.
        subspace: the size of the matrices that are normalized.
        max_epochs: how many.
        momentum_epochs: K, at which epoch the share of a batch in the training statistics has
            fallen to one over the domains in a batch.
        batch_size: samples in a batch.
        domains_per_batch: domains in a batch.
        lr: the learning rate.
        optimizer: "amsgrad", "adam" or "sgd", Riemannian.
        weight_decay: for parameters that are not on a manifold.
        unseen: what to do where a domain is asked for that was neither trained nor adapted to:
            "error"; or, for this one time, "adapt" to the samples at hand, or take the "neutral"
            statistics, the identity and the variance 1.
        train_split: skorch's, None for no validation.
        callbacks: skorch's.
        device: where to train.
        verbose: 1 prints a line each epoch.
        random_state: seeds initialisation and batches.

    Attributes:
        domains_: the names of the domains that have statistics.
    """

    def __init__(
        self,
        norm: str | Norm | None = "aim",
        theta: float = 1.0,
        temporal_filters: int = 4,
        temporal_kernel: int = 25,
        spatial_filters: int = 40,
        subspace: int = 20,
        max_epochs: int = 50,
        momentum_epochs: int = 40,
        batch_size: int = 50,
        domains_per_batch: int = 5,
        lr: float = 1e-3,
        optimizer: str = "amsgrad",
        weight_decay: float = 1e-4,
        unseen: str = "error",
        train_split: Any = None,
        callbacks: Any = None,
        device: str = "cpu",
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.norm = norm
        self.theta = theta
        self.temporal_filters = temporal_filters
        self.temporal_kernel = temporal_kernel
        self.spatial_filters = spatial_filters
        self.subspace = subspace
        self.max_epochs = max_epochs
        self.momentum_epochs = momentum_epochs
        self.batch_size = batch_size
        self.domains_per_batch = domains_per_batch
        self.lr = lr
        self.optimizer = optimizer
        self.weight_decay = weight_decay
        self.unseen = unseen
        self.train_split = train_split
        self.callbacks = callbacks
        self.device = device
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Any, y: Any, domains: Any = None) -> TSMNetClassifier:
        """Train the network from scratch.

        Args:
            X: signals, (samples, channels, time).
            y: the class of each.
            domains: the domain of each; one domain by default.
        """
        if self.unseen not in UNSEEN:
            raise ValueError(f"expected unseen {', '.join(UNSEEN)}, got {self.unseen!r}")
        points = self._points(X, reset=True)
        labels = self._labels(y, len(points))
        names = self._names(domains, len(points))
        self.domains_ = np.unique(names)
        numbers = self._numbers(names)
        inputs = {"x": points, "domains": numbers}
        self._train(points, inputs, labels, DomainTrainer, domains_per_batch=self.domains_per_batch)
        if isinstance(self._tsmnet.norm, DomainLieBatchNorm):
            self._refit(points, numbers)
        return self

    def adapt(self, X: Any, domains: Any = None) -> TSMNetClassifier:
        """Give domains, new or known, the statistics of their unlabelled signals.

        Args:
            X: signals, (samples, channels, time).
            domains: the domain of each; one domain by default.
        """
        check_is_fitted(self)
        points = self._points(X, reset=False)
        names = self._names(domains, len(points))
        new = np.setdiff1d(names, self.domains_)
        known = self.domains_
        self.domains_ = np.concatenate([known, new])
        try:
            self._refit(points, self._numbers(names))
        except Exception:
            self.domains_ = known
            raise
        return self

    def predict_proba(self, X: Any, domains: Any = None) -> Floats:
        """The probability of each class, (samples, classes), given the domain of each sample."""
        check_is_fitted(self)
        points = self._points(X, reset=False)
        names = self._names(domains, len(points))
        new = np.isin(names, self.domains_, invert=True)
        if new.any() and isinstance(self._tsmnet.norm, DomainLieBatchNorm):
            if self.unseen == "error":
                raise ValueError(
                    "expected domains that were trained or adapted to, "
                    f"got {np.unique(names[new])}; "
                    "call adapt(X, domains) with their unlabelled data first, or set unseen='adapt'"
                )
            return self._with_new(points[new], names[new]).predict_proba(points, names)
        return self._probabilities({"x": points, "domains": self._numbers(names)})

    def _with_new(self, points: Floats, names: NDArray[Any]) -> TSMNetClassifier:
        """A copy that has statistics of new domains; the network alone is copied in depth."""
        other = copy.copy(self)
        other.net_ = copy.copy(self.net_)
        other.net_.module_ = copy.deepcopy(self.net_.module_)
        if self.unseen == "adapt":
            return other.adapt(points, names)
        norm = other._tsmnet.norm
        assert isinstance(norm, DomainLieBatchNorm)  # noqa: S101
        for domain in np.unique(names):
            norm.add_domain(len(other.domains_))
            other.domains_ = np.append(other.domains_, domain)
        return other

    def predict(self, X: Any, domains: Any = None) -> NDArray[Any]:
        """The most probable class of each sample, (samples,)."""
        best = self.predict_proba(X, domains).argmax(1)
        labels: NDArray[Any] = self.classes_[best]
        return labels

    def score(self, X: Any, y: Any, sample_weight: Any = None, domains: Any = None) -> float:
        """The share of samples whose class is predicted rightly."""
        return float(accuracy_score(y, self.predict(X, domains), sample_weight=sample_weight))

    @property
    def _tsmnet(self) -> TSMNet:
        network = self.network_
        assert isinstance(network, TSMNet)  # noqa: S101
        return network

    def _refit(self, points: Floats, numbers: NDArray[np.int64]) -> None:
        x, domains = (torch.from_numpy(a).to(self.device) for a in (points, numbers))
        self._tsmnet.refit(x, domains)

    def _names(self, domains: Any, samples: int) -> NDArray[Any]:
        if domains is None:
            return np.zeros(samples, dtype=np.int64)
        names: NDArray[Any] = column_or_1d(domains)
        if len(names) != samples:
            raise ValueError(f"expected a domain of each of {samples} samples, got {len(names)}")
        return names

    def _numbers(self, names: NDArray[Any]) -> NDArray[np.int64]:
        """The place of each domain in `domains_`; any for one that has none."""
        order = np.argsort(self.domains_)
        places = np.searchsorted(self.domains_, names, sorter=order)
        return np.asarray(order[places.clip(max=len(order) - 1)], dtype=np.int64)

    def _points(self, X: Any, *, reset: bool) -> Floats:
        points = self._array(X, np.float32, reset=reset)
        if points.ndim != 3:
            raise ValueError(
                f"expected signals (samples, channels, time), got shape {points.shape}"
            )
        self._require_shape(points.shape[1:2], reset=reset)
        return points

    def _network(self, points: Floats) -> tuple[type[Network], dict[str, Any]]:
        norm = self._domain_norm() if isinstance(self.norm, str) else self.norm
        return TSMNet, {
            "channels": points.shape[1],
            "norm": norm,
            "temporal_filters": self.temporal_filters,
            "temporal_kernel": self.temporal_kernel,
            "spatial_filters": self.spatial_filters,
            "subspace": self.subspace,
            "dtype": torch.float32,
        }

    def _domain_norm(self) -> Norm:
        assert isinstance(self.norm, str)  # noqa: S101
        in_batch = min(self.domains_per_batch, len(self.domains_))
        return DomainNorm(
            len(self.domains_),
            self.norm,
            self.theta,
            schedule=(self.momentum_epochs, 1 / in_batch),
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags
