"""A batch that cannot be normalized: the error names the sample, and nothing has changed."""

from contextlib import suppress

import pytest
import torch

from liebn import DomainLieBatchNorm, LieBatchNorm, MomentumLieBatchNorm
from liebn.groups import SO, Euclidean, spd
from tests.layers.spaces import SPACES, on, points

SPD = {name: spd(4, name) for name in ("aim", "gyro-aim", "crim", "lem", "alem", "lcm")}
SPD |= {"aim(0.5)": spd(4, theta=0.5), "lcm(-1)": spd(4, "lcm", theta=-1.0)}
MODES = ("exact", "fast", "reference")


def indefinite(size, generator):
    """A symmetric matrix with one negative eigenvalue."""
    values = torch.tensor([1.0, 2.0, 3.0, -size], dtype=torch.float64)
    basis = SO(4).random(generator=generator, dtype=torch.float64)
    x = (basis * values) @ basis.mT
    return 0.5 * (x + x.mT)


def refuses(layer, message, *args, **options):
    """The layer raises this error, and its state stays the same to the last bit."""
    before = {name: b.clone() for name, b in layer.state_dict().items()}
    with pytest.raises(ValueError, match=message):
        layer(*args, **options)
    after = layer.state_dict()
    assert after.keys() == before.keys()
    for name, value in before.items():
        assert torch.equal(after[name], value), f"{name} has changed"


def trained(layer, *args):
    """A layer whose running averages have moved from the start."""
    layer(*args)
    return layer


@on(SPACES)
@pytest.mark.parametrize("value", [torch.nan, torch.inf, -torch.inf], ids=str)
def test_a_sample_that_is_not_finite_is_named(space, value, generator):
    x = points(space, 4, 2, 3, generator=generator)
    layer = trained(LieBatchNorm(space, 2, dtype=torch.float64), x)
    x[(2, 1, 0, *(0 for _ in space.point_shape))] = value
    refuses(layer, r"sample \[2, 1, 0\] .*finite", x)
    layer.eval()
    refuses(layer, r"sample \[2, 1, 0\] .*finite", x)


@on(SPD)
@pytest.mark.parametrize("statistics", MODES)
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_a_matrix_that_is_not_positive_definite_is_named(space, statistics, size, generator):
    layer = LieBatchNorm(space, 2, statistics=statistics, dtype=torch.float64)
    x = points(spd(4), 5, 2, 3, generator=generator)
    layer(x)
    x[3, 1, 2] = indefinite(size, generator)
    refuses(layer, r"sample \[3, 1, 2\] is not positive definite", x)
    layer.eval()
    refuses(layer, r"sample \[3, 1, 2\] is not positive definite", x)


@on(SPD)
def test_a_singular_matrix_is_named(space, generator):
    layer = LieBatchNorm(space, dtype=torch.float64)
    x = points(spd(4), 5, generator=generator)
    x[1] = torch.diag(torch.tensor([1.0, 2.0, 0.0, 3.0]))
    refuses(layer, r"sample \[1\] is not positive definite", x)


def test_the_sample_is_named_without_channels_and_with_many(generator):
    x = points(spd(4), 3, 2, 2, generator=generator)
    x[2, 0, 1] = -x[2, 0, 1]
    refuses(LieBatchNorm(spd(4), (2, 2), dtype=torch.float64), r"sample \[2, 0, 1\]", x)
    refuses(LieBatchNorm(spd(4), dtype=torch.float64), r"sample \[2, 0, 1\]", x)
    refuses(LieBatchNorm(spd(4), dtype=torch.float64), r"sample \[1\]", x[1:, 0, 1])


@pytest.mark.parametrize("bad", [torch.nan, -1.0])
def test_a_momentum_layer_keeps_both_sets_of_averages(bad, generator):
    x = points(spd(4), 5, generator=generator)
    layer = trained(MomentumLieBatchNorm(spd(4), dtype=torch.float64), x)
    x[4] *= bad
    refuses(layer, r"sample \[4\]", x)


@pytest.mark.parametrize("bad", [torch.nan, -1.0])
@pytest.mark.parametrize("training", [True, False])
def test_a_domain_layer_names_the_sample_in_the_whole_batch(bad, training, generator):
    x = points(spd(4), 6, 2, generator=generator)
    domain = torch.tensor([0, 1, 0, 1, 2, 1])
    layer = trained(DomainLieBatchNorm(spd(4), 3, 2, dtype=torch.float64), x, domain)
    x[5, 1] *= bad
    refuses(layer.train(training), r"sample \[5, 1\]", x, domain)


def test_a_domain_layer_adds_no_domain_for_a_bad_batch(generator):
    x = points(spd(4), 3, generator=generator)
    layer = DomainLieBatchNorm(spd(4), 2, allow_unseen=True, dtype=torch.float64)
    x[1] = torch.nan
    refuses(layer, r"sample \[1\]", x, 7)


@on(SPACES)
@pytest.mark.parametrize("make", [LieBatchNorm, MomentumLieBatchNorm])
def test_an_empty_batch(space, make):
    layer = make(space, 2, dtype=torch.float64)
    x = space.identity(0, 2, 3, dtype=torch.float64)
    refuses(layer, "empty batch", x)
    assert layer.eval()(x).shape == x.shape


def test_an_empty_batch_with_domains():
    layer = DomainLieBatchNorm(spd(3), 2)
    x, domain = torch.empty(0, 3, 3), torch.empty(0, dtype=torch.long)
    refuses(layer, "empty batch", x, domain)
    assert layer.eval()(x, domain).shape == x.shape


HUGE = {
    "float64": (torch.float64, torch.float64, 1e200),
    "float32": (torch.float32, torch.float32, 1e30),
    "float64 into float32": (torch.float64, torch.float32, 1e30),
    "float32 into float16": (torch.float32, torch.float16, 1e4),
}


@pytest.mark.parametrize("dtype, own, size", HUGE.values(), ids=HUGE)
@pytest.mark.parametrize("make", [LieBatchNorm, MomentumLieBatchNorm])
def test_statistics_that_overflow_are_refused(dtype, own, size, make):
    layer = make(Euclidean(2)).to(own)
    x = size * torch.tensor([[0.0, 1.0], [1.0, -1.0], [-1.0, 1.0]], dtype=dtype)
    refuses(layer, "overflow", x)


def test_an_overflow_in_one_domain_leaves_all_of_them():
    layer = DomainLieBatchNorm(Euclidean(1), 2, dtype=torch.float64)
    x = torch.tensor([[1.0], [2.0], [1e200], [-1e200]], dtype=torch.float64)
    refuses(layer, "overflow", x, torch.tensor([0, 0, 1, 1]))


def test_one_sample_too_few_in_one_domain_leaves_all_of_them():
    layer = DomainLieBatchNorm(Euclidean(1), 2, correction=1, dtype=torch.float64)
    x = torch.tensor([[1.0], [2.0], [3.0]], dtype=torch.float64)
    refuses(layer, "more than one sample", x, torch.tensor([0, 0, 1]))


@pytest.mark.parametrize("metric", ["aim", "lem", "lcm"])
def test_huge_matrices_leave_finite_statistics(metric, generator):
    """Entries near the largest number: whether taken or refused, no average may overflow."""
    x = points(spd(4), 5, generator=generator)
    layer = LieBatchNorm(spd(4, metric), dtype=torch.float64)
    x = x * (1e307 / x.abs().max())
    with suppress(ValueError):
        layer(x)
    assert all(bool(torch.isfinite(b).all()) for b in layer.buffers())
