"""Theorem 5.3, Proposition D.1 and the methods that LieBN contains."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from liebn.groups import Euclidean, Gyrogroup, spd
from liebn.nn import LieBatchNorm
from liebn.nn.baselines import SPDBN
from liebn.verify.moments import layer_on
from liebn.verify.row import Finding, Row, Subject

SCALE, EPS, MOMENTUM = 0.7, 1e-5, 0.3


class Algorithm:
    """Algorithm 1 in the space itself, with Exp and Log in its own tangent space at E."""

    def __init__(self, space: Gyrogroup, bias: Tensor) -> None:
        self.space, self.bias = space, bias
        self.mean, self.variance = (
            space.identity(dtype=bias.dtype),
            torch.ones((), dtype=bias.dtype),
        )

    def __call__(self, x: Tensor, training: bool) -> Tensor:
        """Centre, scale, bias."""
        space, mean, variance = self.space, self.mean, self.variance
        if training:
            mean = space.mean(x)
            variance = space.squared_distance(mean, x).mean()
            self.mean = space.geodesic(self.mean, mean, MOMENTUM)
            self.variance = (1 - MOMENTUM) * self.variance + MOMENTUM * variance
        e = space.identity(len(x), dtype=x.dtype)
        centred = space.compose(space.inverse(mean), x)
        scaled = space.exp_at(e, SCALE / (variance + EPS).sqrt() * space.log_at(e, centred))
        return space.compose(self.bias, scaled)


def pulled_back(subject: Subject) -> Iterator[Row]:
    """LieBN computed in the codomain is Algorithm 1 in the domain, running averages included."""
    space = subject.space
    spaces = {} if space.model is space else {subject.name: space}
    if subject.name == "spd-aim":
        spaces["spd-aim, θ = 0.5, α = 2, β = -0.5"] = spd(
            space.point_shape[0], "aim", 0.5, 2.0, -0.5
        )
    if subject.name == "spd-lcm":
        spaces["spd-lcm, θ = -0.5"] = spd(space.point_shape[0], "lcm", -0.5)
    for name, own in spaces.items():
        generator = subject.generator()
        b = subject.point(generator)
        layer = layer_on(own, SCALE, b, momentum=MOMENTUM, eps=EPS)
        algorithm = Algorithm(own, b)
        worst = 0.0
        for training in (True, True, False):
            x = subject.batch(20, generator=generator)
            found, wanted = layer.train(training)(x), algorithm(x, training)
            worst = max(worst, float((found - wanted).abs().max() / wanted.abs().max()))
        yield Row(
            "Theorem 5.3, LieBN can be calculated in the codomain",
            name,
            "relative difference from Algorithm 1 in the domain: two steps of training, one test",
            worst,
            1e-8,
        )


def euclidean(subject: Subject) -> Iterator[Row]:
    """On the real line, with a channel for each coordinate, LieBN is torch's layer."""
    if subject.name != "euclidean":
        return
    n, generator = subject.space.point_shape.numel(), subject.generator()
    torch_layer = nn.BatchNorm1d(n, dtype=torch.float64)
    unbiased, published = (
        LieBatchNorm(Euclidean(), n, correction=c, dtype=torch.float64) for c in (1, 0)
    )
    whole = LieBatchNorm(Euclidean(n), dtype=torch.float64)
    x = 2 + 3 * torch.randn(3, 10, n, generator=generator, dtype=torch.float64)
    train, off = [], []
    for batch in x:
        wanted = torch_layer(batch)
        train += [float((layer(batch) - wanted).abs().max()) for layer in (unbiased, published)]
        off.append(float((whole(batch) - wanted).abs().max()))
    wanted = torch_layer.eval()(x[0])
    tested = [float((m.eval()(x[0]) - wanted).abs().max()) for m in (unbiased, published)]
    claim = "Proposition D.1, LieBN on Rⁿ is Euclidean BN"
    yield Row(claim + ", training", subject.name, "difference from BatchNorm1d", max(train), 1e-12)
    yield Row(
        claim + ", testing",
        subject.name,
        "difference from BatchNorm1d, with n / (n - 1) in the running variance, which torch has",
        tested[0],
        1e-12,
        Finding.CORRECTED,
    )
    yield Row(
        claim + ", testing",
        subject.name,
        "counterexample: the same with the running variance of Algorithm 1",
        tested[1],
        1e-3,
        Finding.REFUTED,
        least=True,
    )
    yield Row(
        claim + ", as one space",
        subject.name,
        f"counterexample: Rⁿ has one variance, torch's layer has n = {n}; R × … × R agrees",
        min(off),
        1e-3,
        Finding.REFUTED,
        least=True,
    )


def _power(x: Tensor, exponent: float) -> Tensor:
    """X^t, by torch alone."""
    values, vectors = torch.linalg.eigh(x)
    return (vectors * values.pow(exponent).unsqueeze(-2)) @ vectors.mT


def brooks(subject: Subject) -> Iterator[Row]:
    """M^(-½) P M^(-½) = Exp_I[PT_{M→I} Log_M P], where PT is congruence by M^(-½)."""
    if subject.name != "spd-gyro-aim":
        return
    space, x = subject.space, subject.batch(20)
    mean = space.mean(x)
    root = _power(mean, -0.5)
    wanted = root @ x @ root.mT
    carried = root @ space.log_at(mean.expand_as(x), x) @ root.mT
    found = space.exp_at(space.identity(len(x), dtype=x.dtype), carried)
    yield Row(
        "Eq. (10), the centering of eq. (7) is parallel transport",
        subject.name,
        "relative difference of Exp_I[PT_{M→I} Log_M P] and M^(-½) P M^(-½)",
        float((found - wanted).abs().max() / wanted.abs().max()),
        1e-9,
    )


def kobler(subject: Subject) -> Iterator[Row]:
    """Scaling by a power, and the relation of LieBN under AIM to whitening by M^(-½)."""
    if subject.name != "spd-aim":
        return
    space, n = subject.space, subject.space.point_shape[0]
    x = subject.batch(20)
    e = space.identity(len(x), dtype=x.dtype)
    scaled = space.exp_at(e, SCALE * space.log_at(e, x))
    power = _power(x, SCALE)
    yield Row(
        "Section 5.2, scaling contains that of Kobler et al. at (θ, α, β) = (1, 1, 0)",
        subject.name,
        "relative difference of Exp_I(s Log_I P) and P^s",
        float((scaled - power).abs().max() / power.abs().max()),
        1e-10,
    )
    ours = LieBatchNorm(space, dtype=torch.float64)
    theirs = SPDBN(n, statistics="exact", dtype=torch.float64)
    mean = space.mean(x)
    root = _power(mean, -0.5)
    q = root @ torch.linalg.cholesky(mean)
    wanted = theirs(x)
    off = (q @ ours(x) @ q.mT - wanted).abs().max() / wanted.abs().max()
    yield Row(
        "Section 6.1, SPDBN and LieBN under AIM differ in centering and biasing only",
        subject.name,
        "relative difference after the one rotation Q = M^(-½) chol(M), for B = I",
        float(off),
        1e-8,
    )


CHECKS = (brooks, pulled_back, kobler, euclidean)
