"""Frozen layers: for fine-tuning, the running averages stand still while the rest learns."""

import copy

import pytest
import torch
from torch import nn

from liebn import DomainLieBatchNorm, LieBatchNorm, MomentumLieBatchNorm
from liebn.groups import Euclidean, spd
from liebn.nn import LieInstanceNorm, baselines
from tests.layers.spaces import CATALOG, on, points
from tests.layers.tolerances import close

DOUBLE = {"dtype": torch.float64}
KINDS = {
    "batch": (LieBatchNorm, (), ()),
    "momentum": (MomentumLieBatchNorm, (), ()),
    "domains": (DomainLieBatchNorm, (2,), (1,)),
    "instance": (
        lambda s, c, **o: LieInstanceNorm(s, c, affine=True, track_running_stats=True, **o),
        (),
        (),
    ),
    "transport": (
        lambda s, c, **o: baselines.TransportBN(spd(3, "gyro-aim"), c, **o),
        (),
        (),
    ),
}


def trained(kind, space, generator):
    make, args, domain = KINDS[kind]
    layer = make(space, *args, 2, **DOUBLE)
    for _ in range(2):
        layer(points(layer.group, 5, 2, 3, generator=generator), *domain)
    return layer, domain


def state(layer):
    return {k: v.clone() for k, v in layer.state_dict().items()}


@pytest.mark.parametrize("kind", KINDS)
def test_training_is_evaluation_and_changes_no_average(kind, generator):
    layer, domain = trained(kind, spd(3), generator)
    x = points(layer.group, 4, 2, 3, generator=generator)
    expected = layer.eval()(x, *domain)
    before = state(layer)
    model = nn.ModuleList([layer.freeze()])
    model.train()
    assert layer.training
    assert torch.equal(layer(x, *domain), expected)
    assert all(torch.equal(v, before[k]) for k, v in layer.state_dict().items())
    layer.freeze(False)
    layer(x, *domain)
    assert not torch.equal(layer.running_mean, before["running_mean"])


@on(CATALOG)
def test_a_frozen_layer_passes_gradients_on(space, generator):
    layer = trained("batch", space, generator)[0].freeze()
    x = points(space, 4, 2, generator=generator).requires_grad_()
    layer(x).square().sum().backward()
    frozen = [x.grad, layer.scale.grad, layer.bias_tangent.grad]
    again = copy.deepcopy(layer).freeze(False).eval()
    again.zero_grad()
    z = x.detach().clone().requires_grad_()
    again(z).square().sum().backward()
    for a, e in zip(frozen, [z.grad, again.scale.grad, again.bias_tangent.grad], strict=True):
        assert torch.equal(a, e)


def test_parameters_are_frozen_by_torch(generator):
    """Both together are torchvision's FrozenBatchNorm2d."""
    theirs = nn.BatchNorm2d(3, **DOUBLE)
    ours = LieBatchNorm(Euclidean(), 3, correction=1, **DOUBLE)
    for _ in range(3):
        x = torch.randn(4, 3, 2, 2, generator=generator, **DOUBLE)
        theirs(x), ours(x)
    theirs.eval().requires_grad_(False)
    ours.freeze().requires_grad_(False)
    ours.train()
    x = torch.randn(4, 3, 2, 2, generator=generator, **DOUBLE).requires_grad_()
    close(ours(x), theirs(x))
    (expected,) = torch.autograd.grad(theirs(x).pow(3).sum(), x)
    (found,) = torch.autograd.grad(ours(x).pow(3).sum(), x)
    close(found, expected)
    assert not any(p.requires_grad for p in ours.parameters())


def test_the_rest_of_a_model_learns(generator):
    space = spd(3, "lem")
    model = nn.Sequential(LieBatchNorm(space, **DOUBLE), LieBatchNorm(space, **DOUBLE))
    model(points(space, 6, generator=generator))
    model[0].freeze().requires_grad_(False)
    model.train()
    before = state(model)
    optimiser = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)
    model(points(space, 6, generator=generator)).sum().backward()
    optimiser.step()
    changed = {k for k, v in model.state_dict().items() if not torch.equal(v, before[k])}
    assert changed
    assert all(name.startswith("1.") for name in changed)


def test_a_frozen_layer_takes_any_batch(generator):
    layer = LieBatchNorm(spd(3), correction=1, **DOUBLE).freeze()
    assert layer(points(spd(3), 1, generator=generator)).shape == (1, 3, 3)
    assert layer(torch.empty(0, 3, 3, **DOUBLE)).shape == (0, 3, 3)


def test_a_frozen_layer_can_be_refitted(generator):
    layer = DomainLieBatchNorm(spd(3), 2, **DOUBLE).freeze()
    x = points(spd(3), 6, generator=generator)
    layer.refit(x, 1)
    close(layer.running_mean[1], spd(3).mean(x), "search")


def test_it_is_a_state_of_the_module_and_not_of_its_tensors():
    layer = LieBatchNorm(spd(3)).freeze()
    assert "frozen=True" in repr(layer)
    assert copy.deepcopy(layer).frozen
    fresh = LieBatchNorm(spd(3))
    assert "frozen" not in repr(fresh)
    fresh.load_state_dict(layer.state_dict())
    assert not fresh.frozen


def test_without_averages_there_is_nothing_to_freeze():
    layer = LieBatchNorm(spd(3), track_running_stats=False)
    with pytest.raises(ValueError, match="track_running_stats=False"):
        layer.freeze()
    layer.freeze(False)
