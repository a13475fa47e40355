"""SPDNet as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from liebn.estimators.network_classifier import Floats, NetworkClassifier
from liebn.models import Network, Norm, SPDNet, SPDNorm

ASYMMETRY = 1e-5
"""Largest |X - Xᵀ| over |X| of a matrix that still counts as symmetric, such as one in float32."""
NEGATIVE = 1e-8
"""Depth of an eigenvalue below zero, over |X|, that still counts as rounding."""


class SPDNetClassifier(NetworkClassifier):
    """SPDNet on arrays of symmetric positive definite matrices, (samples, n, n), in float64.

    Args:
        sizes: of the matrices at the input and after each BiMap; (n, ⌈n / 2⌉) by default.
        norm: the metric of `LieBatchNorm`, a name that `groups.spd` knows; or a callable that makes
            the normalization layer for a given size, such as `models.SPDNorm(...)` or a class of
            `nn.baselines`; or None.
        theta: the power deformation of the metric; a callable norm takes no notice of it.
        max_epochs: how many.
        batch_size: samples in a batch.
        lr: the learning rate.
        optimizer: "amsgrad", "adam" or "sgd", Riemannian.
        weight_decay: for parameters that are not on a manifold.
        train_split: skorch's, None for no validation.
        callbacks: skorch's.
        device: where to train.
        verbose: 1 prints a line each epoch.
        random_state: seeds initialisation and shuffling.
    """

    def __init__(
        self,
        sizes: Sequence[int] | None = None,
        norm: str | Norm | None = "aim",
        theta: float = 1.0,
        max_epochs: int = 200,
        batch_size: int = 30,
        lr: float = 5e-3,
        optimizer: str = "amsgrad",
        weight_decay: float = 0.0,
        train_split: Any = None,
        callbacks: Any = None,
        device: str = "cpu",
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.sizes = sizes
        self.norm = norm
        self.theta = theta
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.lr = lr
        self.optimizer = optimizer
        self.weight_decay = weight_decay
        self.train_split = train_split
        self.callbacks = callbacks
        self.device = device
        self.verbose = verbose
        self.random_state = random_state

    def _points(self, X: Any, *, reset: bool) -> Floats:
        points = self._array(X, np.float64, reset=reset)
        if points.ndim != 3 or points.shape[-1] != points.shape[-2]:
            raise ValueError(
                f"expected matrices (samples, n, n), got shape {points.shape}; "
                "pyriemann's Covariances makes them of signals"
            )
        self._require_shape(points.shape[1:], reset=reset)
        _require_symmetric(points)
        if reset:
            _require_no_negative_eigenvalue(points)
        return points

    def _network(self, points: Floats) -> tuple[type[Network], dict[str, Any]]:
        n = points.shape[-1]
        sizes = (n, -(-n // 2)) if self.sizes is None else tuple(self.sizes)
        if sizes[0] != n:
            raise ValueError(
                f"expected sizes that begin with {n}, the size of the matrices, got {sizes}"
            )
        norm = self.norm
        if isinstance(norm, str):  # the optimisers are geoopt's
            norm = SPDNorm(norm, self.theta, bias="manifold")
        return SPDNet, {"sizes": sizes, "norm": norm, "dtype": torch.float64}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags


def _require_symmetric(points: Floats) -> None:
    size = np.abs(points).max((-2, -1))
    off = np.abs(points - points.swapaxes(-1, -2)).max((-2, -1))
    bad = off > ASYMMETRY * size
    if bad.any():
        worst = int(bad.argmax())
        raise ValueError(
            f"expected symmetric matrices, got sample {worst} with |X - Xᵀ| = {off[worst]:.3g}; "
            "symmetrise it, or use a covariance"
        )


def _require_no_negative_eigenvalue(points: Floats) -> None:
    eigenvalues = np.linalg.eigvalsh(points)
    bad = eigenvalues[:, 0] < -NEGATIVE * np.abs(eigenvalues).max(-1)
    if bad.any():
        worst = int(bad.argmax())
        raise ValueError(
            f"expected positive definite matrices, got sample {worst} with the eigenvalue "
            f"{eigenvalues[worst, 0]:.3g}; shrink it towards the identity"
        )
