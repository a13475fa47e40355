"""The domain-balanced batch sampler."""

import numpy as np
import pytest
import torch

from liebn.estimators import DomainBalancedBatches


@pytest.fixture
def columns():
    """Six domains of 20 to 45 samples, mixed, with three classes in shares 1/2, 1/4, 1/4."""
    random = np.random.default_rng(0)
    domains = np.repeat(np.arange(6), [20, 25, 30, 35, 40, 45])
    labels = np.concatenate([np.arange(n) % 4 for n in [20, 25, 30, 35, 40, 45]]).clip(max=2)
    order = random.permutation(len(domains))
    return domains[order], (2 - labels)[order]


def test_batches_hold_several_domains_and_several_samples_of_each(columns, generator):
    domains, labels = columns
    sampler = DomainBalancedBatches(domains, labels, 20, 4, generator)
    batches = list(sampler)
    for batch in batches:
        names, counts = np.unique(domains[batch], return_counts=True)
        assert len(names) == 4
        assert (counts == 5).all()


def test_no_sample_comes_twice_in_an_epoch_and_few_are_left_out(columns, generator):
    domains, labels = columns
    seen = [i for batch in DomainBalancedBatches(domains, labels, 20, 4, generator) for i in batch]
    assert len(seen) == len(set(seen))
    # 39 blocks of five make nine batches of four, the most there can be.
    assert len(seen) == 9 * 20


def test_the_length_is_the_number_of_batches(columns, generator):
    domains, labels = columns
    for batch_size, domains_per_batch in ((20, 4), (12, 6), (9, 2), (10, 3), (7, 1), (30, 2)):
        sampler = DomainBalancedBatches(domains, labels, batch_size, domains_per_batch, generator)
        assert len(sampler) == len(list(sampler)) > 0


def test_blocks_are_stratified_by_class(columns, generator):
    domains, labels = columns
    for batch in DomainBalancedBatches(domains, labels, 32, 4, generator):
        for domain in np.unique(domains[batch]):
            own = labels[batch][domains[batch] == domain]
            # Of eight samples, four of the class of share 1/2, two of the others; give or take one.
            counts = np.bincount(own, minlength=3)
            assert np.abs(counts - [4, 2, 2]).max() <= 1


def test_epochs_differ_and_are_reproducible(columns):
    domains, labels = columns
    epochs = []
    for _ in range(2):
        sampler = DomainBalancedBatches(domains, labels, 20, 4, torch.Generator().manual_seed(3))
        epochs.append([list(sampler), list(sampler)])
    assert epochs[0] == epochs[1]
    assert epochs[0][0] != epochs[0][1]


def test_in_the_long_run_every_sample_is_drawn(columns, generator):
    domains, labels = columns
    sampler = DomainBalancedBatches(domains, labels, 20, 4, generator)
    seen = {i for _ in range(20) for batch in sampler for i in batch}
    assert seen == set(range(len(domains)))


def test_fewer_domains_than_asked_for_share_the_batch(generator):
    domains, labels = np.repeat([3, 8], 10), np.arange(20) % 2
    for batch in DomainBalancedBatches(domains, labels, 10, 5, generator):
        assert np.unique(domains[batch], return_counts=True)[1].tolist() == [5, 5]


def test_a_domain_smaller_than_a_block_is_one_block(generator):
    domains, labels = np.repeat([0, 1], [3, 10]), np.zeros(13)
    (batch,) = DomainBalancedBatches(domains, labels, 20, 2, generator)
    assert np.unique(domains[batch], return_counts=True)[1].tolist() == [3, 10]


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((np.zeros(4), np.zeros(4), 2, 3), "domains_per_batch ≤ batch_size"),
        ((np.zeros(4), np.zeros(4), 2, 0), "1 ≤ domains_per_batch"),
        ((np.zeros(4), np.zeros(3), 2, 1), r"shape \(4,\) and \(3,\)"),
        ((np.zeros(0), np.zeros(0), 2, 1), r"shape \(0,\)"),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        DomainBalancedBatches(*arguments)
