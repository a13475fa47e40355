"""What sphere, ball and Grassmann manifold do at their edges: near e, at the cut, far out."""

import pytest
import torch

from liebn import LieBatchNorm
from liebn.groups import Ball, Grassmann, Sphere
from liebn.linalg import InvalidPointError
from tests.cases import DTYPES, relative_error
from tests.laws.test_group_axioms import gyrate
from tests.tolerances import tolerance

dtypes = pytest.mark.parametrize("dtype", DTYPES)
SPACES = [Sphere(4), Ball(3, curvature=-0.5), Grassmann(5, 2), Grassmann(5, 3)]
E1, E3 = torch.eye(4)[0], torch.eye(4)[2]


def plane(*axes: int, dtype: torch.dtype) -> torch.Tensor:
    """The projector onto coordinates of R⁴."""
    return torch.eye(4, dtype=dtype)[list(axes)].sum(0).diag()


AT_CUT = {
    "south pole": (Sphere(4), lambda dtype: -E1.to(dtype), 1, torch.pi),
    "one right angle": (Grassmann(4, 2), lambda dtype: plane(0, 2, dtype=dtype), 1, torch.pi / 2),
    "two right angles": (Grassmann(4, 2), lambda dtype: plane(2, 3, dtype=dtype), 2, torch.pi / 2),
}
at_cut = pytest.mark.parametrize("space, make, count, angle", AT_CUT.values(), ids=AT_CUT)


@dtypes
@pytest.mark.parametrize("space", SPACES, ids=str)
def test_small_logarithms_keep_their_relative_precision(space, dtype, generator):
    x = space.random(8, generator=generator, dtype=torch.float64)
    for size in (1e-3, 1e-8, 1e-15):
        v = (size * space.log(x)).to(dtype)
        error = relative_error(space.log(space.exp(v)) / size, v / size, len(space.point_shape))
        assert error <= tolerance("exp-log", dtype)


@dtypes
@at_cut
def test_at_the_cut_locus_one_geodesic_is_chosen(space, make, count, angle, dtype):
    x, dims = make(dtype), len(space.point_shape)
    e = space.identity(dtype=dtype)
    assert float(space.distance(e, x)) == pytest.approx(count**0.5 * angle, rel=1e-6)
    near = tolerance("exp-log", dtype)
    assert relative_error(space.exp(space.log(x)), x, dims) <= near
    assert relative_error(space.compose(x, e), x, dims) <= near
    assert float(space.violation(space.compose(x, x))) <= tolerance("violation", dtype)


@dtypes
@at_cut
def test_at_the_cut_locus_gradients_are_finite(space, make, count, angle, dtype, generator):
    x = torch.stack([make(dtype), space.identity(dtype=dtype)]).requires_grad_()
    y = space.random(2, generator=generator, dtype=dtype)
    for value in (space.log(x), space.compose(x, y), space.squared_distance(x, y)):
        (gradient,) = torch.autograd.grad(value.square().sum(), x)
        assert bool(torch.isfinite(gradient).all())


@dtypes
@pytest.mark.parametrize("short", [1e-3, 1e-6, 1e-12])
def test_near_the_south_pole_no_digits_are_lost(short, dtype, generator):
    u = torch.nn.functional.normalize(torch.randn(6, 3, generator=generator).double(), dim=-1)
    short = torch.tensor(short, dtype=torch.float64)
    angle = torch.pi - short
    x = torch.cat([angle.cos().expand(6, 1), short.sin() * u], -1).to(dtype)
    space = Sphere(4)
    expected = torch.cat([torch.zeros(6, 1), angle * u], -1).to(dtype)
    assert relative_error(space.log(x), expected, 1) <= tolerance("exp-log", dtype)
    y = space.random(6, generator=generator, dtype=dtype)
    back = space.untranslate(x, space.compose(x, y))
    assert relative_error(back, y, 1) <= tolerance("axioms", dtype)


