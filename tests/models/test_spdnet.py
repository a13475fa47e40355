"""SPDNet: its published sizes, where the normalization stands, and that it learns."""

import pytest
import torch
from torch import nn

from liebn.models import SPDNet, SPDNorm
from liebn.nn import LieBatchNorm
from liebn.nn.baselines import SPDNetBN
from liebn.nn.spd import BiMap, ReEig
from tests.models import problems
from tests.models.learning import accuracy, learn

# Sizes and classes, and the numbers of parameters: of the BiMaps, of the classifier and of the
# norms (a bias of n² numbers and a scale each).
PUBLISHED = {
    "radar": ((20, 16, 8), 3, 20 * 16 + 16 * 8, 64 * 3 + 3, 16**2 + 1 + 8**2 + 1),
    "hdm05": ((93, 30), 117, 93 * 30, 900 * 117 + 117, 30**2 + 1),
    "fpha": ((63, 33), 45, 63 * 33, 33**2 * 45 + 45, 33**2 + 1),
}


def parameters(network):
    return sum(p.numel() for p in network.parameters())


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_configurations(name, generator):
    sizes, classes, bimaps, classifier, norms = PUBLISHED[name]
    x = torch.randn(4, sizes[0], 2 * sizes[0], dtype=torch.float64, generator=generator)
    x = x @ x.mT / x.shape[-1]
    for norm, count in ((None, 0), (SPDNorm(), norms)):
        network = SPDNet(sizes, classes, norm, dtype=torch.float64)
        assert parameters(network) == bimaps + classifier + count
        y = network(x)
        assert y.shape == (4, classes)
        assert y.dtype == torch.float64


def test_the_published_counts_in_figures():
    counts = [parameters(SPDNet(*PUBLISHED[name][:2])) for name in PUBLISHED]
    assert counts == [643, 108_207, 51_129]


def test_the_normalization_follows_each_bimap_and_no_reeig_the_last():
    network = SPDNet((20, 16, 8), 3, SPDNorm())
    kinds = [type(layer) for layer in network.layers]
    assert kinds == [BiMap, LieBatchNorm, ReEig, BiMap, LieBatchNorm]
    kinds = [type(layer) for layer in SPDNet((20, 16, 8), 3).layers]
    assert kinds == [BiMap, ReEig, BiMap]


def test_the_norm_is_any_callable_of_a_size():
    sizes = []

    def norm(size):
        sizes.append(size)
        return nn.Identity()

    SPDNet((20, 16, 8), 3, norm)
    assert sizes == [16, 8]
    assert isinstance(SPDNet((8, 4), 3, SPDNetBN).layers[1], SPDNetBN)


@pytest.mark.parametrize("metric", ["aim", "lem", "lcm", "gyro-aim"])
def test_a_bias_on_the_manifold_learns_too(metric):
    x, labels = problems.matrices(0, samples=60)
    torch.manual_seed(0)
    norm = SPDNorm(metric, theta=0.5, bias="manifold")
    network = SPDNet((8, 6, 4), 3, norm, dtype=torch.float64)
    first, last = learn(network, (x,), labels, epochs=12, lr=0.03)
    assert last < 0.5 * first
    bias = network.layers[1].bias_manifold
    assert not torch.equal(bias, torch.eye(6, dtype=torch.float64))
    assert network.layers[1].group.violation(bias.detach()) < 1e-12


def test_one_size_is_refused():
    with pytest.raises(ValueError, match="at least one BiMap"):
        SPDNet((20,), 3)


@pytest.mark.parametrize("metric", ["aim", "lem", "lcm", None])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_it_learns(metric, seed):
    x, labels = problems.matrices(seed, samples=120)
    torch.manual_seed(seed)
    norm = None if metric is None else SPDNorm(metric)
    network = SPDNet((8, 6, 4), 3, norm, dtype=torch.float64)
    first, last = learn(network, (x[:60],), labels[:60], epochs=12, lr=0.03)
    assert last < 0.5 * first
    assert accuracy(network, (x[60:],), labels[60:]) > 0.9
