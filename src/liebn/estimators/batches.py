"""Batches with several domains in each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import Sampler


class DomainBalancedBatches(Sampler[list[int]]):
    """A batch sampler: some domains in each batch, and as many samples of one as of another.

    In an epoch every domain is cut into blocks of batch_size // domains_per_batch samples, which
    resemble the domain in their share of each class; a batch is one block each of several domains,
    those with most blocks left first. What makes no whole block, or no whole batch, is left out of
    the epoch. A domain with fewer samples than a block is one block.

    Args:
        domains: of each sample, (samples,).
        labels: the class of each sample, (samples,).
        batch_size: samples in a batch.
        domains_per_batch: domains in a batch; where there are fewer domains, all of them.
        generator: of random numbers; torch's own by default.
    """

    def __init__(
        self,
        domains: NDArray[Any],
        labels: NDArray[Any],
        batch_size: int,
        domains_per_batch: int,
        generator: torch.Generator | None = None,
    ) -> None:
        if not 1 <= domains_per_batch <= batch_size:
            raise ValueError(
                "expected 1 ≤ domains_per_batch ≤ batch_size, "
                f"got {domains_per_batch} and {batch_size}"
            )
        domains, labels = np.asarray(domains), np.asarray(labels)
        if domains.shape != labels.shape or domains.ndim != 1 or not len(domains):
            raise ValueError(
                "expected a domain and a label of each sample, "
                f"got arrays of shape {domains.shape} and {labels.shape}"
            )
        self.labels = labels
        self.members = [np.flatnonzero(domains == domain) for domain in np.unique(domains)]
        self.domains_per_batch = min(domains_per_batch, len(self.members))
        self.block = batch_size // self.domains_per_batch
        self.generator = generator

    def __len__(self) -> int:
        counts = np.array([max(len(own) // self.block, 1) for own in self.members])
        return sum(1 for _ in self._choices(counts))

    def __iter__(self) -> Iterator[list[int]]:
        blocks = [self._blocks(own) for own in self.members]
        for chosen in self._choices(np.array([len(own) for own in blocks])):
            yield [int(i) for domain in chosen for i in blocks[domain].pop()]

    def _choices(self, counts: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """Which domains are in each batch, given how many blocks each has."""
        counts = counts.copy()
        while (counts > 0).sum() >= self.domains_per_batch:
            tie = self._uniform(len(counts))
            chosen = np.argsort(-(counts + tie))[: self.domains_per_batch]
            counts[chosen] -= 1
            yield chosen

    def _blocks(self, own: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """The samples of one domain, in random blocks with a fair share of each class."""
        place = np.empty(len(own))
        for label in np.unique(self.labels[own]):
            of_class = np.flatnonzero(self.labels[own] == label)
            rank = np.argsort(self._uniform(len(of_class)))
            # Ranks spread evenly over [0, 1), so that sorting by place interleaves the classes.
            place[of_class] = (rank + self._uniform(len(of_class))) / len(of_class)
        order = own[np.argsort(place)]
        count = max(len(own) // self.block, 1)
        return [order[i * self.block : (i + 1) * self.block] for i in range(count)]

    def _uniform(self, count: int) -> NDArray[np.float64]:
        return torch.rand(count, dtype=torch.float64, generator=self.generator).numpy()