@dtypes
def test_near_right_angles_a_logarithm_still_leads_back(dtype, generator):
    space = Grassmann(5, 2)
    v = torch.zeros(6, 5, 5, dtype=torch.float64)
    angles = torch.pi / 2 - torch.tensor([0.0, 1e-12, 1e-9, 1e-6, 1e-3, 0.1]).double()
    v[:, 2, 0], v[:, 3, 1] = angles, angles.flip(0)
    basis = torch.linalg.qr(torch.randn(6, 3, 3, generator=generator).double()).Q
    v[:, 2:, :2] = basis @ v[:, 2:, :2]
    x = space.exp(v + v.mT).to(dtype)
    assert relative_error(space.exp(space.log(x)), x, 2) <= tolerance("exp-log", dtype)
    found = torch.linalg.svdvals(space.log(x)[:, 2:, :2])
    expected = torch.stack([angles, angles.flip(0)], -1).sort(-1, descending=True).values
    assert relative_error(found, expected.to(dtype), 1) <= tolerance("exp-log", dtype)


@dtypes
def test_far_out_points_of_a_ball_are_held_inside(dtype, generator):
    space = Ball(3, curvature=-0.5)
    v = torch.randn(6, 3, generator=generator).to(dtype).requires_grad_()
    far = space.exp(1e3 * v)
    deepest = space.distance(torch.zeros(3, dtype=dtype), far)
    reach = {torch.float64: 33, torch.float32: 13}[dtype]
    assert bool((deepest > reach / 0.5**0.5).all())
    for point in (far, space.compose(far, far.flip(0)), space.project(9 * far)):
        assert bool((space.violation(point) == 0).all())
    (gradient,) = torch.autograd.grad(space.log(space.compose(far, far)).sum(), v)
    assert bool(torch.isfinite(gradient).all())


def test_a_point_outside_a_ball_is_named(generator):
    space = Ball(3, curvature=-4.0)
    x = space.random(5, 2, generator=generator, dtype=torch.float64)
    layer = LieBatchNorm(space, 2, dtype=torch.float64)
    layer(x)
    x[3, 1] = torch.tensor([0.5, 0.0, 0.1])
    assert float(space.violation(x)[3, 1]) > 1
    for training in (True, False):
        with pytest.raises(InvalidPointError, match=r"sample \[3, 1\] is not a point"):
            layer.train(training)(x)
    with pytest.raises(InvalidPointError, match=r"sample \[3, 1\] lies outside the ball of"):
        space.log(x)


@pytest.mark.parametrize("space", [Sphere(2), Ball(1), Grassmann(2, 1)], ids=str)
def test_in_dimension_one_they_are_groups(space, generator):
    a, b, c = space.random(3, 8, generator=generator, dtype=torch.float64)
    assert space.associative
    error = relative_error(gyrate(space, a, b, c), c, len(space.point_shape))
    assert error <= tolerance("gyration", torch.float64, 1e3)


@pytest.mark.parametrize("space", [Sphere(3), Grassmann(4, 2)], ids=str)
def test_without_any_direction_a_projection_is_a_point(space):
    x = torch.zeros(2, *space.point_shape, requires_grad=True)
    point = space.project(x)
    assert float(space.violation(point.detach()).max()) <= tolerance("violation", torch.float32)
    (gradient,) = torch.autograd.grad(point.sum(), x)
    assert bool(torch.isfinite(gradient).all())


def test_projections_are_scale_free():
    space = Sphere(3)
    x = torch.tensor([3.0, 4.0, 0.0])
    for size in (1e-30, 1e30):
        torch.testing.assert_close(space.project(size * x), torch.tensor([0.6, 0.8, 0.0]))


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Sphere(1), "n ≥ 2"),
        (lambda: Ball(0), "n ≥ 1"),
        (lambda: Ball(3, curvature=1.0), "negative, got 1"),
        (lambda: Ball(3, curvature=float("nan")), "negative, got nan"),
        (lambda: Grassmann(3, 0), "0 < p < n, got n = 3 and p = 0"),
        (lambda: Grassmann(3, 3), "0 < p < n"),
    ],
)
def test_what_is_no_such_space_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
