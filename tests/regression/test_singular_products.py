"""Networks learn matrices L Lᵀ whose condition number exceeds what their dtype can tell."""

import pytest
import torch

from liebn import LieBatchNorm, groups
from liebn.linalg import positive, spectral
from liebn.linalg.numerics import InvalidPointError
from liebn.nn import LogEig
from tests.cases import DTYPES
from tests.laws.samples import orthogonal

BOTH = pytest.mark.parametrize("dtype", DTYPES)


def singular(dtype, n=6):
    """Products of triangular factors whose diagonals span far more than 1 / eps when squared."""
    generator = torch.Generator().manual_seed(0)
    factor = torch.randn(40, n, n, generator=generator, dtype=dtype).tril(-1)
    decades = torch.linspace(0, -12, n, dtype=dtype)
    factor = factor + (10.0**decades).diag_embed()
    return (factor @ factor.mT).requires_grad_()


@BOTH
def test_log_eig_of_products_that_rounding_has_made_indefinite(dtype):
    x = singular(dtype)
    smallest = torch.linalg.eigvalsh(x.detach())[..., 0]
    assert bool((smallest <= 0).any())  # spectral.log, which is strict, refuses them
    with pytest.raises(InvalidPointError, match="not positive definite"):
        spectral.log(x)
    y = LogEig()(x)
    (gradient,) = torch.autograd.grad(y.square().sum(), x)
    largest = torch.linalg.eigvalsh(x.detach())[..., -1]
    assert bool(torch.isfinite(y).all())
    assert bool(torch.isfinite(gradient).all())
    # No derivative is larger than that of log at eps times the largest eigenvalue.
    bound = (2 * y.norm(dim=-1) / (largest * torch.finfo(dtype).eps)).detach()
    assert bool((gradient.norm(dim=(-2, -1)) <= 2 * bound).all())


@BOTH
def test_log_eig_is_the_logarithm_where_the_dtype_can_tell(dtype):
    generator = torch.Generator().manual_seed(1)
    values = 10.0 ** (4 * torch.rand(20, 5, generator=generator, dtype=torch.float64) - 2)
    basis = orthogonal(20, 5, generator)
    x = ((basis * values.unsqueeze(-2)) @ basis.mT).to(dtype)
    x = spectral.symmetrise(x).requires_grad_()
    u = torch.randn(20, 25, generator=generator, dtype=torch.float64).to(dtype)
    plain, ours = spectral.log(x).flatten(-2), LogEig(flat=True)(x)
    assert torch.equal(plain, ours)
    grads = [torch.autograd.grad(y, x, u, create_graph=True)[0] for y in (plain, ours)]
    torch.testing.assert_close(*grads, rtol=0, atol=0)
    seconds = [torch.autograd.grad(g.square().sum(), x)[0] for g in grads]
    torch.testing.assert_close(*seconds, rtol=0, atol=0)


@BOTH
def test_log_eig_names_a_matrix_that_is_indefinite_in_earnest(dtype):
    x = torch.eye(3, dtype=dtype).repeat(4, 1, 1)
    x[2, 0, 0] = -1e-3
    with pytest.raises(InvalidPointError, match=r"sample \[2\] is not positive definite"):
        LogEig()(x)
    with pytest.raises(InvalidPointError, match=r"sample \[0\] is not positive definite"):
        LogEig()(torch.zeros(2, 3, 3, dtype=dtype))


@BOTH
@pytest.mark.parametrize("theta", [0.5, 1.5, -0.5])
def test_a_scale_that_makes_the_output_singular(theta, dtype):
    space = groups.spd(6, "lcm", theta=theta)
    generator = torch.Generator().manual_seed(2)
    x = groups.spd(6).random(30, generator=generator, dtype=dtype)
    layer = LieBatchNorm(space, dtype=dtype)
    layer.scale.data.fill_(60.0)
    y = layer(x)
    gradients = torch.autograd.grad(y.sum(), list(layer.parameters()))
    assert bool(torch.isfinite(y).all())
    assert all(bool(torch.isfinite(g).all()) for g in gradients)


@BOTH
@pytest.mark.parametrize("n", [3, 10, 40])
def test_a_projection_stays_positive_once_it_is_put_together(n, dtype):
    x = torch.randn(200, n, n, generator=torch.Generator().manual_seed(0), dtype=dtype)
    y = positive.project(x)
    assert float(positive.violation(y).max()) < 16 * torch.finfo(dtype).eps
    # What is positive definite by more than rounding is left as it is.
    torch.testing.assert_close(positive.project(y + y.mT), y + y.mT)
