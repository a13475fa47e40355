"""Exact mode: the output has mean B and variance s² v² / (v² + ε)."""

import pytest
import torch

from liebn import LieBatchNorm
from liebn.groups import SO, spd
from tests.layers.moments import KAPPAS, controlled, errors, kappa_errors
from tests.layers.spaces import CATALOG, COMBINED, DEFORMED, THETAS, hadamard, on, points
from tests.layers.tolerances import close, tolerance

HADAMARD = {k: s for k, s in {**CATALOG, **COMBINED, **DEFORMED}.items() if hadamard(s)}
COMPACT = {k: s for k, s in {**CATALOG, **COMBINED, "so(5)": SO(5)}.items() if not hadamard(s)}


def layer_on(space, generator, scale, **options):
    """A layer whose scale and bias are not the neutral ones."""
    layer = LieBatchNorm(space, dtype=torch.float64, **options)
    with torch.no_grad():
        layer.scale.fill_(scale)
        shape = layer.bias_tangent.shape
        layer.bias_tangent.copy_(0.5 * torch.randn(shape, generator=generator, dtype=torch.float64))
    return layer


@on(HADAMARD)
def test_mean_and_variance_on_hadamard_spaces(space, generator):
    for spread, scale in ((0.3, 1.7), (1.5, 0.6), (1.5, -1.0)):
        layer = layer_on(space, generator, scale)
        found = errors(layer, points(space, 12, generator=generator, spread=spread))
        assert max(found) <= tolerance("moments"), found


@on(COMPACT)
def test_mean_and_variance_within_the_injectivity_radius(space, generator):
    for scale in (0.5, 0.8):
        layer = layer_on(space, generator, scale)
        x = points(space, 12, generator=generator, spread=0.2)
        assert controlled(layer, x), "the case is chosen inside the radius"
        found = errors(layer, x)
        assert max(found) <= tolerance("moments"), found


@on(COMPACT)
def test_past_the_injectivity_radius_the_factor_still_scales_a_zero_mean_logarithm(
    space, generator
):
    """Scaled logarithms may wrap around; before that their mean is zero at the identity."""
    layer = layer_on(space, generator, 6.0)
    x = points(space, 12, generator=generator, spread=0.2)
    assert not controlled(layer, x), "the case is chosen outside the radius"
    with torch.no_grad():
        mean = space.mean(x)
        logs = space.log(space.untranslate(mean, x))
        factor = layer.scale / (space.squared_norm(logs).mean() + layer.eps).sqrt()
        wrapped = space.compose(layer.bias_point, space.exp(factor * logs))
    close(logs.mean(0), torch.zeros_like(logs[0]), "moments")
    close(layer(x), wrapped, "search")


@pytest.mark.parametrize("kappa", KAPPAS)
@pytest.mark.parametrize("theta", THETAS)
@pytest.mark.parametrize("metric", ["aim", "gyro-aim", "crim", "lem", "lcm"])
def test_precision_follows_the_condition_number(metric, theta, kappa):
    found = kappa_errors(spd(4, metric, theta=theta), theta, kappa)
    allowed = tolerance("moments")
    if kappa > 100:
        allowed = max(allowed, tolerance("moments-times-kappa") * kappa)
    assert max(found) <= allowed, f"{max(found):.1e}, allowed {allowed:.1e}"


@on({**CATALOG, **COMBINED})
def test_a_batch_of_one_becomes_b(space, generator):
    layer = layer_on(space, generator, 1.3)
    y = layer(points(space, 1, generator=generator))
    close(y[0], layer.bias_point, "moments")


@on({**CATALOG, **COMBINED})
def test_equal_samples_become_b_with_finite_gradients(space, generator):
    layer = layer_on(space, generator, 1.3)
    x = points(space, 1, generator=generator).expand(4, *space.point_shape).clone()
    x.requires_grad_()
    y = layer(x)
    close(y, layer.bias_point.expand_as(y), "moments")
    (y * torch.randn(y.shape, generator=generator, dtype=torch.float64)).sum().backward()
    for tensor in (x, layer.scale, layer.bias_tangent):
        assert bool(torch.isfinite(tensor.grad).all())


@on({**CATALOG, **COMBINED})
def test_mean_only_moves_the_mean_and_keeps_distances(space, generator):
    x = points(space, 6, generator=generator)
    layer = LieBatchNorm(space, mean_only=True, dtype=torch.float64)
    with torch.no_grad():
        layer.bias_tangent.copy_(0.2 * torch.randn_like(layer.bias_tangent))
    y = layer(x)
    close(space.mean(y), layer.bias_point, "moments")
    close(space.distance(y[0], y[1:]), space.distance(x[0], x[1:]), "moments")
    assert layer.scale is None
    assert float(layer.running_var) == 1
