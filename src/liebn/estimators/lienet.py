"""LieNet as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from liebn.estimators.network_classifier import Floats, NetworkClassifier
from liebn.models import LieNet, Network, Norm, RotationNorm

DEVIATION = 1e-3
"""Largest entry of |RᵀR - I| of a matrix that still counts as a rotation: data may be rounded."""


class LieNetClassifier(NetworkClassifier):
    """LieNet on sequences of rotations, (samples, locations, time, 3, 3), in float32.

    Args:
        blocks: of RotMap and pooling.
        pooling: over how many frames each block but the first pools.
        norm: "so", `LieBatchNorm` on rotations with a mean for each location; or a callable that
            makes the layer for a given number of locations, such as `models.RotationNorm(...)`; or
            None.
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
        blocks: int = 3,
        pooling: int = 4,
        norm: str | Norm | None = "so",
        max_epochs: int = 200,
        batch_size: int = 30,
        lr: float = 1e-2,
        optimizer: str = "sgd",
        weight_decay: float = 1e-5,
        train_split: Any = None,
        callbacks: Any = None,
        device: str = "cpu",
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.blocks = blocks
        self.pooling = pooling
        self.norm = norm
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
        points = self._array(X, np.float32, reset=reset)
        if points.ndim != 5 or points.shape[-2:] != (3, 3):
            raise ValueError(
                f"expected rotations (samples, locations, time, 3, 3), got shape {points.shape}"
            )
        self._require_shape(points.shape[1:], reset=reset)
        self._require_rotations(points)
        return points

    @staticmethod
    def _require_rotations(points: Floats) -> None:
        x = torch.from_numpy(points)
        off = (x.mT @ x - torch.eye(3)).abs().amax((-2, -1))
        # The determinant of an orthogonal matrix is near 1 or -1.
        bad = (off > DEVIATION) | (torch.linalg.det(x) < 0)
        if bool(bad.any()):
            sample, location, frame = (int(i) for i in bad.nonzero()[0])
            raise ValueError(
                f"expected rotations, got none in sample {sample}, location {location}, "
                f"frame {frame}; groups.SO(3).project gives the nearest"
            )

    def _network(self, points: Floats) -> tuple[type[Network], dict[str, Any]]:
        if isinstance(self.norm, str) and self.norm != "so":
            raise ValueError(f"expected the norm 'so', a callable or None, got {self.norm!r}")
        return LieNet, {
            "locations": points.shape[1],
            "frames": points.shape[2],
            # The optimisers are geoopt's.
            "norm": RotationNorm(bias="manifold") if isinstance(self.norm, str) else self.norm,
            "blocks": self.blocks,
            "pooling": self.pooling,
            "dtype": torch.float32,
        }
