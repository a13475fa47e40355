"""LieNet: its published sizes for any number of blocks, and that it learns."""

import pytest
import torch

from liebn.groups import SO
from liebn.models import LieNet, RotationNorm
from liebn.nn import LieBatchNorm
from liebn.nn.rotation import RotMap, RotPooling
from tests.models import problems
from tests.models.learning import accuracy, learn

# Blocks, then what is left of 342 locations and 100 frames, and the RotMaps' matrices.
PUBLISHED = [
    (1, 171, 100, 342),
    (2, 171, 25, 342 + 171),
    (3, 171, 7, 342 + 2 * 171),
    (4, 171, 2, 342 + 3 * 171),
]


@pytest.mark.parametrize("blocks, locations, frames, rotations", PUBLISHED)
def test_published_configurations(blocks, locations, frames, rotations, generator):
    x = SO(3).random(1, 342, 100, generator=generator)
    plain = LieNet(342, 100, 20, blocks=blocks)
    normed = LieNet(342, 100, 20, RotationNorm(), blocks=blocks)
    features = 4 * locations * frames
    counts = [sum(p.numel() for p in network.parameters()) for network in (plain, normed)]
    assert counts[0] == 9 * rotations + features * 20 + 20
    # Of each location a scale, and a bias of 9 numbers.
    assert counts[1] == counts[0] + 10 * locations
    assert plain.layers(x).shape == (1, locations, frames, 3, 3)
    assert normed(x).shape == (1, 20)


def test_an_odd_number_of_locations_is_rounded_up(generator):
    network = LieNet(7, 9, 3, blocks=2)
    x = SO(3).random(2, 7, 9, generator=generator)
    assert network.layers(x).shape == (2, 4, 3, 3, 3)
    assert network(x).shape == (2, 3)


def test_the_published_count_in_figures():
    assert sum(p.numel() for p in LieNet(342, 100, 20).parameters()) == 101_936


def test_the_normalization_stands_before_the_logarithm():
    network = LieNet(6, 16, 3, RotationNorm())
    kinds = [type(layer) for layer in network.layers]
    assert kinds == [RotMap, RotPooling, RotMap, RotPooling, RotMap, RotPooling, LieBatchNorm]
    assert [layer.along for layer in network.layers[1::2]] == ["space", "time", "time"]
    assert network.layers[-1].running_mean.shape == (3, 3, 3)


def test_statistics_are_over_batch_and_time(generator):
    network = LieNet(4, 16, 3, RotationNorm(), dtype=torch.float64)
    # Near one another, so that their mean is unique.
    x = SO(3).exp(0.2 * torch.randn(5, 4, 16, 3, 3, dtype=torch.float64, generator=generator))
    z = network.layers(x).detach()
    for location in range(2):
        mean = SO(3).mean(z[:, location].flatten(0, 1))
        identity = SO(3).identity(dtype=torch.float64)
        assert float(SO(3).distance(mean, identity)) < 1e-8


def test_no_block_is_refused():
    with pytest.raises(ValueError, match="at least one block"):
        LieNet(4, 16, 3, blocks=0)


@pytest.mark.parametrize("norm", [None, RotationNorm()], ids=["plain", "LieBN"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_it_learns(norm, seed):
    x, labels = problems.rotations(seed, samples=150)
    torch.manual_seed(seed)
    network = LieNet(6, 16, 3, norm, blocks=2)
    first, last = learn(network, (x[:90],), labels[:90], epochs=15, lr=0.02)
    assert last < 0.5 * first
    assert accuracy(network, (x[90:],), labels[90:]) > 0.9
