"""MomentumLieBatchNorm against a plain transcription of Algorithm 2."""

from itertools import pairwise

import pytest
import torch

from liebn import LieBatchNorm, MomentumLieBatchNorm
from liebn.groups import spd
from tests.layers.spaces import SPACES, on, points
from tests.layers.tolerances import close
from tests.oracles.algorithm_1 import (
    AffineInvariant,
    Statistics,
    algorithm_2,
    deformed_log_cholesky,
    gamma_train,
    log_euclidean,
)

N = 4
ORACLES = {
    "aim": (spd(N), AffineInvariant()),
    "aim(-0.5,2,0.3)": (spd(N, "aim", -0.5, 2.0, 0.3), AffineInvariant(-0.5, 2.0, 0.3)),
    "lem": (spd(N, "lem"), log_euclidean()),
    "lcm(0.5)": (spd(N, "lcm", 0.5), deformed_log_cholesky(0.5)),
}


@pytest.mark.parametrize("schedule", [None, (4, 0.25)], ids=["fixed", "schedule"])
@pytest.mark.parametrize("space, codomain", ORACLES.values(), ids=ORACLES)
def test_algorithm_2_over_several_epochs(space, codomain, schedule, generator):
    layer = MomentumLieBatchNorm(space, gamma=0.15, schedule=schedule, dtype=torch.float64)
    with torch.no_grad():
        layer.bias_tangent.copy_(0.4 * torch.randn(N, N, generator=generator, dtype=torch.float64))
        layer.scale.fill_(1.3)
    running = (Statistics(codomain.neutral(N)), Statistics(codomain.neutral(N)))
    for epoch in range(1, 7):
        layer.set_epoch(epoch)
        share = gamma_train(epoch, *schedule) if schedule else 0.15
        for training in (True, True, False):
            x = points(spd(N), 7, generator=generator, spread=0.6).requires_grad_()
            y, after = algorithm_2(
                codomain,
                x,
                running,
                layer.bias_tangent,
                layer.scale,
                training=training,
                gamma_train=share,
                gamma=0.15,
            )
            ours = layer.train(training)(x)
            close(ours, y, "search")
            running = after
            means = (layer.train_mean, layer.running_mean)
            variances = (layer.train_var, layer.running_var)
            for mean, var, expected in zip(means, variances, running, strict=True):
                close(space.to_model(mean), expected.mean, "search")
                close(var, expected.var, "search")
            along = torch.randn(y.shape, generator=generator, dtype=torch.float64)
            wrt = [x, layer.scale]
            found = torch.autograd.grad((ours * (along + along.mT)).sum(), wrt)
            wanted = torch.autograd.grad((y * (along + along.mT)).sum(), wrt)
            close(found[0] + found[0].mT, wanted[0] + wanted[0].mT, "unrolled")
            close(found[1], wanted[1], "unrolled")


def test_the_schedule_falls_from_one_to_rho():
    layer = MomentumLieBatchNorm(spd(3), gamma=0.1, schedule=(40, 0.2))
    shares = []
    for epoch in range(1, 61):
        layer.set_epoch(epoch)
        shares.append(layer.gamma_train)
        assert layer.gamma_train == pytest.approx(gamma_train(epoch, 40, 0.2))
        assert layer.gamma == 0.1
    assert shares[0] == pytest.approx(1.0)
    assert shares[39:] == pytest.approx([0.2] * 21)
    assert all(a > b for a, b in pairwise(shares[:40]))


def test_without_a_schedule_the_share_stays():
    layer = MomentumLieBatchNorm(spd(3), gamma=0.3)
    for epoch in (1, 5, 100):
        layer.set_epoch(epoch)
        assert layer.gamma_train == 0.3


@pytest.mark.parametrize("schedule", [(1, 0.2), (5, 0.0), (5, 1.5)])
def test_an_impossible_schedule_is_refused(schedule):
    with pytest.raises(ValueError, match="schedule"):
        MomentumLieBatchNorm(spd(3), schedule=schedule)


@on(SPACES)
def test_in_the_first_epoch_of_a_schedule_it_is_lie_batch_norm(space, generator):
    x = points(space, 6, generator=generator)
    plain = LieBatchNorm(space, dtype=torch.float64)
    momentum = MomentumLieBatchNorm(space, schedule=(5, 0.2), dtype=torch.float64)
    close(momentum(x), plain(x), "search")
    close(momentum.train_mean, space.mean(x), "search")
    close(momentum.running_mean, plain.running_mean, "search")
    close(momentum.running_var, plain.running_var, "search")


@on(SPACES)
def test_the_variance_is_about_the_mean_of_the_batch(space, generator):
    layer = MomentumLieBatchNorm(space, gamma=0.2, dtype=torch.float64)
    x = points(space, 6, generator=generator)
    variance = space.squared_distance(space.mean(x), x).mean()
    layer(x)
    close(layer.train_var, 0.8 + 0.2 * variance, "search")
    assert bool(space.distance(space.mean(x), layer.train_mean) > 1e-3)


@on(SPACES)
def test_both_sets_start_at_the_neutral_element_and_are_saved(space, generator):
    layer = MomentumLieBatchNorm(space, 2, schedule=(5, 0.2), dtype=torch.float64)
    close(layer.train_mean, space.identity(2, dtype=torch.float64))
    layer(points(space, 6, 2, generator=generator))
    state = layer.state_dict()
    assert {"train_mean", "train_var", "running_mean", "running_var"} <= set(state)
    assert not torch.equal(state["train_mean"], state["running_mean"])
    assert int(layer.num_batches_tracked) == 1


def test_evaluation_uses_the_second_set(generator):
    space = spd(3)
    layer = MomentumLieBatchNorm(space, gamma=0.1, schedule=(5, 0.2), dtype=torch.float64)
    x = points(space, 6, generator=generator)
    layer(x)
    fixed = LieBatchNorm(space, dtype=torch.float64).eval()
    fixed.running_mean.copy_(layer.running_mean)
    fixed.running_var.copy_(layer.running_var)
    assert torch.equal(layer.eval()(x), fixed(x))
