"""The layers of rotation networks: what they compute, and their gradients."""

import math

import pytest
import torch
from scipy.spatial.transform import Rotation

from liebn.groups import SO
from liebn.linalg import rotation
from liebn.nn.rotation import LogMap, Rectifier, RotMap, RotPooling

DOUBLE = torch.float64


def angles(x):
    vectors = Rotation.from_matrix(x.reshape(-1, 3, 3).numpy()).magnitude()
    return torch.from_numpy(vectors).reshape(x.shape[:-2])


@pytest.mark.parametrize("form", ["manifold", "parametrized"])
def test_rotmap_turns_each_location_by_its_own_rotation(form, generator):
    x = SO(3).random(2, 5, 4, generator=generator, dtype=DOUBLE)
    layer = RotMap(5, weight=form, dtype=DOUBLE)
    y = layer(x)
    for location in range(5):
        torch.testing.assert_close(y[:, location], layer.weight[location] @ x[:, location])
    assert float(SO(3).violation(layer.weight.detach()).max()) < 1e-14
    assert float(SO(3).violation(y.detach()).max()) < 1e-14


def test_rotmap_refuses_another_number_of_locations(generator):
    with pytest.raises(ValueError, match="one weight for each location"):
        RotMap(4)(SO(3).random(2, 5, 4, generator=generator))


@pytest.mark.parametrize("form", ["manifold", "parametrized"])
def test_rotmap_gradients(form, generator):
    layer = RotMap(2, weight=form, dtype=DOUBLE)
    name = "weight" if form == "manifold" else "parametrizations.weight.original"
    x = SO(3).random(2, 3, generator=generator, dtype=DOUBLE)

    def function(a, w):
        return torch.func.functional_call(layer, {name: w}, (a,))

    weight = dict(layer.named_parameters())[name].detach().as_subclass(torch.Tensor).clone()
    weight += 0.1 * torch.randn(2, 3, 3, dtype=DOUBLE, generator=generator)
    assert torch.autograd.gradcheck(function, (x.requires_grad_(), weight.requires_grad_()))


@pytest.mark.parametrize(
    "along, size, shape",
    [
        ("space", 2, (2, 3, 7)),
        ("space", 4, (2, 2, 7)),
        ("time", 4, (2, 5, 2)),
        ("time", 3, (2, 5, 3)),
        ("time", 7, (2, 5, 1)),
        ("time", 1, (2, 5, 7)),
    ],
)
def test_pooling_keeps_the_largest_angle_of_each_window(along, size, shape, generator):
    x = SO(3).random(2, 5, 7, generator=generator, dtype=DOUBLE)
    y = RotPooling(size, along)(x)
    assert y.shape == (*shape, 3, 3)
    dim = 1 if along == "space" else 2
    for window, winner in zip(x.split(size, dim), y.unbind(dim), strict=True):
        angle = angles(window)
        chosen = angle.argmax(dim, keepdim=True)[..., None, None]
        torch.testing.assert_close(winner, window.take_along_dim(chosen, dim).squeeze(dim))


def test_published_temporal_pooling_rounds_up(generator):
    x = SO(3).random(1, 2, 100, generator=generator)
    once = RotPooling(4, "time")(x)
    assert once.shape[2] == 25
    assert RotPooling(4, "time")(once).shape[2] == 7


def test_pooling_tells_apart_the_smallest_angles():
    vectors = torch.zeros(1, 1, 2, 3)
    vectors[0, 0, 0, 0], vectors[0, 0, 1, 0] = 1e-6, 2e-6
    x = rotation.exp(rotation.hat(vectors))
    # In float32 both have a trace of exactly 3.
    assert bool((x.diagonal(dim1=-2, dim2=-1).sum(-1) == 3).all())
    torch.testing.assert_close(RotPooling(2)(x)[0, 0, 0], x[0, 0, 1], rtol=0, atol=0)


