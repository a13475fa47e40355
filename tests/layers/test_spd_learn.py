"""spd_learn's layers as oracles for what they compute alike.

They take one Karcher step from the arithmetic mean, which carries no gradient, and keep the running
mean of LEM and LCM in the codomain. `SPDBatchNormMeanVar` differentiates the variance and we, in
"reference" mode, do not: there only values are compared.
"""

import pytest
import torch
from spd_learn.modules import SPDBatchNormLie, SPDBatchNormMean, SPDBatchNormMeanVar

from liebn import LieBatchNorm
from liebn.groups import spd
from liebn.linalg import spectral
from liebn.nn.baselines import SPDBN, SPDNetBN
from tests.layers.spaces import spread_matrices
from tests.layers.tolerances import close

N = 4
DOUBLE = {"dtype": torch.float64}


def batch(generator):
    return spread_matrices(8, N, 50.0, 1.0, generator).requires_grad_()


def bias(generator):
    v = 0.4 * torch.randn(N, N, generator=generator, dtype=torch.float64)
    return spectral.exp(0.5 * (v + v.mT))


def gradient(layer, x, along):
    (grad,) = torch.autograd.grad((layer(x) * along).sum(), x)
    return grad + grad.mT


def test_mean_only(generator):
    theirs, ours = SPDBatchNormMean(N, momentum=0.2, **DOUBLE), SPDNetBN(N, momentum=0.2, **DOUBLE)
    b = bias(generator)
    with torch.no_grad():
        theirs.bias = b.unsqueeze(0)
        ours.bias_tangent.copy_(spectral.log(b))
    for training in (True, True, False, True):
        theirs.train(training)
        ours.train(training)
        x = batch(generator)
        close(ours(x), theirs(x), "library")
        close(ours.running_mean, theirs.running_mean.squeeze(0), "library")
    theirs.eval(), ours.eval()
    along = torch.randn(8, N, N, generator=generator, dtype=torch.float64)
    close(gradient(ours, x, along + along.mT), gradient(theirs, x, along + along.mT), "library")


def test_gradients_of_mean_only_in_training(generator):
    theirs, ours = SPDBatchNormMean(N, **DOUBLE), SPDNetBN(N, **DOUBLE)
    x = batch(generator)
    along = torch.randn(8, N, N, generator=generator, dtype=torch.float64)
    along = along + along.mT
    close(gradient(ours, x, along), gradient(theirs, x, along), "library")


def test_mean_and_variance(generator):
    theirs, ours = SPDBatchNormMeanVar(N, momentum=0.2, **DOUBLE), SPDBN(N, momentum=0.2, **DOUBLE)
    b = bias(generator)
    with torch.no_grad():
        theirs.bias = b.unsqueeze(0)
        theirs.weight = torch.tensor(1.4, dtype=torch.float64)
        ours.bias_tangent.copy_(spectral.log(b))
        ours.scale.fill_(1.4)
    assert theirs.eps == ours.eps
    for training in (True, True, False, True):
        theirs.train(training)
        ours.train(training)
        x = batch(generator)
        close(ours(x), theirs(x), "library")
        close(ours.running_mean, theirs.running_mean.squeeze(0), "library")
        close(ours.running_var, theirs.running_var.squeeze(), "library")


LIE = {
    "aim": ("AIM", 1.0, 1.0, 0.0),
    "aim(0.5,2,-0.3)": ("AIM", 0.5, 2.0, -0.3),
    "aim(-1.5,1,0.3)": ("AIM", -1.5, 1.0, 0.3),
    "lem": ("LEM", 1.0, 1.0, 0.0),
    "lem(1,2,-0.3)": ("LEM", 1.0, 2.0, -0.3),
    "lcm": ("LCM", 1.0, 1.0, 0.0),
    "lcm(0.5)": ("LCM", 0.5, 1.0, 0.0),
    "lcm(-1.5)": ("LCM", -1.5, 1.0, 0.0),
}


def lie_pair(metric, theta, alpha, beta, generator):
    theirs = SPDBatchNormLie(N, metric, theta, alpha, beta, momentum=0.2, **DOUBLE)
    space = spd(N, metric.lower(), theta, alpha, beta)
    ours = LieBatchNorm(space, momentum=0.2, statistics="reference", **DOUBLE)
    b = bias(generator)
    with torch.no_grad():
        theirs.bias = b.unsqueeze(0)
        theirs.shift = torch.tensor(1.4, dtype=torch.float64)
        ours.bias_tangent.copy_(space.log(b))
        ours.scale.fill_(1.4)
    return theirs, ours


@pytest.mark.parametrize("metric, theta, alpha, beta", LIE.values(), ids=LIE)
def test_lie_group_values_and_statistics(metric, theta, alpha, beta, generator):
    theirs, ours = lie_pair(metric, theta, alpha, beta, generator)
    for training in (True, True, False, True):
        theirs.train(training)
        ours.train(training)
        x = batch(generator)
        close(ours(x), theirs(x), "library")
        running = ours.group.to_model(ours.running_mean)
        close(running, theirs.running_mean.squeeze(0), "library")
        close(ours.running_var, theirs.running_var, "library")


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("metric, theta, alpha, beta", LIE.values(), ids=LIE)
def test_lie_group_gradients(metric, theta, alpha, beta, training, generator):
    theirs, ours = lie_pair(metric, theta, alpha, beta, generator)
    theirs(batch(generator)), ours(batch(generator.manual_seed(3)))
    ours.reset_running_stats(), theirs.running_var.fill_(1)
    theirs.running_mean.copy_(ours.group.to_model(ours.running_mean))
    theirs.train(training), ours.train(training)
    x = batch(generator)
    along = torch.randn(8, N, N, generator=generator, dtype=torch.float64)
    along = along + along.mT
    close(gradient(ours, x, along), gradient(theirs, x, along), "library")
    logarithm = theirs.parametrizations.shift.original  # they learn log s
    (expected,) = torch.autograd.grad((theirs(x) * along).sum(), logarithm)
    (found,) = torch.autograd.grad((ours(x) * along).sum(), ours.scale)
    close(found * ours.scale, expected, "library")
