"""The training loop: skorch's, with Riemannian optimisers and momentum schedules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from skorch import NeuralNetClassifier
from skorch.callbacks import Callback
from torch import nn
from torch.utils.data import DataLoader, Subset

from liebn.estimators.batches import DomainBalancedBatches
from liebn.nn import MomentumLieBatchNorm
from liebn.optim import parameter_groups

OPTIMIZERS = "amsgrad", "adam", "sgd"


def optimizer_options(name: str) -> dict[str, Any]:
    """The arguments of skorch's net that choose one of geoopt's optimisers by name."""
    from geoopt.optim import RiemannianAdam, RiemannianSGD

    if name not in OPTIMIZERS:
        raise ValueError(f"expected the optimizer {', '.join(OPTIMIZERS)}, got {name!r}")
    if name == "sgd":
        return {"optimizer": RiemannianSGD}
    return {"optimizer": RiemannianAdam, "optimizer__amsgrad": name == "amsgrad"}


@contextmanager
def seeded(random_state: Any, device: str) -> Iterator[None]:
    """Seed torch by scikit-learn's `random_state`; afterwards its generators are as before."""
    seed = int(check_random_state(random_state).randint(2**31 - 1))
    where = torch.device(device)
    with torch.random.fork_rng([] if where.type == "cpu" else [where]):
        torch.manual_seed(seed)
        yield


class EpochClock(Callback):  # type: ignore[misc]  # skorch ships no types
    """Tells momentum normalization layers which epoch begins."""

    def on_epoch_begin(self, net: Any, **_: Any) -> None:
        """Set the epoch, counted from 1."""
        for layer in net.module_.modules():
            if isinstance(layer, MomentumLieBatchNorm):
                layer.set_epoch(len(net.history))


class Trainer(NeuralNetClassifier):  # type: ignore[misc]
    """skorch's classifier with cross-entropy, and no weight decay on manifold parameters."""

    def __init__(self, *args: Any, criterion: Any = nn.CrossEntropyLoss, **kwargs: Any) -> None:
        super().__init__(*args, criterion=criterion, **kwargs)

    @property
    def _default_callbacks(self) -> list[tuple[str, Any]]:
        return [*super()._default_callbacks, ("epoch_clock", EpochClock())]

    def get_params_for_optimizer(
        self, prefix: str, named_parameters: Iterable[tuple[str, nn.Parameter]]
    ) -> tuple[Any, dict[str, Any]]:
        """Parameter groups, and the other arguments of the optimiser."""
        _, options = super().get_params_for_optimizer(prefix, named_parameters)
        groups = parameter_groups(self.module_, options.pop("weight_decay", 0.0))
        return (groups,), options


class DomainTrainer(Trainer):
    """A trainer on {"x", "domains"} whose training batches are balanced over domains."""

    def __init__(self, *args: Any, domains_per_batch: int = 5, **kwargs: Any) -> None:
        self.domains_per_batch = domains_per_batch
        super().__init__(*args, **kwargs)

    def get_iterator(self, dataset: Any, training: bool = False) -> Any:
        """Batches of a data set."""
        if not training:
            return super().get_iterator(dataset, training=training)
        domains, labels = _columns(dataset)
        sampler = DomainBalancedBatches(domains, labels, self.batch_size, self.domains_per_batch)
        return DataLoader(dataset, batch_sampler=sampler)


def _columns(dataset: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Domains and labels of skorch's data set, or of the part of it that a split leaves."""
    if isinstance(dataset, Subset):
        domains, labels = _columns(dataset.dataset)
        return domains[dataset.indices], labels[dataset.indices]
    return np.asarray(dataset.X["domains"]), np.asarray(dataset.y)
