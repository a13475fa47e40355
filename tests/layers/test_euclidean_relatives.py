"""On the real line the instance, group and layer normalizations are torch's."""

import pytest
import torch
from torch import nn

from liebn.groups import Euclidean
from liebn.nn import LieGroupNorm, LieInstanceNorm, LieLayerNorm
from tests.layers.tolerances import close

DTYPES = (torch.float64, torch.float32)
LINE = Euclidean()
KEPT = {"track_running_stats": True}

CASES = {
    "instance 1d": (nn.InstanceNorm1d, LieInstanceNorm, (4,), {}, (3, 4, 5)),
    "instance 2d": (nn.InstanceNorm2d, LieInstanceNorm, (4,), {}, (3, 4, 2, 5)),
    "instance, affine": (nn.InstanceNorm2d, LieInstanceNorm, (4,), {"affine": True}, (3, 4, 2, 5)),
    "instance, kept": (
        nn.InstanceNorm2d,
        LieInstanceNorm,
        (4,),
        {"affine": True, "momentum": 0.3, "eps": 1e-2, **KEPT},
        (3, 4, 2, 5),
    ),
    "instance, one element": (nn.InstanceNorm1d, LieInstanceNorm, (4,), KEPT, (1, 4, 5)),
    "group": (nn.GroupNorm, LieGroupNorm, (2, 6), {}, (3, 6, 4)),
    "group 2d": (nn.GroupNorm, LieGroupNorm, (3, 6), {"eps": 1e-2}, (3, 6, 2, 5)),
    "group, no extra": (nn.GroupNorm, LieGroupNorm, (2, 6), {}, (3, 6)),
    "group, one": (nn.GroupNorm, LieGroupNorm, (1, 6), {"affine": False}, (3, 6, 2)),
    "group, each": (nn.GroupNorm, LieGroupNorm, (6, 6), {}, (3, 6, 4)),
    "layer": (nn.LayerNorm, LieLayerNorm, (5,), {}, (3, 5)),
    "layer 2d": (nn.LayerNorm, LieLayerNorm, ((2, 5),), {"eps": 1e-2}, (3, 4, 2, 5)),
    "layer, no batch": (nn.LayerNorm, LieLayerNorm, ((2, 5),), {}, (2, 5)),
    "layer, plain": (nn.LayerNorm, LieLayerNorm, (5,), {"affine": False}, (2, 3, 4, 5)),
}


def pair(case, dtype, generator):
    """torch's layer and ours, with the same parameters."""
    theirs_type, ours_type, args, options, _ = CASES[case]
    renamed = dict(options)
    if theirs_type is nn.LayerNorm and "affine" in renamed:
        renamed["elementwise_affine"] = renamed.pop("affine")
    theirs = theirs_type(*args, dtype=dtype, **renamed)
    if ours_type is LieInstanceNorm:
        options = {"correction": 1, **options}
    ours = ours_type(LINE, *args, dtype=dtype, **options)
    if theirs.weight is not None:
        with torch.no_grad():
            for p in (theirs.weight, theirs.bias):
                p.copy_(torch.randn(p.shape, generator=generator, dtype=dtype))
            ours.scale.copy_(theirs.weight)
            ours.bias_tangent.copy_(theirs.bias)
    return theirs, ours


def outcome(layer, parameters, x, along):
    """Output, and the gradients of input, weight and bias."""
    x = x.clone().requires_grad_()
    y = layer(x)
    learnt = [p for p in parameters if p is not None]
    return [y, *torch.autograd.grad((y * along).sum(), [x, *learnt])]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_equals_torch_over_several_steps(case, dtype, generator):
    theirs, ours = pair(case, dtype, generator)
    shape = CASES[case][-1]
    for training in (True, True, False, True, False):
        theirs.train(training)
        ours.train(training)
        x = 2 + 3 * torch.randn(shape, generator=generator, dtype=dtype)
        along = torch.randn(shape, generator=generator, dtype=dtype)
        expected = outcome(theirs, (theirs.weight, theirs.bias), x, along)
        found = outcome(ours, (ours.scale, ours.bias_tangent), x, along)
        for a, e in zip(found, expected, strict=True):
            close(a, e, "rounding")
        if getattr(theirs, "running_mean", None) is not None:
            close(ours.running_mean, theirs.running_mean)
            close(ours.running_var, theirs.running_var)


@pytest.mark.parametrize("case", CASES)
def test_has_the_parameters_and_buffers_of_torch(case, generator):
    theirs, ours = pair(case, torch.float32, generator)
    for kind in ("parameters", "buffers"):
        shapes = [t.shape for t in getattr(theirs, kind)()]
        assert [t.shape for t in getattr(ours, kind)()] == shapes
    assert ours.training == theirs.training
