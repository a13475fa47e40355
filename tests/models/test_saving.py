"""A saved network is loaded back by one call and predicts the same."""

import pytest
import torch

from liebn.models import DomainNorm, LieNet, RotationNorm, SPDNet, SPDNorm, TSMNet, load, save
from liebn.nn.baselines import SPDNetBN
from tests.models import problems


def spdnet(**options):
    x, labels = problems.matrices(0)
    norm = SPDNorm("lcm", theta=0.5, statistics="fast")
    return SPDNet((8, 5), 3, norm, dtype=torch.float64, **options), (x,), labels


def tsmnet(**options):
    x, labels, domains = problems.signals(0)
    sizes = {"temporal_kernel": 9, "spatial_filters": 6, "subspace": 4}
    return TSMNet(4, 2, DomainNorm(3, schedule=(5, 0.5)), **sizes, **options), (x, domains), labels


def lienet(**options):
    x, labels = problems.rotations(0)
    return LieNet(6, 16, 3, RotationNorm(), blocks=2, **options), (x,), labels


NETWORKS = {"spdnet": spdnet, "tsmnet": tsmnet, "lienet": lienet}


def assert_same(network, other, inputs):
    assert type(other) is type(network)
    assert not other.training
    assert [p.dtype for p in other.parameters()] == [p.dtype for p in network.parameters()]
    torch.testing.assert_close(other(*inputs), network.eval()(*inputs), rtol=0, atol=0)


@pytest.mark.parametrize("weight", ["manifold", "parametrized"])
@pytest.mark.parametrize("name", NETWORKS)
def test_a_trained_network_comes_back(name, weight, tmp_path):
    network, inputs, labels = NETWORKS[name](weight=weight)
    torch.nn.functional.cross_entropy(network(*inputs), labels).backward()
    with torch.no_grad():  # what a step of training changes: free parameters and running statistics
        for parameter in network.parameters():
            if not hasattr(parameter, "manifold"):
                parameter -= 0.1 * parameter.grad
    save(network, tmp_path / "network.pt")
    other = load(tmp_path / "network.pt")
    assert_same(network, other, inputs)
    for mine, theirs in zip(network.parameters(), other.parameters(), strict=True):
        assert hasattr(mine, "manifold") == hasattr(theirs, "manifold")
    assert other.arguments == network.arguments | {"dtype": next(network.parameters()).dtype}


def test_domains_added_after_construction_come_back(tmp_path):
    network, (x, domains), _ = tsmnet()
    network.refit(x, domains + 2)
    save(network, tmp_path / "network.pt")
    other = load(tmp_path / "network.pt")
    assert other.norm.domain_names.tolist() == [0, 1, 2, 3, 4]
    assert_same(network, other, (x, domains + 2))


def test_a_converted_network_comes_back_in_its_dtype(tmp_path):
    network, (x,), _ = lienet()
    save(network.double(), tmp_path / "network.pt")
    assert_same(network, load(tmp_path / "network.pt"), (x.double(),))


def test_a_network_without_norm(tmp_path):
    x, _ = problems.matrices(0)
    network = SPDNet((8, 5), 3, dtype=torch.float64)
    save(network, tmp_path / "network.pt")
    assert_same(network, load(tmp_path / "network.pt"), (x,))
    with pytest.raises(ValueError, match="expected no norm"):
        load(tmp_path / "network.pt", norm=SPDNorm())


def test_a_norm_that_no_file_can_hold_is_given_again(tmp_path):
    x, _ = problems.matrices(0)
    network = SPDNet((8, 5), 3, SPDNetBN, dtype=torch.float64)
    network(x)
    save(network, tmp_path / "network.pt")
    with pytest.raises(ValueError, match=r"SPDNetBN.* give it as norm"):
        load(tmp_path / "network.pt")
    assert_same(network, load(tmp_path / "network.pt", norm=SPDNetBN), (x,))


def test_the_file_is_plain_data(tmp_path):
    network, _, _ = spdnet()
    save(network, tmp_path / "network.pt")
    content = torch.load(tmp_path / "network.pt", weights_only=True)
    assert content["network"] == "SPDNet"
    assert content["arguments"]["norm"]["recipe"] == "SPDNorm"
    assert all(type(value) is torch.Tensor for value in content["weights"].values())


def test_another_file_is_refused(tmp_path):
    torch.save({"weights": torch.zeros(2)}, tmp_path / "other.pt")
    with pytest.raises(ValueError, match=r"liebn\.models\.save"):
        load(tmp_path / "other.pt")
