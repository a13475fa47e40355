"""Channels, extra dimensions, any leading shape and any memory layout."""

import pytest
import torch

from liebn import LieBatchNorm
from liebn.groups import Euclidean, spd
from tests.layers.spaces import SPACES, on, points
from tests.layers.tolerances import close


def layer_on(space, channels, generator):
    layer = LieBatchNorm(space, channels, dtype=torch.float64)
    with torch.no_grad():
        for p in layer.parameters():
            p.add_(0.3 * torch.randn(p.shape, generator=generator, dtype=torch.float64))
    return layer


def one_channel(layer, *index):
    """A layer without channels that has the parameters of one of them."""
    single = LieBatchNorm(layer.group, dtype=torch.float64)
    with torch.no_grad():
        single.scale.copy_(layer.scale[index])
        single.bias_tangent.copy_(layer.bias_tangent[index])
    return single


@on(SPACES)
@pytest.mark.parametrize("training", [True, False])
def test_channels_are_layers_of_their_own(space, training, generator):
    layer = layer_on(space, (2, 3), generator)
    x = points(space, 5, 2, 3, generator=generator)
    singles = {(i, j): one_channel(layer, i, j) for i in range(2) for j in range(3)}
    y = layer(x) if training else layer.eval()(x)
    for (i, j), single in singles.items():
        single.train(training)
        close(y[:, i, j], single(x[:, i, j]), "search")
        close(layer.running_mean[i, j], single.running_mean, "search")
        close(layer.running_var[i, j], single.running_var, "search")


@on(SPACES)
@pytest.mark.parametrize("training", [True, False])
def test_extra_dimensions_are_more_samples(space, training, generator):
    x = points(space, 3, 2, 2, 3, generator=generator)
    layer, flat = (layer_on(space, 2, torch.Generator().manual_seed(5)) for _ in range(2))
    together = x.movedim(1, 3).reshape(18, 2, *space.point_shape)
    y = layer.train(training)(x)
    z = flat.train(training)(together).reshape(3, 2, 3, 2, *space.point_shape).movedim(3, 1)
    close(y, z)
    close(layer.running_mean, flat.running_mean)
    close(layer.running_var, flat.running_var)


@on(SPACES)
@pytest.mark.parametrize("training", [True, False])
def test_memory_layout_does_not_matter(space, training, generator):
    x = points(space, 2, 3, 4, generator=generator)
    order = (2, 1, 0, *range(3, x.dim()))
    scattered = x.permute(order).contiguous().permute(order)
    every_other = torch.stack([x, x], 1).flatten(0, 1)[::2]
    layer = layer_on(space, 3, generator).train(training)
    expected = layer(x)
    layer.reset_running_stats()
    for other in (scattered, every_other):
        assert not other.is_contiguous() or len(x) == 1
        close(layer(other), expected)
        layer.reset_running_stats()


@on(SPACES)
def test_the_order_of_samples_does_not_matter_to_statistics(space, generator):
    x = points(space, 6, generator=generator)
    forth, back = (LieBatchNorm(space, dtype=torch.float64) for _ in range(2))
    close(forth(x).flip(0), back(x.flip(0)), "search")
    close(forth.running_mean, back.running_mean, "search")


@pytest.mark.parametrize(
    "shape", [(3, 3), (5, 4, 3, 3), (5, 2, 4, 3), (5, 2, 4, 3, 4), (2, 3, 3)], ids=str
)
def test_a_wrong_shape_is_refused_with_both_shapes(shape):
    layer = LieBatchNorm(spd(3), 2)
    with pytest.raises(ValueError, match=r"expected points of shape \(batch, 2, \*extra, 3, 3\)"):
        layer(torch.ones(shape))


def test_integers_are_refused():
    with pytest.raises(ValueError, match="floating"):
        LieBatchNorm(Euclidean(2))(torch.ones(3, 2, dtype=torch.long))


def test_the_input_is_left_alone(generator):
    x = points(spd(3), 4, generator=generator)
    before = x.clone()
    LieBatchNorm(spd(3), dtype=torch.float64)(x, torch.tensor([1.0, 0.0, 1.0, 1.0]))
    assert torch.equal(x, before)
