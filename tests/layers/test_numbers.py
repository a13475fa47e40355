"""Precisions and devices: half precision, autocast, `.to`, defaults."""

import pytest
import torch

from liebn import DomainLieBatchNorm, LieBatchNorm, MomentumLieBatchNorm
from liebn.groups import Euclidean, spd
from tests.layers.spaces import SPACES, on, points
from tests.layers.tolerances import close

HALVES = (torch.float16, torch.bfloat16)


@on(SPACES)
@pytest.mark.parametrize("half", HALVES, ids=str)
def test_half_precision_is_computed_in_float32_and_cast_back(space, half, generator):
    x = points(space, 6, generator=generator, dtype=half)
    layer, single = (LieBatchNorm(space, dtype=torch.float32) for _ in range(2))
    for training in (True, False):
        y = layer.train(training)(x)
        assert y.dtype == half
        close(y, single.train(training)(x.float()).to(half), "rounding", torch.float32)
    assert layer.running_mean.dtype == torch.float32


@on({k: SPACES[k] for k in ("euclidean", "spd-aim", "spd-lcm", "so", "product")})
@pytest.mark.parametrize("half", HALVES, ids=str)
def test_autocast_does_not_reach_inside(space, half, generator):
    x = points(space, 6, generator=generator, dtype=torch.float32).requires_grad_()
    plain, cast = (LieBatchNorm(space) for _ in range(2))
    expected = plain(x)
    (expected_grad,) = torch.autograd.grad(expected.square().sum(), x)
    with torch.autocast("cpu", dtype=half):
        y = cast(x)
        assert y.dtype == torch.float32
        assert cast(x.detach().to(half)).dtype == half
    (grad,) = torch.autograd.grad(y.square().sum(), x)
    assert torch.equal(y, expected)
    assert torch.equal(grad, expected_grad)


@on(SPACES)
def test_a_double_input_to_a_single_layer_is_computed_in_double(space, generator):
    x = points(space, 6, generator=generator)
    single, double = LieBatchNorm(space), LieBatchNorm(space, dtype=torch.float64)
    close(single(x), double(x))
    assert single.running_mean.dtype == torch.float32
    close(single.running_mean, double.running_mean.float(), "rounding")


@on(SPACES)
def test_float32_agrees_with_float64(space, generator):
    x = points(space, 6, generator=generator, spread=0.2)
    single, double = LieBatchNorm(space), LieBatchNorm(space, dtype=torch.float64)
    y = single(x.float())
    assert y.dtype == torch.float32
    close(y, double(x.float().double()).float(), "formula", torch.float32)


@on(SPACES)
def test_to_moves_parameters_and_averages(space, generator):
    layer = LieBatchNorm(space, 2).to(torch.device("cpu"), torch.float64)
    tensors = [*layer.parameters(), layer.running_mean, layer.running_var]
    assert {t.dtype for t in tensors} == {torch.float64}
    assert layer.num_batches_tracked.dtype == torch.long
    x = points(space, 4, 2, generator=generator)
    close(layer(x), LieBatchNorm(space, 2, dtype=torch.float64)(x))


def test_to_meta_and_back_keeps_every_shape():
    for layer in (
        LieBatchNorm(spd(3), 2, device="meta"),
        MomentumLieBatchNorm(spd(3), 2, device="meta"),
    ):
        assert {t.device.type for t in (*layer.parameters(), *layer.buffers())} == {"meta"}
        shapes = {k: v.shape for k, v in layer.state_dict().items()}
        layer.to_empty(device="cpu").reset_parameters()
        assert {k: v.shape for k, v in layer.state_dict().items()} == shapes
        assert torch.equal(layer.running_var, torch.ones_like(layer.running_var))


def test_without_parameters_or_averages_the_input_decides():
    layer = LieBatchNorm(Euclidean(2), affine=False, track_running_stats=False)
    assert layer(torch.ones(3, 2, dtype=torch.float64)).dtype == torch.float64
    assert layer(torch.ones(3, 2, dtype=torch.float16)).dtype == torch.float16


@on(SPACES)
def test_untrained_evaluation_is_the_identity_map_up_to_eps(space, generator):
    x = points(space, 4, 2, generator=generator)
    for make in (
        LieBatchNorm,
        MomentumLieBatchNorm,
        lambda s, c, **o: DomainLieBatchNorm(s, 2, c, **o),
    ):
        domain = (1,) if make not in (LieBatchNorm, MomentumLieBatchNorm) else ()
        exact = make(space, 2, eps=0.0, dtype=torch.float64).eval()
        close(exact(x, *domain), x, "formula")
        nearly = make(space, 2, dtype=torch.float64).eval()
        y = nearly(x, *domain)
        # Every point comes nearer to the identity by the factor 1/√(1 + ε).
        logs = space.log(x) / (1 + nearly.eps) ** 0.5
        close(y, space.exp(logs), "formula")


@on({k: s for k, s in SPACES.items() if s.manifold() is not None})
def test_a_bias_on_the_manifold_is_the_same_bias(space, generator):
    tangent = LieBatchNorm(space, dtype=torch.float64)
    point = LieBatchNorm(space, bias="manifold", dtype=torch.float64)
    with torch.no_grad():
        tangent.bias_tangent.copy_(0.3 * torch.randn_like(tangent.bias_tangent))
        point.bias_manifold.copy_(tangent.bias_point)
    x = points(space, 5, generator=generator)
    close(point(x), tangent(x), "formula")
    point(x).square().sum().backward()
    assert bool(torch.isfinite(point.bias_manifold.grad).all())
    point.reset_parameters()
    close(point.bias_point.detach(), space.identity(dtype=torch.float64))


def test_a_space_without_a_manifold_refuses_a_bias_on_it():
    with pytest.raises(ValueError, match="bias='tangent'"):
        LieBatchNorm(SPACES["product"], bias="manifold")


def test_without_affine_the_bias_is_the_identity():
    layer = LieBatchNorm(spd(3), 2, affine=False)
    assert list(layer.parameters()) == []
    assert torch.equal(layer.bias_point, torch.eye(3).expand(2, 3, 3))


@pytest.mark.parametrize(
    "layer",
    [
        LieBatchNorm(spd(3), dtype=torch.float64),
        LieBatchNorm(spd(3), affine=False, dtype=torch.float64),
        DomainLieBatchNorm(spd(3), 2, dtype=torch.float64),
    ],
    ids=["plain", "not affine", "domains"],
)
def test_the_bias_has_the_dtype_of_the_layer(layer):
    assert layer.bias_point.dtype == torch.float64
