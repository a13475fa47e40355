"""Inputs for which NaN, a wrong result or a useless state came out without a word."""

import pytest
import torch

from liebn import LieBatchNorm
from liebn.groups import SO, Product, Symmetric, spd
from liebn.linalg import InvalidPointError, rotation, spectral
from liebn.nn import LogMap
from liebn.optim import register_orthonormal
from tests.layers.spaces import points

HALVES = pytest.mark.parametrize("half", [torch.float16, torch.bfloat16], ids=str)


@HALVES
@pytest.mark.parametrize("n", [2, 3, 4])
def test_an_exponential_in_half_precision_was_nan(half, n, generator):
    v = torch.randn(5, n, n, generator=generator, dtype=torch.float64)
    r = rotation.exp(v.to(half))
    assert r.dtype == half
    assert bool((SO(n).violation(r.double()) < 2e-2).all())


@pytest.mark.parametrize("dtype, size", [(torch.float32, 1e10), (torch.float64, 1e30)], ids=str)
@pytest.mark.parametrize("n", [2, 3, 4])
def test_an_exponential_without_an_angle_was_nan(dtype, size, n):
    v = torch.ones(3, n, n, dtype=dtype).triu(1)
    v[1] *= size
    with pytest.raises(InvalidPointError, match=r"sample \[1\] has no exponential"):
        rotation.exp(v)


@pytest.mark.parametrize("value", [torch.inf, torch.nan])
@pytest.mark.parametrize(
    "function", [rotation.log3, rotation.project, LogMap()], ids=["log3", "project", "LogMap"]
)
def test_an_infinite_rotation_gave_the_identity(function, value):
    r = torch.eye(3).repeat(4, 1, 1)
    r[2, 2, 2] = value
    with pytest.raises(InvalidPointError, match=r"sample \[2\] has entries that are not finite"):
        function(r)


@pytest.mark.parametrize("function", [spectral.exp, lambda x: spectral.power(x, 3.0)])
def test_an_overflow_gave_nan(function, generator):
    x = points(spd(3), 2, generator=generator)
    x[1] *= 1e200
    with pytest.raises(InvalidPointError, match=r"sample \[1\] .* overflows"):
        function(x)


@pytest.mark.parametrize("metric", ["aim", "gyro-aim", "crim", "lem", "lcm"])
def test_a_sample_too_far_for_a_tiny_variance_gave_nan(metric):
    """A layer trained on nearly one point stretches whatever else it is given by 1/√ε."""
    layer = LieBatchNorm(spd(2, metric), momentum=None, dtype=torch.float64)
    eye = torch.eye(2, dtype=torch.float64)
    layer(eye + 1e-9 * torch.stack([eye, -eye]))
    far = torch.tensor([[3.0, 1.0], [1.0, 2.0]], dtype=torch.float64)
    assert bool(torch.isfinite(layer.eval()(torch.stack([eye, 1.001 * eye]))).all())
    # Under CRIM it is inverted first, and has no inverse any more.
    with pytest.raises(InvalidPointError, match=r"sample \[1\] .* (overflows|Cholesky)"):
        layer(torch.stack([eye, 1e6 * far]))


@pytest.mark.parametrize("statistics", ["exact", "fast", "reference"])
@pytest.mark.parametrize("size", [1e-25, 1e25])
def test_the_projection_of_an_arithmetic_mean_overflowed_in_float32(size, statistics, generator):
    x = points(spd(3), 5, generator=generator, dtype=torch.float32)
    for metric in ("aim", "crim"):
        layer = LieBatchNorm(spd(3, metric), momentum=None, statistics=statistics)
        assert bool(torch.isfinite(layer(size * x)).all())


NO_POINTS = {
    "asymmetric": (spd(3), torch.tensor([[2.0, 1, 0], [0, 2, 0], [0, 0, 2]])),
    "asymmetric under LCM": (spd(3, "lcm"), torch.tensor([[2.0, 1, 0], [0, 2, 0], [0, 0, 2]])),
    "asymmetric in a flat space": (Symmetric(3), torch.ones(3, 3).tril()),
    "scaled rotation": (SO(3), 2 * torch.eye(3)),
    "scaled rotation of the plane": (SO(2), 0.5 * torch.eye(2)),
    "reflection": (SO(3), torch.diag(torch.tensor([1.0, 1.0, -1.0]))),
    "reflection in four dimensions": (SO(4), torch.diag(torch.tensor([1.0, 1.0, 1.0, -1.0]))),
    "rotation whose squares overflow": (SO(3), 1e30 * torch.eye(3)),
    "rotation whose squares overflow, of four dimensions": (SO(4), 1e30 * torch.ones(4, 4)),
    "no rotation": (SO(3), torch.zeros(3, 3)),
    "factor of a product": (
        Product(SO(2), spd(2)),
        torch.tensor([1.0, 0, 0, 1, 1, 0.5, 0, 1]),
    ),
}


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("space, bad", NO_POINTS.values(), ids=NO_POINTS)
def test_what_is_no_point_was_normalized(space, bad, training):
    layer = LieBatchNorm(space)
    x = space.identity(3)
    layer(x)
    before = {name: value.clone() for name, value in layer.state_dict().items()}
    x[1] = bad
    with pytest.raises(InvalidPointError, match=r"sample \[1\] is not a point of the space"):
        layer.train(training)(x)
    assert all(torch.equal(value, before[name]) for name, value in layer.state_dict().items())


def test_a_weight_without_orthonormal_columns_was_taken():
    for start in (torch.ones(3, 2), torch.full((3, 2), torch.nan)):
        with pytest.raises(ValueError, match="orthonormal columns to start from"):
            register_orthonormal(torch.nn.Module(), "weight", start, form="parametrized")
