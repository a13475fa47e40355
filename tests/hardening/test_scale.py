"""Matrices of every size, from 1e-30 to 1e30: what is exact in real numbers stays so.

Under AIM, gyro-AIM, CRIM and LEM the map X ↦ cX is a translation, by the point c I that commutes
with all: it moves the mean and changes no distance, so that the layer gives for cX what it gives
for X. Under LCM it is none, and the layer is held to its moments instead.
"""

import pytest
import torch

from liebn import DomainLieBatchNorm, LieBatchNorm, MomentumLieBatchNorm
from liebn.groups import spd
from liebn.nn import LieGroupNorm, LieInstanceNorm, LieLayerNorm, ReEig
from tests.layers.spaces import points
from tests.layers.tolerances import close, error

DOUBLE = (1e-30, 1e-10, 1e10, 1e30)
SINGLE = (1e-30, 1e-15, 1e15, 1e30)
INVARIANT = ("aim", "gyro-aim", "crim", "lem")
MODES = ("exact", "fast", "reference")


def forward_and_gradient(layer, x, *rest):
    """Output and gradient, and the output of evaluation with the averages it has left."""
    x = x.clone().requires_grad_()
    y = layer(x, *rest)
    along = torch.linspace(-1, 1, y.numel(), dtype=y.dtype).reshape(y.shape)
    (gradient,) = torch.autograd.grad((y * along).sum(), x)
    return y.detach(), gradient, layer.eval()(x.detach(), *rest)


@pytest.mark.parametrize("c", DOUBLE)
@pytest.mark.parametrize("theta", [1.0, 0.5, -0.5])
@pytest.mark.parametrize("metric", INVARIANT)
def test_scaling_changes_nothing(metric, theta, c, generator):
    x = points(spd(3), 6, generator=generator)
    for mode in MODES:

        def layer(mode=mode):
            space = spd(3, metric, theta=theta)
            return LieBatchNorm(space, momentum=None, statistics=mode, dtype=torch.float64)

        y, gradient, evaluated = forward_and_gradient(layer(), x)
        scaled, scaled_gradient, scaled_evaluated = forward_and_gradient(layer(), c * x)
        # "reference" starts one step from the arithmetic mean, which scales as well.
        close(scaled, y, "formula")
        close(c * scaled_gradient, gradient, "formula")
        close(scaled_evaluated, evaluated, "formula")


RELATIVES = {
    "momentum": (lambda s: MomentumLieBatchNorm(s, gamma=1.0, dtype=torch.float64), ()),
    "domains": (
        lambda s: DomainLieBatchNorm(s, 2, gamma=1.0, dtype=torch.float64),
        (torch.tensor([0, 1, 0, 1]),),
    ),
    "instance": (lambda s: LieInstanceNorm(s, dtype=torch.float64), ()),
    "group": (lambda s: LieGroupNorm(s, 1, 3, dtype=torch.float64), ()),
    "layer": (lambda s: LieLayerNorm(s, 3, dtype=torch.float64), ()),
}


@pytest.mark.parametrize("c", [1e-30, 1e30])
@pytest.mark.parametrize("metric", INVARIANT)
@pytest.mark.parametrize("name", RELATIVES)
def test_scaling_changes_nothing_in_any_layer(name, metric, c, generator):
    make, rest = RELATIVES[name]
    x = points(spd(3), 4, 3, generator=generator)
    plain = forward_and_gradient(make(spd(3, metric)), x, *rest)
    y, gradient, evaluated = forward_and_gradient(make(spd(3, metric)), c * x, *rest)
    for found, expected in zip((y, c * gradient, evaluated), plain, strict=True):
        close(found, expected, "formula")


@pytest.mark.parametrize("c", SINGLE)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("metric", INVARIANT)
def test_scaling_changes_nothing_in_float32(metric, mode, c, generator):
    """All powers of θ = 1 and their derivatives are numbers of float32."""
    x = points(spd(3), 6, generator=generator)
    layers = [LieBatchNorm(spd(3, metric), momentum=None, statistics=mode) for _ in range(2)]
    y, _, evaluated = forward_and_gradient(layers[0], x.float())
    scaled, gradient, scaled_evaluated = forward_and_gradient(layers[1], (c * x).float())
    close(scaled, y, "formula", torch.float32)
    close(scaled_evaluated, evaluated, "formula", torch.float32)
    assert bool(torch.isfinite(gradient).all())


@pytest.mark.parametrize("c", DOUBLE)
def test_lcm_controls_the_moments_at_every_scale(c, generator):
    space = spd(3, "lcm")
    x = c * points(spd(3), 8, generator=generator)
    layer = LieBatchNorm(space, eps=0.0, momentum=None, dtype=torch.float64)
    y = layer(x).detach()
    identity = space.identity(dtype=torch.float64)
    assert float(space.distance(space.mean(y), identity)) <= 1e-9
    assert float(space.squared_distance(y, identity).mean()) == pytest.approx(1, rel=1e-9)
    close(layer.eval()(x).detach(), y, "formula")


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
def test_a_running_mean_that_its_dtype_cannot_hold_is_refused(dtype, generator):
    """One tenth of the way from I to a huge mean, LCM goes through matrices far from any float."""
    layer = LieBatchNorm(spd(3, "lcm"), dtype=dtype)
    x = points(spd(3), 8, generator=generator)
    layer(x.to(dtype))
    before = {name: value.clone() for name, value in layer.state_dict().items()}
    with pytest.raises(ValueError, match=r"running mean that torch\.float.* can hold"):
        layer((1e30 * x).to(dtype))
    assert all(torch.equal(value, before[name]) for name, value in layer.state_dict().items())
    assert bool(torch.isfinite(layer.eval()(x.to(dtype))).all())


def test_a_mean_in_double_that_a_single_layer_cannot_hold_is_refused():
    basis = torch.linalg.qr(torch.randn(3, 3, dtype=torch.float64)).Q
    values = torch.tensor([1.0, 1e-6, 1e-12], dtype=torch.float64)
    x = (basis * values) @ basis.mT * torch.tensor([1.0, 2.0], dtype=torch.float64)[:, None, None]
    layer = LieBatchNorm(spd(3), momentum=None)
    with pytest.raises(ValueError, match=r"running mean that torch\.float32 can hold"):
        layer(0.5 * (x + x.mT))
    assert torch.equal(layer.running_mean, torch.eye(3))


@pytest.mark.parametrize("size", [1e-30, 1.0, 1e30])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
def test_projection_keeps_the_size(size, dtype, generator):
    x = points(spd(3), 5, generator=generator, dtype=torch.float64)
    x[0] = x[0] - 10 * torch.eye(3)
    for space in (spd(3), spd(3, "lem")):
        expected = space.project(x)
        found = space.project((size * x).to(dtype)).double() / size
        assert error(found, expected) <= 64 * torch.finfo(dtype).eps


def test_a_threshold_is_not_scaled():
    """ReEig floors at a number of its own: below it nothing of the data is left."""
    x = 1e-30 * torch.diag(torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64))
    close(ReEig(1e-4)(x), 1e-4 * torch.eye(3, dtype=torch.float64))
