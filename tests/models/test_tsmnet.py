"""TSMNet: its published size, its domains, and that it learns."""

import pytest
import torch

from liebn.models import DomainNorm, SPDNorm, TSMNet
from liebn.nn import DomainLieBatchNorm
from tests.models import problems
from tests.models.learning import accuracy, learn

SMALL = {"temporal_kernel": 9, "spatial_filters": 6, "subspace": 4}


def parameters(network):
    return sum(p.numel() for p in network.parameters())


def test_published_configuration(generator):
    x = torch.randn(6, 30, 512, generator=generator)
    domains = torch.arange(6) % 2
    network = TSMNet(30, 3, DomainNorm(2))
    convolutions = 4 * 25 + 4 + 40 * 4 * 30 + 40
    assert parameters(network) == convolutions + 40 * 20 + 210 * 3 + 3 + 1 == 6378
    assert parameters(TSMNet(30, 3)) == 6377
    assert network.features(x).shape == (6, 20, 20)
    y = network(x, domains)
    assert y.shape == (6, 3)
    assert y.dtype == torch.float64
    assert network.convolutions[0].weight.dtype == torch.float32
    # The first convolution keeps the length of the signal, its ends reflected.
    assert network.convolutions(x.unsqueeze(1)).shape == (6, 40, 512)
    assert network.convolutions[0].padding_mode == "reflect"


def test_each_domain_is_centred_by_itself():
    x, _, domains = problems.signals(0)
    network = TSMNet(4, 2, DomainNorm(3), **SMALL)
    network.refit(x, domains)
    network.eval()
    z = network.norm(network.features(x), domains).detach()
    group = network.norm.group
    for domain in range(3):
        mean = group.mean(z[domains == domain])
        distance = float(group.distance(mean, group.identity(dtype=torch.float64)))
        assert distance < 1e-8


def test_refitting_adds_a_domain_and_leaves_the_others_alone():
    x, _, domains = problems.signals(0)
    network = TSMNet(4, 2, DomainNorm(2), **SMALL)
    network.refit(x[domains < 2], domains[domains < 2])
    before = network.norm.running_mean.clone()
    network.refit(x[domains == 2], torch.full((20,), 7))
    assert network.norm.domain_names.tolist() == [0, 1, 7]
    assert torch.equal(network.norm.running_mean[:2], before)


def test_the_statistics_of_a_domain_do_not_depend_on_how_its_signals_are_cut_up():
    x, _, domains = problems.signals(0, samples=150)
    network = TSMNet(4, 2, DomainNorm(3), **SMALL)
    network.refit(x, domains)  # two chunks
    whole = network.norm.running_mean.clone()
    network.norm.refit(network.features(x).detach(), domains)
    torch.testing.assert_close(network.norm.running_mean, whole, rtol=1e-5, atol=1e-6)


def test_a_domain_specific_norm_asks_for_domains():
    x, _, _ = problems.signals(0)
    with pytest.raises(ValueError, match=r"network\(x, domains\)"):
        TSMNet(4, 2, DomainNorm(3), **SMALL)(x)
    with pytest.raises(TypeError, match="DomainNorm"):
        TSMNet(4, 2, SPDNorm(), **SMALL).refit(x, torch.zeros(len(x), dtype=torch.long))


def test_without_a_domain_specific_norm_domains_change_nothing():
    x, _, domains = problems.signals(0)
    for norm in (None, SPDNorm()):
        network = TSMNet(4, 2, norm, **SMALL).eval()
        assert torch.equal(network(x), network(x, domains))


@pytest.mark.parametrize("metric", ["aim", "lem", "lcm"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_it_learns(metric, seed):
    x, labels, domains = problems.signals(seed, samples=120)
    torch.manual_seed(seed)
    network = TSMNet(4, 2, DomainNorm(3, metric, schedule=(10, 1 / 3)), **SMALL)
    assert isinstance(network.norm, DomainLieBatchNorm)
    first, last = learn(network, (x[:60], domains[:60]), labels[:60], epochs=12, lr=0.02)
    assert last < 0.5 * first
    network.refit(x[:60], domains[:60])
    assert accuracy(network, (x[60:], domains[60:]), labels[60:]) > 0.9
