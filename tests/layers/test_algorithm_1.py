"""The layers on positive definite matrices against a plain transcription of Algorithm 1."""

import pytest
import torch

from liebn import LieBatchNorm
from liebn.groups import spd
from tests.layers.spaces import points
from tests.layers.tolerances import close
from tests.oracles.algorithm_1 import (
    AffineInvariant,
    Statistics,
    algorithm_1,
    deformed_log_cholesky,
    log_euclidean,
)

N = 4
ORACLES = {
    "aim": (spd(N), AffineInvariant()),
    "aim(0.5)": (spd(N, theta=0.5), AffineInvariant(0.5)),
    "aim(-1.5)": (spd(N, theta=-1.5), AffineInvariant(-1.5)),
    "aim(1,2,-0.3)": (spd(N, alpha=2.0, beta=-0.3), AffineInvariant(1.0, 2.0, -0.3)),
    "aim(-0.5,0.5,0.3)": (
        spd(N, theta=-0.5, alpha=0.5, beta=0.3),
        AffineInvariant(-0.5, 0.5, 0.3),
    ),
    "lem": (spd(N, "lem"), log_euclidean()),
    "lem(1.5,2,-0.3)": (spd(N, "lem", 1.5, 2.0, -0.3), log_euclidean(2.0, -0.3)),
    "lcm": (spd(N, "lcm"), deformed_log_cholesky()),
    "lcm(0.5)": (spd(N, "lcm", 0.5), deformed_log_cholesky(0.5)),
    "lcm(-1)": (spd(N, "lcm", -1.0), deformed_log_cholesky(-1.0)),
    "lcm(-1.5)": (spd(N, "lcm", -1.5), deformed_log_cholesky(-1.5)),
}


@pytest.fixture(params=ORACLES.values(), ids=ORACLES.keys())
def both(request, generator):
    """A layer with parameters of its own, and the codomain of the transcription."""
    space, codomain = request.param
    layer = LieBatchNorm(space, momentum=0.3, dtype=torch.float64)
    with torch.no_grad():
        b = 0.4 * torch.randn(N, N, generator=generator, dtype=torch.float64)
        layer.bias_tangent.copy_(b)
        layer.scale.fill_(1.4)
    return layer, codomain


def batch(generator):
    return points(spd(N), 8, generator=generator, spread=0.6)


def test_outputs_and_running_statistics_over_several_steps(both, generator):
    layer, codomain = both
    running = Statistics(codomain.neutral(N))
    for training in (True, True, False, True, False):
        layer.train(training)
        x = batch(generator)
        y, running = algorithm_1(
            codomain,
            x,
            running,
            layer.bias_tangent,
            layer.scale,
            training=training,
            gamma=0.3,
        )
        close(layer(x), y, "search")
        close(layer.group.to_model(layer.running_mean), running.mean, "search")
        close(layer.running_var, running.var, "search")


@pytest.mark.parametrize("training", [True, False])
def test_gradients_of_input_scale_and_bias(both, generator, training):
    layer, codomain = both
    x = batch(generator).requires_grad_()
    along = torch.randn(x.shape, generator=generator, dtype=torch.float64)
    wrt = [x, layer.scale, layer.bias_tangent]
    layer(batch(generator))
    running = Statistics(layer.group.to_model(layer.running_mean), layer.running_var.clone())
    layer.train(training)
    y, _ = algorithm_1(codomain, x, running, layer.bias_tangent, layer.scale, training=training)
    # A matrix function is symmetric: only the symmetric part of a gradient is one of points.
    expected = torch.autograd.grad((y * along).sum(), wrt)
    found = torch.autograd.grad((layer(x) * along).sum(), wrt)
    for f, e in zip(found, expected, strict=True):
        e = 0.5 * (e + e.mT) if e.shape == x.shape else e
        f = 0.5 * (f + f.mT) if f.shape == x.shape else f
        close(f, e, "unrolled")
