"""Gradients of the charts of correlation matrices: to second order, and against unrolled solves."""

import pytest
import torch
from torch import Tensor
from torch.autograd import gradgradcheck

from liebn.diffeos import Diffeo, LogScaling, OffLog, UnipotentLog, UnitCholesky
from liebn.groups import correlation
from liebn.linalg import correlation as matrices
from liebn.linalg import spectral
from tests.cases import DTYPES
from tests.gradients.test_autograd_oracle import agree, by_eigh
from tests.gradients.test_gradcheck import check
from tests.gradients.test_second_derivatives import refused

CHARTS = {
    "unit cholesky": (UnitCholesky(), "ecm"),
    "log unit cholesky": (UnipotentLog() @ UnitCholesky(), "lecm"),
    "off-log": (OffLog(), "olm"),
    "log-scaling": (LogScaling(), "lsm"),
}
charts = pytest.mark.parametrize("chart, metric", CHARTS.values(), ids=CHARTS)
N = 4


def equal(c: float) -> Tensor:
    return c * torch.ones(N, N).double() + (1 - c) * torch.eye(N).double()


POINTS = {"identity": equal(0.0), "equal": equal(0.5), "equal, negative": equal(-0.3)}
points = pytest.mark.parametrize("x", POINTS.values(), ids=POINTS)


def drawn(metric: str, generator: torch.Generator) -> Tensor:
    """Correlation matrices, those above among them."""
    some = correlation(N, metric).random(2, generator=generator, dtype=torch.float64)
    return torch.cat([some, torch.stack(list(POINTS.values()))])


def inside(x: Tensor) -> Tensor:
    """Any matrix as a correlation matrix, so that no direction leads out."""
    return matrices.normalise(spectral.symmetrise(x))


@charts
def test_charts_and_their_differentials(chart, metric, generator):
    model = correlation(N, metric).model
    x = drawn(metric, generator)
    y = chart(x)
    v, w = (torch.randn(x.shape, generator=generator, dtype=torch.float64) for _ in range(2))
    check(lambda x: chart(inside(x)), x)
    check(lambda y: chart.inverse(model.project(y)), y)
    check(lambda x, v: chart.differential(inside(x), matrices.hollow(v + v.mT)), x, v)
    check(lambda y, w: chart.inverse_differential(model.project(y), model.project(w)), y, w)


@charts
@points
def test_second_derivatives(chart: Diffeo, metric, x):
    model = correlation(N, metric).model
    y = chart(x).requires_grad_()
    x = x.clone().requires_grad_()
    close = {"atol": 1e-5, "rtol": 1e-4, "fast_mode": True}
    assert gradgradcheck(lambda x: chart(inside(x)), x, **close)
    assert gradgradcheck(lambda y: chart.inverse(model.project(y)), y, **close)


@pytest.mark.parametrize("name", ["off-log", "log-scaling"])
def test_a_third_derivative_is_refused(name, generator):
    chart, metric = CHARTS[name]
    x = drawn(metric, generator)

    def slope(function):
        def along(x: Tensor) -> Tensor:
            y = function(x).square().sum()
            return torch.autograd.grad(y, x, create_graph=True)[0]

        return along

    refused(slope(lambda x: chart(inside(x))), x)
    refused(slope(chart.inverse), chart(x))


def test_completion_against_an_unrolled_iteration(generator):
    """D ← D - log diag exp(S + D), a contraction, with nothing but torch's own derivatives."""
    s = correlation(N, "olm").model.random(3, generator=generator, dtype=torch.float64)
    project = correlation(N, "olm").model.project

    def unrolled(s: Tensor) -> Tensor:
        s = project(s)
        d = torch.zeros(s.shape[:-1], dtype=s.dtype)
        for _ in range(300):
            x = torch.matrix_exp(s + d.diag_embed())
            d = d - x.diagonal(dim1=-2, dim2=-1).log()
        return torch.matrix_exp(s + d.diag_embed())

    agree(lambda s: OffLog().inverse(project(s)), unrolled, s)


def test_scaling_against_unrolled_newton_steps(generator):
    x = drawn("lsm", generator)[:2]
    # The cotangent of `agree`, a_i + b_j, is orthogonal to every matrix of row sums zero.
    other = torch.randn(x.shape, generator=generator, dtype=torch.float64)

    def unrolled(x: Tensor) -> Tensor:
        x = inside(x)
        d = torch.ones(x.shape[:-1], dtype=x.dtype)
        for _ in range(40):
            r = 1 / d - (x @ d.unsqueeze(-1)).squeeze(-1)
            step = torch.linalg.solve(x + d.pow(-2).diag_embed(), r.unsqueeze(-1)).squeeze(-1)
            # Short enough to stay positive; the factor tends to 1 of itself.
            d = d + step / (1 + torch.linalg.vector_norm(step / d, dim=-1, keepdim=True).detach())
        return other * by_eigh(d.unsqueeze(-1) * x * d.unsqueeze(-2), torch.log)

    agree(lambda x: other * LogScaling()(inside(x)), unrolled, x)


@pytest.mark.parametrize("dtype", DTYPES)
@charts
def test_gradients_keep_to_the_space(chart, metric, dtype, generator):
    """Along the model where a chart ends there, and finite in either dtype at any such point."""
    model = correlation(N, metric).model
    y = chart(drawn(metric, generator)).to(dtype).requires_grad_()
    u = torch.randn(y.shape, generator=generator, dtype=torch.float64).to(dtype)
    (gradient,) = torch.autograd.grad(chart.inverse(y), y, u)
    assert gradient.dtype == dtype
    assert bool(torch.isfinite(gradient).all())
    if metric in ("ecm", "lecm", "olm"):
        torch.testing.assert_close(gradient, model.project(gradient))
