"""Instance, group and layer normalization on every space: batch normalization of other samples."""

import copy
import pickle

import pytest
import torch
from torch import nn

from liebn import LieBatchNorm
from liebn.groups import spd
from liebn.nn import LieGroupNorm, LieInstanceNorm, LieLayerNorm
from tests.layers.spaces import CATALOG, SPACES, on, points
from tests.layers.tolerances import GRADCHECK, close

DOUBLE = {"dtype": torch.float64}
BATCH, CHANNELS, EXTRA = 2, 4, 3
SIZES = (BATCH, CHANNELS, EXTRA)

MAKERS = {
    "instance": lambda space, **o: LieInstanceNorm(space, CHANNELS, affine=True, **DOUBLE, **o),
    "group": lambda space, **o: LieGroupNorm(space, 2, CHANNELS, **DOUBLE, **o),
    "layer": lambda space, **o: LieLayerNorm(space, (CHANNELS, EXTRA), **DOUBLE, **o),
}
kinds = pytest.mark.parametrize("kind", MAKERS)


def perturb(layer, generator):
    """Give the parameters other values than those they start with."""
    with torch.no_grad():
        for p in layer.parameters():
            p.add_(0.2 * torch.randn(p.shape, generator=generator, dtype=p.dtype))
    return layer


def samples_of(kind, x):
    """The same points, (samples, those with a mean of their own, *point), before and after."""
    if kind == "instance":
        return x.movedim(2, 0).flatten(1, 2)
    if kind == "group":
        return x.unflatten(1, (2, 2)).movedim((2, 3), (0, 1)).flatten(0, 1).flatten(1, 2)
    return x.flatten(1, 2).movedim(1, 0)


@on(SPACES)
@kinds
def test_is_batch_normalization_of_other_samples(space, kind, generator):
    x = points(space, *SIZES, generator=generator)
    layer = MAKERS[kind](space)
    apart = samples_of(kind, x)
    batch = LieBatchNorm(space, apart.shape[1], **DOUBLE)
    for training in (True, False):  # in both they use the input
        close(samples_of(kind, layer.train(training)(x)), batch(apart), "formula")


@on(CATALOG)
@kinds
def test_scale_and_bias_belong_to_their_places(space, kind, generator):
    """Each point is moved along its own geodesic, by the scale and then the bias of its place."""
    layer = perturb(MAKERS[kind](space), generator)
    plain = MAKERS[kind](space)
    with torch.no_grad():
        plain.scale.fill_(0.5)  # where logarithms are those of one geodesic
    x = points(space, *SIZES, generator=generator, spread=0.1)
    scale, bias = 2 * layer.scale, layer.bias_point
    if kind != "layer":
        scale, bias = scale.unsqueeze(-1), bias.unsqueeze(1)
    logs = space.log(plain(x)) * space.expand(scale)
    close(layer(x), space.compose(bias.expand_as(x), space.exp(logs)), "formula")


@on(CATALOG)
@kinds
def test_gradients(space, kind, generator):
    layer = perturb(MAKERS[kind](space), generator)
    x = points(space, 1, CHANNELS, EXTRA, generator=generator)
    # Tangent coordinates about the points keep the finite differences on the space.
    v = torch.zeros_like(space.log(x)).requires_grad_()

    def normalised(v, scale, bias):
        values = {"scale": scale, "bias_tangent": bias}
        moved = space.compose(x, space.exp(v))
        return torch.func.functional_call(layer, values, (moved,))

    assert torch.autograd.gradcheck(
        normalised, (v, layer.scale, layer.bias_tangent), fast_mode=True, **GRADCHECK
    )


@on(CATALOG)
@kinds
def test_weights_are_a_mask(space, kind, generator):
    x = points(space, *SIZES, generator=generator)
    keep = torch.tensor([True, True, False])
    layer = MAKERS[kind](space)
    weights = keep.to(x).expand(BATCH, EXTRA)
    if kind == "layer":
        weights = weights.unsqueeze(1).expand(SIZES)
        short = LieLayerNorm(space, (CHANNELS, 2), **DOUBLE)
    else:
        short = layer
    spoilt = x.clone()
    spoilt[:, :, ~keep] = torch.nan
    spoilt.requires_grad_()
    y = layer(spoilt, weights)
    assert bool(torch.isfinite(y).all())
    close(y[:, :, keep], short(x[:, :, keep]), "formula")
    (grad,) = torch.autograd.grad(y[:, :, keep].square().sum(), spoilt)
    assert bool((grad[:, :, ~keep] == 0).all())


@kinds
def test_an_element_without_samples_is_refused(kind):
    weights = torch.ones(SIZES if kind == "layer" else (BATCH, EXTRA))
    weights[1] = 0
    with pytest.raises(ValueError, match="positive weight"):
        MAKERS[kind](spd(3))(torch.eye(3).expand(*SIZES, 3, 3), weights)


@kinds
def test_a_bad_sample_is_named_by_its_place(kind, generator):
    x = points(spd(3), *SIZES, generator=generator)
    x[1, 3, 2, 0, 0] = torch.nan
    with pytest.raises(ValueError, match=r"sample \[1, 3, 2\]"):
        MAKERS[kind](spd(3))(x)
    x[1, 3, 2] = -torch.eye(3)
    with pytest.raises(ValueError, match=r"sample \[1, 3, 2\]"):
        MAKERS[kind](spd(3, "lem"))(x)


@kinds
def test_shapes_are_told(kind):
    with pytest.raises(ValueError, match=r"expected points of shape \(.*, got \(2, 5, 3, 3, 3\)"):
        MAKERS[kind](spd(3))(torch.eye(3).expand(2, 5, 3, 3, 3))


