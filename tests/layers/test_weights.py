"""Weights of samples: masks for padded batches, and counts."""

import pytest
import torch

from liebn import DomainLieBatchNorm, LieBatchNorm, MomentumLieBatchNorm
from liebn.groups import Euclidean, spd
from tests.layers.spaces import SPACES, on, points
from tests.layers.tolerances import close

MASK = torch.tensor([1.0, 0.0, 1.0, 1.0, 0.0, 1.0])
FILLINGS = {"nan": torch.nan, "inf": torch.inf, "zero": 0.0, "negative": -1e300}


def train(layer, x, *args):
    """Output and gradient of a training pass."""
    x = x.clone().requires_grad_()
    y = layer(x, *args)
    (grad,) = torch.autograd.grad(torch.where(y.isnan(), 0, y)[_kept(args, y)].square().sum(), x)
    return y.detach(), grad


def _kept(args, y):
    weights = [a for a in args if a.is_floating_point()]
    return weights[0] > 0 if weights else torch.ones(len(y), dtype=torch.bool)


def same_statistics(one, other, law="rounding"):
    for name, buffer in one.named_buffers():
        if buffer.is_floating_point():
            close(buffer, dict(other.named_buffers())[name], law)


@on(SPACES)
@pytest.mark.parametrize("statistics", ["exact", "fast", "reference"])
@pytest.mark.parametrize("filling", FILLINGS.values(), ids=FILLINGS)
def test_a_mask_drops_samples(space, statistics, filling, generator):
    x = points(space, 6, generator=generator)
    kept = MASK > 0
    padded = x.clone()
    padded[~kept] = filling
    masked, dropped = (
        LieBatchNorm(space, statistics=statistics, dtype=torch.float64) for _ in "ab"
    )
    y, grad = train(masked, padded, MASK)
    expected, expected_grad = train(dropped, x[kept])
    close(y[kept], expected, "search")
    close(grad[kept], expected_grad, "search")
    same_statistics(masked, dropped, "search")
    assert bool((grad[~kept] == 0).all())
    assert bool(torch.isfinite(y).all())


@on({k: SPACES[k] for k in ("euclidean", "spd-aim", "spd-lcm", "so", "product")})
def test_a_masked_sample_has_no_gradient_whatever_comes_back(space, generator):
    x = points(space, 6, generator=generator).requires_grad_()
    y = LieBatchNorm(space, dtype=torch.float64)(x, MASK)
    upstream = torch.ones_like(y)
    upstream[MASK == 0] = 1e200
    (grad,) = torch.autograd.grad(y, x, upstream)
    assert bool((grad[MASK == 0] == 0).all())


@on({k: SPACES[k] for k in ("euclidean", "spd-aim", "spd-lem", "so", "product")})
def test_weights_count_samples(space, generator):
    x = points(space, 4, generator=generator)
    counts = torch.tensor([1, 3, 2, 1])
    for correction in (0, 1):
        weighted, repeated = (
            LieBatchNorm(space, correction=correction, dtype=torch.float64) for _ in range(2)
        )
        close(
            weighted(x, counts).repeat_interleave(counts, 0),
            repeated(x.repeat_interleave(counts, 0)),
            "search",
        )
        same_statistics(weighted, repeated, "search")


@on({k: SPACES[k] for k in ("euclidean", "spd-aim", "so")})
def test_weights_have_the_shape_of_batch_and_extra_dimensions(space, generator):
    x = points(space, 3, 2, 4, generator=generator)
    weights = torch.rand(3, 4, generator=generator, dtype=torch.float64)
    full, flat = (LieBatchNorm(space, 2, dtype=torch.float64) for _ in range(2))
    y = full(x, weights)
    z = flat(x.movedim(1, 2).flatten(0, 1), weights.flatten())
    close(y, z.reshape(3, 4, 2, *space.point_shape).movedim(2, 1))
    one_each = full(x, weights[:, 0])
    close(one_each, full(x, weights[:, :1].expand(3, 4)))


def test_momentum_and_domain_layers_take_weights_too(generator):
    space, kept = spd(3), MASK > 0
    x = points(space, 6, generator=generator)
    padded = x.clone()
    padded[~kept] = torch.nan
    domain = torch.tensor([0, 2, 1, 1, 0, 0])
    makes = (
        (lambda: MomentumLieBatchNorm(space, gamma=0.3, dtype=torch.float64), ()),
        (lambda: DomainLieBatchNorm(space, 3, gamma=0.3, dtype=torch.float64), (domain,)),
    )
    for make, extra in makes:
        masked, dropped = make(), make()
        y, grad = train(masked, padded, *extra, MASK)
        expected, expected_grad = train(dropped, x[kept], *(e[kept] for e in extra))
        close(y[kept], expected)
        close(grad[kept], expected_grad)
        same_statistics(masked, dropped)
        assert bool(torch.isfinite(y).all())


@pytest.mark.parametrize(
    "weights, message",
    [
        (torch.tensor([1.0, -1.0, 1.0]), "not negative"),
        (torch.tensor([1.0, torch.nan, 1.0]), "finite"),
        (torch.zeros(3), "positive weight"),
        (torch.ones(2), "weights of shape"),
        (torch.ones(3, 1), "weights of shape"),
    ],
)
def test_bad_weights_are_refused(weights, message):
    layer = LieBatchNorm(Euclidean(2))
    before = {k: v.clone() for k, v in layer.state_dict().items()}
    with pytest.raises(ValueError, match=message):
        layer(torch.zeros(3, 2), weights)
    assert all(torch.equal(v, before[k]) for k, v in layer.state_dict().items())
