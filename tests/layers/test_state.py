"""What a layer remembers, and how it is saved, copied and described."""

import copy
import io
import pickle

import pytest
import torch

from liebn import DomainLieBatchNorm, LieBatchNorm, MomentumLieBatchNorm
from liebn.groups import catalog, spd
from tests.layers.spaces import CATALOG, on, points
from tests.layers.tolerances import close

KINDS = {
    "plain": (LieBatchNorm, {}, ()),
    "cumulative": (LieBatchNorm, {"momentum": None}, ()),
    "mean only": (LieBatchNorm, {"mean_only": True}, ()),
    "momentum": (MomentumLieBatchNorm, {"schedule": (5, 0.2)}, ()),
    "domains": (DomainLieBatchNorm, {"domains": [4, 9]}, (9,)),
}


def make(kind, space):
    layer_type, options, domain = KINDS[kind]
    own = copy.deepcopy(space)  # a space may learn
    return layer_type(own, channels=2, dtype=torch.float64, **options), domain


def trained(kind, space, generator, steps=3):
    layer, domain = make(kind, space)
    with torch.no_grad():
        for p in layer.parameters():
            p.add_(0.2 * torch.randn(p.shape, generator=generator, dtype=p.dtype))
        for _ in range(steps):
            layer(points(space, 5, 2, generator=generator), *domain)
    return layer, domain


def save_and_load(state):
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    return torch.load(file, weights_only=True)


@on(CATALOG)
@pytest.mark.parametrize("kind", KINDS)
def test_a_fresh_layer_takes_over(space, kind, generator):
    layer, domain = trained(kind, space, generator)
    fresh, _ = make(kind, space)
    shapes = {k: v.shape for k, v in fresh.state_dict().items()}
    assert {k: v.shape for k, v in layer.state_dict().items()} == shapes
    fresh.load_state_dict(save_and_load(layer.state_dict()))
    x = points(space, 5, 2, generator=generator)
    for training in (False, True, False):
        y = layer.train(training)(x, *domain)
        assert torch.equal(fresh.train(training)(x, *domain), y)
        assert {k: v.shape for k, v in fresh.state_dict().items()} == shapes


@on(CATALOG)
@pytest.mark.parametrize("kind", KINDS)
def test_copies_go_their_own_way(space, kind, generator):
    layer, domain = trained(kind, space, generator)
    x = points(space, 5, 2, generator=generator)
    copies = [copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))]  # noqa: S301
    before = layer.running_mean.clone()
    expected = [c(x, *domain) for c in copies]
    assert torch.equal(layer.running_mean, before)
    y = layer(x, *domain)
    assert all(torch.equal(e, y) for e in expected)
    assert all(torch.equal(c.running_mean, layer.running_mean) for c in copies)


@on(CATALOG)
def test_averages_that_were_not_kept_are_not_saved(space):
    layer = LieBatchNorm(space, track_running_stats=False)
    learnt = {f"group.{name}" for name in space.state_dict()}
    assert set(layer.state_dict()) == {"scale", "bias_tangent"} | learnt


@on(CATALOG)
def test_the_first_batch_alone_decides_a_cumulative_average(space, generator):
    x, z = (points(space, 5, generator=generator) for _ in range(2))
    layer = LieBatchNorm(space, momentum=None, dtype=torch.float64)
    layer(x)
    close(layer.running_mean, space.mean(x), "search")
    first = layer.running_mean.clone()
    layer(z)
    close(layer.running_mean, space.geodesic(first, space.mean(z), 0.5), "search")
    assert int(layer.num_batches_tracked) == 2


@on(CATALOG)
def test_running_averages_move_along_the_geodesic(space, generator):
    x = points(space, 5, generator=generator)
    layer = LieBatchNorm(space, momentum=0.3, dtype=torch.float64)
    layer(x)
    mean = space.mean(x)
    variance = space.squared_distance(mean, x).mean()
    identity = space.identity(dtype=torch.float64)
    close(layer.running_mean, space.geodesic(identity, mean, 0.3), "search")
    close(layer.running_var, 0.7 + 0.3 * variance, "search")


@pytest.mark.parametrize("name", catalog)
def test_evaluation_changes_nothing(name, generator):
    layer, _ = trained("plain", CATALOG[name], generator)
    before = {k: v.clone() for k, v in layer.state_dict().items()}
    layer.eval()(points(CATALOG[name], 5, 2, generator=generator))
    assert all(torch.equal(v, before[k]) for k, v in layer.state_dict().items())


def test_a_repr_says_what_the_layer_is():
    text = repr(LieBatchNorm(spd(5, theta=0.5), 3, momentum=0.2, statistics="fast"))
    for part in (
        "LieBatchNorm",
        "channels=(3,)",
        "momentum=0.2",
        "'fast'",
        "AffineInvariant",
        "0.5",
    ):
        assert part in text
    assert "mean_only=True" in repr(LieBatchNorm(spd(3), mean_only=True))
    assert "schedule=(5, 0.2)" in repr(MomentumLieBatchNorm(spd(3), schedule=(5, 0.2)))
    assert "domains=2" in repr(DomainLieBatchNorm(spd(3), 2))


def test_resetting_forgets_everything(generator):
    for kind in KINDS:
        layer, _ = trained(kind, spd(3), generator)
        layer.reset_parameters()
        fresh, _ = make(kind, spd(3))
        state = fresh.state_dict()
        assert all(torch.equal(v, state[k]) for k, v in layer.state_dict().items()), kind
