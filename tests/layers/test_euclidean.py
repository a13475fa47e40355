"""On the real line LieBatchNorm is torch.nn.BatchNorm1d and BatchNorm2d."""

import pytest
import torch
from torch import nn

from liebn import LieBatchNorm
from liebn.groups import Euclidean
from tests.layers.tolerances import close

OPTIONS = {
    "plain": {},
    "momentum and eps": {"momentum": 0.37, "eps": 1e-2},
    "not affine": {"affine": False},
    "untracked": {"track_running_stats": False},
    "cumulative": {"momentum": None},
}
SHAPES = {
    "1d": (6, 3),
    "1d with length": (4, 3, 5),
    "2d": (3, 3, 2, 4),
    "2d, batch of one": (1, 3, 2, 4),
}
DTYPES = (torch.float64, torch.float32)


def pair(shape, dtype, options):
    """torch's layer and ours, with the same parameters."""
    kind = nn.BatchNorm1d if len(shape) < 4 else nn.BatchNorm2d
    theirs = kind(shape[1], dtype=dtype, **options)
    ours = LieBatchNorm(Euclidean(), shape[1], correction=1, dtype=dtype, **options)
    if theirs.weight is not None:
        with torch.no_grad():
            theirs.weight.copy_(torch.tensor([0.7, -1.3, 2.0]))
            theirs.bias.copy_(torch.tensor([0.2, 3.0, -1.0]))
            ours.scale.copy_(theirs.weight)
            ours.bias_tangent.copy_(theirs.bias)
    return theirs, ours


def outcome(layer, weight, bias, x, along):
    """Output, and the gradients of input, weight and bias."""
    x = x.clone().requires_grad_()
    y = layer(x)
    learnt = [p for p in (weight, bias) if p is not None]
    return [y, *torch.autograd.grad((y * along).sum(), [x, *learnt])]


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_equals_torch_over_several_steps(options, shape, dtype, generator):
    theirs, ours = pair(shape, dtype, options)
    for training in (True, True, True, False, True, False):
        theirs.train(training)
        ours.train(training)
        x = 2 + 3 * torch.randn(shape, generator=generator, dtype=dtype)
        along = torch.randn(shape, generator=generator, dtype=dtype)
        expected = outcome(theirs, theirs.weight, theirs.bias, x, along)
        for a, e in zip(
            outcome(ours, ours.scale, ours.bias_tangent, x, along), expected, strict=True
        ):
            close(a, e, "rounding")
        if theirs.running_mean is not None:
            close(ours.running_mean, theirs.running_mean)
            close(ours.running_var, theirs.running_var)
            assert int(ours.num_batches_tracked) == int(theirs.num_batches_tracked)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_has_the_buffers_of_torch(options):
    theirs, ours = pair((6, 3), torch.float32, options)
    shapes = {name: b.shape for name, b in theirs.named_buffers()}
    assert {name: b.shape for name, b in ours.named_buffers()} == shapes


def test_refuses_one_sample_as_torch_does():
    theirs, ours = pair((1, 3), torch.float32, {})
    for layer in (theirs, ours):
        with pytest.raises(ValueError, match="more than"):
            layer(torch.zeros(1, 3))
    assert int(ours.num_batches_tracked) == 0


def test_reset_goes_back_to_the_start(generator):
    _, ours = pair((6, 3), torch.float64, {})
    ours(torch.randn(6, 3, generator=generator, dtype=torch.float64))
    ours.reset_parameters()
    fresh = LieBatchNorm(Euclidean(), 3, correction=1, dtype=torch.float64).state_dict()
    assert all(torch.equal(value, fresh[name]) for name, value in ours.state_dict().items())


def test_without_channels_normalizes_numbers(generator):
    x = torch.randn(7, generator=generator, dtype=torch.float64)
    theirs = nn.BatchNorm1d(1, dtype=torch.float64)
    ours = LieBatchNorm(Euclidean(), correction=1, dtype=torch.float64)
    close(ours(x), theirs(x.unsqueeze(1)).squeeze(1))
    close(ours.running_var, theirs.running_var.squeeze(0))


def test_a_vector_has_one_variance_summed_over_its_coordinates(generator):
    x = torch.randn(9, 4, generator=generator, dtype=torch.float64)
    layer = LieBatchNorm(Euclidean(4), dtype=torch.float64)
    variance = (x - x.mean(0)).square().sum(1).mean()
    close(layer(x), (x - x.mean(0)) / (variance + layer.eps).sqrt())
