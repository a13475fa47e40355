"""A layer on a space with something to learn: ALEM, whose logarithm has slopes."""

import copy
import io

import pytest
import torch

from liebn import DomainLieBatchNorm, LieBatchNorm, MomentumLieBatchNorm
from liebn.groups import spd
from tests.cases import alem
from tests.layers.moments import errors
from tests.layers.spaces import points
from tests.layers.tolerances import close, tolerance


def learnt(p, q, dtype=torch.float64):
    """A layer whose space has these slopes, which it can go on learning."""
    return LieBatchNorm(alem(3, p, q).requires_grad_(True).to(dtype), dtype=dtype)


def test_at_first_it_is_log_euclidean(generator):
    x = points(spd(3), 8, generator=generator).requires_grad_()
    ours, theirs = (LieBatchNorm(spd(3, m), dtype=torch.float64) for m in ("alem", "lem"))
    found, expected = (
        (y := layer(x), torch.autograd.grad(y.square().sum(), x)[0]) for layer in (ours, theirs)
    )
    for actual, wanted in zip(found, expected, strict=True):
        close(actual, wanted, "formula")
    close(ours.running_mean, theirs.running_mean, "formula")


@pytest.mark.parametrize("p, q", [(0.5, 2.0), (3.0, 0.7)])
def test_moments_are_controlled_whatever_it_has_learnt(p, q, generator):
    layer = learnt(p, q)
    with torch.no_grad():
        layer.scale.fill_(0.7)
        layer.bias_tangent.copy_(0.4 * torch.randn(3, 3, generator=generator))
    found = errors(layer, points(spd(3), 12, generator=generator, spread=1.0))
    assert max(found) <= tolerance("moments"), found


def test_the_slopes_are_learnt(generator):
    """From the output of another layer, up to the factor that the scale takes up."""
    teacher, student = learnt(0.5, 1.5), learnt(1.0, 1.0)
    x = points(spd(3), 20, generator=generator, spread=1.5)
    wanted = teacher(x).detach()
    optimiser = torch.optim.LBFGS(student.parameters(), max_iter=60, line_search_fn="strong_wolfe")

    def loss():
        optimiser.zero_grad()
        off = (student(x) - wanted).square().sum()
        off.backward()
        return off

    before = float(loss().detach())
    optimiser.step(loss)
    assert float(loss().detach()) < 1e-6 * before
    low, high = student.group.diffeo.log_slopes.tolist()
    assert high - low == pytest.approx(torch.tensor(3.0).log().item(), rel=1e-2)


@pytest.mark.parametrize("make", [LieBatchNorm, MomentumLieBatchNorm, DomainLieBatchNorm])
def test_saving_copying_and_casting_take_the_slopes_along(make, generator):
    more = (1,) if make is DomainLieBatchNorm else ()
    layer = make(alem(3, 0.5, 1.5).requires_grad_(True), *more, 2)
    inputs = (points(spd(3), 5, 2, generator=generator, dtype=torch.float32), *(0 for _ in more))
    layer(*inputs)
    assert not layer.running_mean.requires_grad
    file = io.BytesIO()
    torch.save(layer.state_dict(), file)
    file.seek(0)
    fresh = make(spd(3, "alem"), *more, 2)
    fresh.load_state_dict(torch.load(file, weights_only=True))
    for other in (fresh, copy.deepcopy(layer)):
        assert torch.equal(other.group.diffeo.log_slopes, layer.group.diffeo.log_slopes)
        assert torch.equal(other.eval()(*inputs), layer.eval()(*inputs))
    with torch.no_grad():
        fresh.group.diffeo.log_slopes.zero_()
    assert not torch.allclose(fresh(*inputs), layer(*inputs), atol=1e-3)
    double = copy.deepcopy(layer).to(torch.float64)
    assert double.group.diffeo.log_slopes.dtype == torch.float64
    y = double(inputs[0].double(), *inputs[1:])
    close(layer(*inputs), y.float(), "formula", torch.float32)


def test_a_rule_that_detaches_holds_the_mean_constant(generator):
    space, x = alem(3, 0.5, 1.5).requires_grad_(True), points(spd(3), 5, generator=generator)
    for detach in (True, False):
        rule = LieBatchNorm(space, statistics="fast" if detach else "exact").rule
        assert space.centre(x, rule=rule).mean.requires_grad != detach


def test_it_takes_no_deformation_besides():
    with pytest.raises(ValueError, match="ALEM takes no θ"):
        spd(3, "alem", theta=0.5)
    with pytest.raises(ValueError, match="give no metric on 3×3"):
        spd(3, "alem", alpha=1.0, beta=-0.4)
