"""Riemannian optimisers on every parameter of every network; plain ones on parametrized forms."""

import pytest
import torch
from geoopt.optim import RiemannianAdam, RiemannianSGD
from torch import nn

from liebn.groups import SO
from liebn.models import DomainNorm, LieNet, RotationNorm, SPDNet, SPDNorm, TSMNet
from liebn.nn.rotation import RotMap
from liebn.nn.spd import BiMap
from liebn.optim import parameter_groups
from tests.models import problems

DOUBLE = torch.float64
OPTIMISERS = {
    "sgd": lambda groups: RiemannianSGD(groups, lr=0.05, momentum=0.5),
    "adam": lambda groups: RiemannianAdam(groups, lr=0.02),
    "amsgrad": lambda groups: RiemannianAdam(groups, lr=0.02, amsgrad=True),
}


def spdnet(weight):
    x, y = problems.matrices(0)
    return SPDNet((8, 6, 4), 3, SPDNorm(), weight=weight, dtype=DOUBLE), (x,), y


def tsmnet(weight):
    x, y, domains = problems.signals(0)
    sizes = {"temporal_kernel": 9, "spatial_filters": 6, "subspace": 4}
    return TSMNet(4, 2, DomainNorm(3), weight=weight, **sizes), (x, domains), y


def lienet(weight):
    x, y = problems.rotations(0)
    return LieNet(6, 16, 3, RotationNorm(), weight=weight), (x,), y


NETWORKS = {"spdnet": spdnet, "tsmnet": tsmnet, "lienet": lienet}


def orthonormality(module):
    """Of all weights, the largest entry of |WᵀW - I| and the smallest determinant of rotations."""
    off, determinant = 0.0, 1.0
    for layer in module.modules():
        if isinstance(layer, BiMap | RotMap):
            w = layer.weight.detach().double()
            eye = torch.eye(w.shape[-1], dtype=DOUBLE)
            off = max(off, float((w.mT @ w - eye).abs().max()))
        if isinstance(layer, RotMap):
            determinant = min(determinant, float(torch.linalg.det(w).min()))
    return off, determinant


def train(network, inputs, labels, optimiser, steps):
    losses = []
    for _ in range(steps):
        optimiser.zero_grad()
        loss = nn.functional.cross_entropy(network(*inputs), labels)
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    return losses


@pytest.mark.parametrize("optimiser", OPTIMISERS)
@pytest.mark.parametrize("name", NETWORKS)
def test_riemannian_optimisers_move_every_parameter_downhill(name, optimiser):
    network, inputs, labels = NETWORKS[name]("manifold")
    before = {k: p.detach().clone() for k, p in network.named_parameters()}
    losses = train(
        network, inputs, labels, OPTIMISERS[optimiser](parameter_groups(network, 1e-4)), 15
    )
    assert losses[-1] < 0.9 * losses[0]
    for k, p in network.named_parameters():
        assert not torch.equal(p, before[k]), f"{k} has not moved"
    off, determinant = orthonormality(network)
    assert off < (1e-14 if name != "lienet" else 1e-6)
    assert determinant > 0.99


@pytest.mark.parametrize("name", NETWORKS)
def test_adamw_trains_the_parametrized_forms(name):
    network, inputs, labels = NETWORKS[name]("parametrized")
    before = {k: p.detach().clone() for k, p in network.named_parameters()}
    groups = parameter_groups(network, weight_decay=1e-2)
    losses = train(network, inputs, labels, torch.optim.AdamW(groups, lr=0.01), 25)
    assert losses[-1] < 0.9 * losses[0]
    for k, p in network.named_parameters():
        assert not torch.equal(p, before[k]), f"{k} has not moved"
    off, determinant = orthonormality(network)
    assert off < (1e-14 if name != "lienet" else 2e-6)
    assert determinant > 0.99


@pytest.mark.parametrize(
    "make, optimiser, dtype, bound",
    # Measured after 3000 steps: 2.4e-7, 4.4e-16, 1.8e-7 and 2.2e-16, about two units of rounding.
    [
        (lambda t: BiMap(12, 5, dtype=t), "sgd", torch.float32, 5e-7),
        (lambda t: BiMap(12, 5, dtype=t), "amsgrad", torch.float64, 1e-15),
        (lambda t: RotMap(4, dtype=t), "sgd", torch.float32, 4e-7),
        (lambda t: RotMap(4, dtype=t), "amsgrad", torch.float64, 1e-15),
    ],
)
def test_weights_stay_on_their_manifold_over_thousands_of_steps(make, optimiser, dtype, bound):
    layer = make(dtype)
    generator = torch.Generator().manual_seed(0)
    step = OPTIMISERS[optimiser](layer.parameters())
    for _ in range(3000):
        step.zero_grad()
        direction = torch.randn(layer.weight.shape, generator=generator, dtype=dtype)
        (layer.weight * direction).sum().backward()
        step.step()
    off, determinant = orthonormality(layer)
    assert off < bound
    if isinstance(layer, RotMap):
        assert abs(determinant - 1) < 3 * bound


def test_rotmap_finds_a_rotation(generator):
    """Riemannian descent reaches the very rotation that made the data, from any start."""
    target = SO(3).random(4, generator=generator, dtype=DOUBLE)
    x = SO(3).random(20, 4, 2, generator=generator, dtype=DOUBLE)
    layer = RotMap(4, dtype=DOUBLE)
    optimiser = RiemannianSGD(layer.parameters(), lr=0.2)
    for _ in range(200):
        optimiser.zero_grad()
        ((layer(x) - target.unsqueeze(1) @ x) ** 2).sum((-2, -1)).mean((0, 2)).sum().backward()
        optimiser.step()
    torch.testing.assert_close(layer.weight.detach().as_subclass(torch.Tensor), target)


@pytest.mark.parametrize("weight", ["manifold", "parametrized"])
def test_parameter_groups_take_decay_off_what_lives_on_manifolds(weight):
    network, _, _ = spdnet(weight)
    decayed, free = parameter_groups(network, weight_decay=0.1)
    assert decayed["weight_decay"] == 0.1
    assert free["weight_decay"] == 0.0
    name = {id(p): n for n, p in network.named_parameters()}
    assert {name[id(p)] for p in decayed["params"]} == {
        "classifier.weight",
        "classifier.bias",
        "layers.1.scale",
        "layers.4.scale",
    }
    assert len(decayed["params"]) + len(free["params"]) == len(list(network.parameters()))


def test_parameter_groups_leave_out_an_empty_group():
    (group,) = parameter_groups(nn.Linear(2, 2), weight_decay=0.1)
    assert group["weight_decay"] == 0.1
