"""Recomputing the statistics of a domain from its unlabelled data."""

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from liebn import DomainLieBatchNorm
from liebn.groups import Euclidean, spd
from tests.layers.spaces import SPACES, on, points
from tests.layers.tolerances import close

AVERAGES = ("running_mean", "running_var", "train_mean", "train_var")


def layer_on(space, **options):
    return DomainLieBatchNorm(space, [2, 5, 8], 2, dtype=torch.float64, **options)


def data(space, generator):
    """Points of three domains with two channels, and their domains."""
    domain = torch.tensor([2, 5, 2, 2, 5, 5, 2, 5, 2, 2, 5])
    return points(space, len(domain), 2, generator=generator), domain


@on(SPACES)
def test_statistics_become_those_of_the_data(space, generator):
    layer = layer_on(space)
    x, domain = data(space, generator)
    layer(x, domain)
    before = {name: getattr(layer, name).clone() for name in AVERAGES}
    layer.refit(x, domain)
    for place, name in enumerate((2, 5)):
        own = x[domain == name]
        mean = space.mean(own)
        variance = space.squared_distance(mean, own).mean(0)
        for prefix in ("running", "train"):
            close(getattr(layer, f"{prefix}_mean")[place], mean, "search")
            close(getattr(layer, f"{prefix}_var")[place], variance, "search")
    for name in AVERAGES:
        assert torch.equal(getattr(layer, name)[2], before[name][2])


@on(SPACES)
def test_a_loader_gives_what_a_tensor_gives(space, generator):
    x, domain = data(space, generator)
    whole, streamed = layer_on(space), layer_on(space)
    whole.refit(x, domain)
    streamed.refit(DataLoader(TensorDataset(x, domain), batch_size=3))
    for name in AVERAGES:
        close(getattr(streamed, name), getattr(whole, name), "streamed")


@on({k: SPACES[k] for k in ("spd-aim", "spd-lcm", "so")})
def test_batches_of_one_domain_each(space, generator):
    x, domain = data(space, generator)
    whole, streamed = layer_on(space), layer_on(space)
    whole.refit(x, domain)
    streamed.refit([(x[domain == 5][:2], 5), (x[domain == 2], 2), (x[domain == 5][2:], 5)])
    for name in AVERAGES:
        close(getattr(streamed, name), getattr(whole, name), "streamed")


def test_one_batch_is_held_at_a_time(generator):
    space = spd(3)
    x, domain = data(space, generator)
    alive = []

    class Loader:
        def __iter__(self):
            for i in range(0, len(x), 4):
                assert not alive, "the batch before is still needed"
                alive.append(i)
                yield x[i : i + 4], domain[i : i + 4]
                alive.clear()

    layer = layer_on(space)
    layer.refit(Loader())
    close(layer.running_mean[0], space.mean(x[domain == 2]), "streamed")


@on({k: SPACES[k] for k in ("euclidean", "spd-aim", "spd-lem", "so")})
def test_after_refitting_a_domain_is_centred_in_evaluation(space, generator):
    layer = layer_on(space).eval()
    x, domain = data(space, generator)
    torch.nn.init.constant_(layer.scale, 0.4)
    layer.refit(x, domain)
    y = layer(x, domain)
    for name in (2, 5):
        own = y[domain == name]
        close(space.mean(own), space.identity(2, dtype=torch.float64), "moments")


def test_a_new_domain_is_added_and_refitted(generator):
    space = spd(3)
    x = points(space, 6, 2, generator=generator)
    layer = layer_on(space)
    with pytest.raises(ValueError, match="unseen"):
        layer.refit(x, 11)
    layer.add_domain(11)
    layer.refit(x, 11)
    close(layer.running_mean[3], space.mean(x), "search")
    welcoming = layer_on(space, allow_unseen=True)
    welcoming.refit(x, 11)
    assert torch.equal(welcoming.running_mean, layer.running_mean)


def test_extra_dimensions_are_more_samples(generator):
    space = spd(3)
    x = points(space, 4, 2, 3, generator=generator)
    layer, flat = layer_on(space), layer_on(space)
    layer.refit(x, torch.tensor([2, 2, 5, 5]))
    flat.refit(x.movedim(1, 2).flatten(0, 1), torch.tensor([2] * 6 + [5] * 6))
    close(layer.running_mean, flat.running_mean, "search")


@pytest.mark.parametrize("as_loader", [False, True])
@pytest.mark.parametrize("bad", [torch.nan, -1.0])
def test_a_bad_sample_is_named_and_nothing_changes(as_loader, bad, generator):
    x = points(spd(3), 6, 2, 4, generator=generator)
    domain = torch.tensor([2, 5, 2, 5, 5, 5])
    layer = layer_on(spd(3))
    before = {k: v.clone() for k, v in layer.state_dict().items()}
    x[3, 1, 2] *= bad
    with pytest.raises(ValueError, match=r"sample \[3, 1, 2\]"):
        layer.refit([(x, domain)]) if as_loader else layer.refit(x, domain)
    assert all(torch.equal(v, before[k]) for k, v in layer.state_dict().items())


def test_what_cannot_be_refitted():
    layer = layer_on(Euclidean(1))
    x = torch.zeros(3, 2, 1)
    with pytest.raises(ValueError, match="needs the domain"):
        layer.refit(x)
    with pytest.raises(ValueError, match="not an iterator"):
        layer.refit(iter([(x, 2)]))
    with pytest.raises(ValueError, match="empty"):
        layer.refit(x[:0], 2)