@kinds
def test_an_empty_batch_stays_empty(kind):
    x = torch.empty(0, CHANNELS, EXTRA, 3, 3, **DOUBLE)
    assert MAKERS[kind](spd(3))(x).shape == x.shape


@kinds
def test_a_single_sample_becomes_the_bias(kind, generator):
    space = spd(3)
    layer = {
        "instance": LieInstanceNorm(space, 1, affine=True, **DOUBLE),
        "group": LieGroupNorm(space, 1, 1, **DOUBLE),
        "layer": LieLayerNorm(space, 1, **DOUBLE),
    }[kind]
    perturb(layer, generator)
    x = points(space, 5, 1, generator=generator)
    close(layer(x), layer.bias_point.expand(5, 1, 3, 3), "formula")


@kinds
def test_options_are_those_of_the_batch_norm(kind, generator):
    x = points(spd(3), *SIZES, generator=generator)
    centred = MAKERS[kind](spd(3), mean_only=True)
    assert centred.scale is None
    full = MAKERS[kind](spd(3))
    logs = spd(3).log(centred(x)).square().sum((-2, -1))
    share = spd(3).log(full(x)).square().sum((-2, -1)) / logs
    assert bool((samples_of(kind, share).std(0) < 1e-9).all())  # one factor for each mean
    on_manifold = MAKERS[kind](spd(3), bias="manifold")
    close(on_manifold(x), full(x), "formula")
    assert MAKERS[kind](spd(3), statistics="fast").rule.detach
    with pytest.raises(ValueError, match="statistics"):
        MAKERS[kind](spd(3), statistics="best")


@kinds
def test_half_precision_is_computed_in_float32(kind, generator):
    x = points(spd(3), *SIZES, generator=generator, dtype=torch.float16)
    layer = MAKERS[kind](spd(3)).float()
    y = layer(x)
    assert y.dtype == torch.float16
    close(y, layer(x.float()).half(), "rounding", torch.float32)


@kinds
def test_saves_and_copies(kind, generator):
    layer = perturb(MAKERS[kind](spd(3)), generator)
    x = points(spd(3), *SIZES, generator=generator)
    fresh = MAKERS[kind](spd(3))
    fresh.load_state_dict(layer.state_dict())
    for other in (fresh, copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):  # noqa: S301
        assert torch.equal(other(x), layer(x))
    fresh.reset_parameters()
    assert all(
        torch.equal(v, MAKERS[kind](spd(3)).state_dict()[k]) for k, v in fresh.state_dict().items()
    )


def test_instance_averages_move_to_the_mean_of_means(generator):
    for name in ("spd-aim", "so", "product"):
        space = CATALOG[name]
        layer = LieInstanceNorm(space, CHANNELS, track_running_stats=True, momentum=0.3, **DOUBLE)
        x = points(space, *SIZES, generator=generator)
        layer(x)
        means = space.mean(x, 2)
        variances = space.squared_distance(means.unsqueeze(2), x).mean(2)
        start = space.identity(CHANNELS, **DOUBLE)
        close(layer.running_mean, space.geodesic(start, space.mean(means), 0.3), "search")
        close(layer.running_var, 0.7 + 0.3 * variances.mean(0), "search")
        assert int(layer.num_batches_tracked) == 1
        y = layer.eval()(x)
        batch = LieBatchNorm(space, CHANNELS, affine=False, **DOUBLE).eval()
        batch.load_state_dict(layer.state_dict())
        close(y, batch(x))


def test_corrected_instance_averages_count_by_weight(generator):
    x = torch.randn(2, 1, 4, generator=generator, **DOUBLE)
    space = CATALOG["euclidean"]
    layer = LieInstanceNorm(space, 1, track_running_stats=True, correction=1, momentum=1.0)
    layer = layer.double()
    x = points(space, 2, 1, 4, generator=generator)
    weights = torch.tensor([[1.0, 1, 1, 0], [1, 1, 1, 1]])
    layer(x, weights)
    expected = [
        (x[0, 0, :3] - x[0, 0, :3].mean(0)).square().sum() / 2,
        (x[1, 0] - x[1, 0].mean(0)).square().sum() / 3,
    ]
    close(layer.running_var, (sum(expected) / 2).reshape(1))
    with pytest.raises(ValueError, match="more than one sample"):
        layer(x[:, :, :1])


def test_wrong_shapes_of_layers_are_refused():
    with pytest.raises(ValueError, match="multiple of num_groups=3"):
        LieGroupNorm(spd(3), 3, 4)
    with pytest.raises(ValueError, match="at least one dimension"):
        LieLayerNorm(spd(3), ())


def test_reprs_say_what_the_layers_are():
    assert "LieInstanceNorm(\n  channels=(4,)" in repr(LieInstanceNorm(spd(3), 4))
    assert "num_groups=2, channels=4" in repr(LieGroupNorm(spd(3), 2, 4))
    assert "normalized_shape=(4, 3)" in repr(LieLayerNorm(spd(3), (4, 3)))


def test_trains_in_a_network(generator):
    """Gradients reach every parameter of a network with all three."""
    space = spd(3, "lem")
    network = nn.Sequential(
        LieInstanceNorm(space, 4, affine=True, **DOUBLE),
        LieGroupNorm(space, 2, 4, **DOUBLE),
        LieLayerNorm(space, (4, 3), **DOUBLE),
    )
    network(points(space, *SIZES, generator=generator)).square().sum().backward()
    assert all(bool(torch.isfinite(p.grad).all()) for p in network.parameters())
