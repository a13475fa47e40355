"""In exact mode gradients flow through mean and variance, on every space."""

import pytest
import torch
from torch.autograd import gradcheck
from torch.func import functional_call

from liebn import DomainLieBatchNorm, LieBatchNorm, MomentumLieBatchNorm
from liebn.groups import spd
from tests.layers.spaces import SPACES, on, points
from tests.layers.tolerances import GRADCHECK, close

KINDS = {
    "plain": (LieBatchNorm, {}, ()),
    "mean only": (LieBatchNorm, {"mean_only": True}, ()),
    "momentum": (MomentumLieBatchNorm, {"gamma": 0.4}, ()),
    "domains": (DomainLieBatchNorm, {"domains": 2, "gamma": 0.4}, (torch.tensor([0, 1, 0, 0, 1]),)),
}


def check(layer, p, generator, extra=()):
    """Gradcheck in v, where the input is p ⊕ exp(v), and in every parameter."""
    space = layer.group
    names, start = zip(*layer.named_parameters(), strict=True)
    start = [
        s.detach() + 0.2 * torch.randn(s.shape, generator=generator, dtype=s.dtype) for s in start
    ]
    shape = (*p.shape[: p.dim() - len(space.point_shape)], *space.model.point_shape)
    v = 0.1 * torch.randn(shape, generator=generator, dtype=torch.float64)
    kept = {name: b.clone() for name, b in layer.named_buffers()}

    def output(v, *values):
        x = space.compose(p, space.exp(v))
        state = {**dict(zip(names, values, strict=True)), **{k: b.clone() for k, b in kept.items()}}
        return functional_call(layer, state, (x, *extra))

    leaves = [t.requires_grad_() for t in (v, *start)]
    assert gradcheck(output, leaves, **GRADCHECK)


@on(SPACES)
def test_gradcheck_in_training(space, generator):
    check(
        LieBatchNorm(space, dtype=torch.float64), points(space, 4, generator=generator), generator
    )


@on(SPACES)
def test_gradcheck_in_evaluation(space, generator):
    layer = LieBatchNorm(space, dtype=torch.float64)
    with torch.no_grad():
        layer(points(space, 5, generator=generator))
    check(layer.eval(), points(space, 2, generator=generator), generator)


@on({k: SPACES[k] for k in ("euclidean", "spd-aim", "spd-gyro-aim", "spd-lcm", "so", "product")})
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_gradcheck_of_every_kind_of_layer(space, kind, generator):
    make, options, extra = kind
    layer = make(space, dtype=torch.float64, **options)
    check(layer, points(space, 5, generator=generator), generator, extra)


@on({k: SPACES[k] for k in ("spd-aim", "spd-lem", "so")})
def test_gradcheck_with_channels_and_extra_dimensions(space, generator):
    layer = LieBatchNorm(space, 2, dtype=torch.float64)
    check(layer, points(space, 2, 2, 2, generator=generator), generator)


@on({k: SPACES[k] for k in ("euclidean", "spd-aim", "spd-gyro-aim", "so", "product")})
def test_gradcheck_with_weights(space, generator):
    layer = LieBatchNorm(space, dtype=torch.float64)
    weights = torch.tensor([1.0, 0.3, 2.0, 0.7], dtype=torch.float64)
    check(layer, points(space, 4, generator=generator), generator, (weights,))


def test_gradcheck_at_repeated_eigenvalues(generator):
    for metric in ("aim", "gyro-aim", "lem", "alem", "lcm", "crim"):
        p = torch.eye(3, dtype=torch.float64).repeat(4, 1, 1)
        p[1] *= 2
        p[2, 0, 0] = 3
        space = spd(3, metric)
        layer = LieBatchNorm(space, dtype=torch.float64)
        x = p.clone().requires_grad_()

        def function(x, layer=layer):
            return layer(0.5 * (x + x.mT))

        assert gradcheck(function, [x], **GRADCHECK)


@on(SPACES)
@pytest.mark.parametrize("statistics", ["exact", "fast", "reference"])
def test_no_parameter_is_without_a_gradient(space, statistics, generator):
    layer = LieBatchNorm(space, statistics=statistics, dtype=torch.float64)
    y = layer(points(space, 5, generator=generator))
    (y * torch.randn(y.shape, generator=generator, dtype=torch.float64)).sum().backward()
    for name, parameter in layer.named_parameters():
        assert parameter.grad is not None, name
        assert bool((parameter.grad != 0).any()), name


@on(SPACES)
@pytest.mark.parametrize("make", [LieBatchNorm, MomentumLieBatchNorm])
def test_a_layer_used_twice_before_backward(space, make, generator):
    """The second pass moves the running averages; the first one's gradients must not mind."""
    x, other = (points(space, 5, generator=generator).requires_grad_() for _ in range(2))
    layer = make(space, dtype=torch.float64)
    once = torch.autograd.grad(layer(x).square().sum(), x)[0]
    layer.reset_running_stats()
    y, z = layer(x), layer(other)
    twice = torch.autograd.grad(y.square().sum() + 0 * z.sum(), x)[0]
    close(twice, once)


@on({k: SPACES[k] for k in ("spd-aim", "so", "spd-lem")})
def test_the_output_of_a_batch_of_one_does_not_depend_on_it(space, generator):
    x = points(space, 1, generator=generator).requires_grad_()
    layer = LieBatchNorm(space, dtype=torch.float64)
    (grad,) = torch.autograd.grad(layer(x).square().sum(), x)
    v = torch.zeros_like(grad, requires_grad=True)
    (tangential,) = torch.autograd.grad(space.compose(x.detach(), space.exp(v)), v, grad)
    # A scale factor of 1/√ε amplifies what rounding leaves.
    close(tangential, torch.zeros_like(tangential), "search")
