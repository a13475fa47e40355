"""Gradients against plain autograd: eigh where eigenvalues are distinct, and an unrolled search."""

import pytest
import torch
from torch import Tensor

from liebn.groups import SO, AffineInvariant, GyroAffineInvariant, spd
from liebn.linalg import spectral
from tests.cases import relative_error
from tests.tolerances import tolerance


def by_eigh(x: Tensor, function) -> Tensor:
    values, vectors = torch.linalg.eigh(x)
    return (vectors * function(values).unsqueeze(-2)) @ vectors.mT


def gradient(function, x: Tensor) -> Tensor:
    x = x.detach().requires_grad_()
    y = function(x)
    u = torch.linspace(-1, 2, y.numel(), dtype=x.dtype).reshape(y.shape)
    return torch.autograd.grad(y, x, u)[0]


def agree(ours, oracle, x: Tensor, law: str = "gradient") -> None:
    expected = gradient(oracle, x)
    scale = expected.abs().max()
    error = relative_error(gradient(ours, x) / scale, expected / scale, 2)
    assert error <= tolerance(law, x.dtype)


def some_positive(generator, count: int = 6, n: int = 4) -> Tensor:
    a = torch.randn(count, n, n, generator=generator, dtype=torch.float64)
    return a @ a.mT / n + torch.diag(torch.linspace(0.1, 1, n, dtype=torch.float64))


@pytest.mark.parametrize("p", [0.5, -1.0, 1.5])
def test_powers(p, generator):
    symmetrise = spectral.symmetrise
    x = some_positive(generator)
    agree(
        lambda x: spectral.power(symmetrise(x), p),
        lambda x: by_eigh(symmetrise(x), lambda a: a**p),
        x,
    )


def test_logarithm_and_exponential(generator):
    symmetrise = spectral.symmetrise
    x = some_positive(generator)
    agree(lambda x: spectral.log(symmetrise(x)), lambda x: by_eigh(symmetrise(x), torch.log), x)
    agree(lambda x: spectral.exp(symmetrise(x)), lambda x: by_eigh(symmetrise(x), torch.exp), x)


def karcher(x: Tensor, weights: Tensor, root, steps: int = 60) -> Tensor:
    """Σ w log(A⁻¹ X A⁻ᵀ) = 0, unrolled, with nothing but torch's own derivatives."""
    mean = (weights[:, None, None] * x).sum(0)
    for _ in range(steps):
        a = root(mean)
        inverse = torch.linalg.inv(a)
        seen = inverse @ x @ inverse.mT
        logs = by_eigh(0.5 * (seen + seen.mT), torch.log)
        step = (weights[:, None, None] * logs).sum(0)
        mean = a @ torch.linalg.matrix_exp(step) @ a.mT
    return mean


@pytest.mark.parametrize("space", [AffineInvariant, GyroAffineInvariant])
def test_mean_and_centred_batch(space, generator):
    x = some_positive(generator)
    weights = torch.linspace(1, 2, len(x), dtype=torch.float64)
    shares = weights / weights.sum()
    ours = space(4, 2.0, -0.3)
    if space is AffineInvariant:
        root = torch.linalg.cholesky
    else:
        root = lambda x: by_eigh(x, torch.sqrt)  # noqa: E731

    def symmetric(function):
        return lambda x: function(spectral.symmetrise(x))

    agree(
        symmetric(lambda x: ours.mean(x, weights=weights)),
        symmetric(lambda x: karcher(x, shares, root)),
        x,
        "mean",
    )

    def centred(x: Tensor) -> Tensor:
        a = torch.linalg.inv(root(karcher(x, shares, root)))
        seen = a @ x @ a.mT
        seen = 0.5 * (seen + seen.mT)
        logs = by_eigh(seen, torch.log)
        trace = logs.diagonal(dim1=-2, dim2=-1).sum(-1)
        variance = (shares * (2.0 * logs.square().sum((-2, -1)) - 0.3 * trace**2)).sum()
        return by_eigh(seen, lambda a: a ** variance.rsqrt())

    def ours_centred(x: Tensor) -> Tensor:
        _, ray, variance = ours.centre(x, weights)
        return ray.at(variance.rsqrt())

    agree(symmetric(ours_centred), symmetric(centred), x, "mean")


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_mean_of_rotations(n, generator):
    space = SO(n)
    v = 0.12 * torch.randn(6, n, n, generator=generator, dtype=torch.float64)

    def chordless(v: Tensor) -> Tensor:
        """Karcher steps by matrix exponentials and power series of the logarithm."""
        x = torch.linalg.matrix_exp(0.5 * (v - v.mT))
        mean = x[0]
        for _ in range(6):  # the steps contract fast, and rounding leads off SO(n) slowly
            mean = mean @ torch.linalg.matrix_exp(series_log(mean.mT @ x).mean(0))
        return mean

    agree(lambda v: space.mean(space.exp(v)), chordless, v, "mean")


def series_log(r: Tensor) -> Tensor:
    """log R = 2 artanh((R - I)(R + I)⁻¹), for rotations by less than a quarter turn."""
    eye = torch.eye(r.shape[-1], dtype=r.dtype)
    z = torch.linalg.solve(r + eye, r - eye)
    square, term, total = z @ z, z, z
    for k in range(1, 60):
        term = term @ square
        total = total + term / (2 * k + 1)
    return 2 * total


@pytest.mark.parametrize("n", [3, 4, 5])
def test_logarithm_of_rotations(n, generator):
    space = SO(n)
    v = 0.12 * torch.randn(5, n, n, generator=generator, dtype=torch.float64)
    agree(lambda v: space.log(space.exp(v)), lambda v: series_log(space.exp(v)), v)


@pytest.mark.parametrize("metric", ["aim", "lem", "lcm", "gyro-aim", "crim"])
@pytest.mark.parametrize("theta", [0.5, -1.0, 1.0])
def test_distances(metric, theta, generator):
    """d² through torch's own eigh and Cholesky, deformed by an ordinary power."""
    x = some_positive(generator, 2)

    def oracle(x: Tensor) -> Tensor:
        p, q = by_eigh(spectral.symmetrise(x), lambda a: a**theta)
        if metric == "lem":
            difference = by_eigh(p, torch.log) - by_eigh(q, torch.log)
        elif metric == "lcm":
            a, b = torch.linalg.cholesky(p), torch.linalg.cholesky(q)
            logs = a.diagonal().log() - b.diagonal().log()
            difference = (a - b).tril(-1) + logs.diag()
        else:
            if metric == "crim":
                p, q = (torch.linalg.inv(torch.linalg.cholesky(m)) for m in (p, q))
                p, q = p @ p.mT, q @ q.mT
            a = torch.linalg.inv(torch.linalg.cholesky(p))
            difference = by_eigh(spectral.symmetrise(a @ q @ a.mT), torch.log)
        return difference.square().sum() / theta**2

    space = spd(4, metric, theta=theta)
    agree(lambda x: space.squared_distance(*spectral.symmetrise(x)), oracle, x)