def test_pooling_passes_the_gradient_to_the_winner_only(generator):
    x = SO(3).random(1, 1, 6, generator=generator, dtype=DOUBLE).requires_grad_()
    RotPooling(3)(x).sum().backward()
    received = x.grad.abs().sum((-2, -1)) > 0
    expected = torch.zeros(1, 1, 6, dtype=torch.bool)
    for start in (0, 3):
        expected[0, 0, start + int(angles(x.detach())[0, 0, start : start + 3].argmax())] = True
    assert torch.equal(received, expected)


@pytest.mark.parametrize("arguments, message", [((2, "depth"), "along"), ((0,), "at least 1")])
def test_pooling_refuses_wrong_options(arguments, message):
    with pytest.raises(ValueError, match=message):
        RotPooling(*arguments)


def test_logmap_gives_axis_and_angle(generator):
    x = SO(3).random(4, 50, generator=generator, dtype=DOUBLE)
    y = LogMap()(x)
    axis, angle = y[..., :3], y[..., 3]
    vectors = Rotation.from_matrix(x.reshape(-1, 3, 3).numpy()).as_rotvec()
    expected = torch.from_numpy(vectors).reshape(4, 50, 3)
    torch.testing.assert_close(axis * angle.unsqueeze(-1), expected)
    torch.testing.assert_close(axis.norm(dim=-1), torch.ones(4, 50, dtype=DOUBLE))
    assert bool(((angle >= 0) & (angle <= math.pi)).all())


@pytest.mark.parametrize("angle", [1e-3, 0.1, 1.5, 3.0, math.pi - 1e-3])
def test_logmap_gradients(angle, generator):
    vectors = torch.randn(4, 3, dtype=DOUBLE, generator=generator)
    vectors = angle * vectors / vectors.norm(dim=-1, keepdim=True)

    def function(v):
        return LogMap()(rotation.exp(rotation.hat(v)))

    # A finite difference across an angle of 1e-3 needs steps far below it.
    assert torch.autograd.gradcheck(function, vectors.requires_grad_(), eps=1e-7, atol=1e-4)


def test_logmap_of_the_identity_is_zero_with_a_zero_gradient():
    x = torch.eye(3).repeat(2, 1, 1).requires_grad_()
    y = LogMap()(x)
    assert torch.equal(y, torch.zeros(2, 4))
    y.sum().backward()
    assert torch.equal(x.grad, torch.zeros(2, 3, 3))


def test_logmap_of_a_half_turn_is_finite():
    x = torch.diag(torch.tensor([-1.0, -1.0, 1.0], dtype=DOUBLE)).requires_grad_()
    y = LogMap()(x)
    torch.testing.assert_close(y.abs(), torch.tensor([0, 0, 1, math.pi], dtype=DOUBLE))
    y.sum().backward()
    assert bool(torch.isfinite(x.grad).all())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_computed_in_float32_and_cast_back(dtype, generator):
    x = SO(3).random(2, 4, 5, generator=generator).to(dtype)
    for layer in (RotMap(4), LogMap()):
        y = layer(x)
        assert y.dtype == dtype
        assert torch.equal(y, layer(x.float()).to(dtype))


def test_rectifier_raises_small_numbers_and_stops_their_gradient():
    x = torch.tensor([-2.0, -0.3, -0.1, 0.0, 0.1, 0.3, 2.0], requires_grad=True)
    y = Rectifier(0.3)(x)
    torch.testing.assert_close(y, torch.tensor([-2.0, -0.3, -0.3, 0.3, 0.3, 0.3, 2.0]))
    y.sum().backward()
    torch.testing.assert_close(x.grad, torch.tensor([1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0]))


def test_layers_say_how_they_were_built():
    text = repr(torch.nn.Sequential(RotMap(5), RotPooling(2, "space"), LogMap(), Rectifier()))
    for part in ("RotMap(5)", "2, along='space'", "threshold=0.3"):
        assert part in text
