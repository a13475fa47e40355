"""liebn.convert: models of spd_learn with our layers in place of theirs."""

import copy

import pytest
import torch
from spd_learn.models import TSMNet
from spd_learn.modules import (
    BiMap,
    LogEig,
    ReEig,
    SPDBatchNormLie,
    SPDBatchNormMean,
    SPDBatchNormMeanVar,
)
from torch import nn

import liebn
from liebn import LieBatchNorm
from liebn.groups import Rule
from liebn.nn.baselines import SPDBN, SPDNetBN
from tests.layers.spaces import spread_matrices
from tests.layers.tolerances import close

N = 4
DTYPES = (torch.float64, torch.float32)
LAWS = {torch.float64: "library", torch.float32: "formula"}
MAKERS = {
    "mean": (lambda **o: SPDBatchNormMean(N, momentum=0.3, **o), SPDNetBN),
    "mean, 3 steps": (lambda **o: SPDBatchNormMean(N, n_iter=3, **o), SPDNetBN),
    "mean and variance": (lambda **o: SPDBatchNormMeanVar(N, eps=1e-3, **o), SPDBN),
    "not affine": (lambda **o: SPDBatchNormMeanVar(N, affine=False, **o), SPDBN),
    **{
        f"lie {metric} {theta:g} {congruence}": (
            lambda metric=metric, theta=theta, congruence=congruence, **o: SPDBatchNormLie(
                N, metric, theta, momentum=0.2, congruence=congruence, **o
            ),
            LieBatchNorm,
        )
        for metric, theta, congruence in (
            ("AIM", 1.0, "cholesky"),
            ("AIM", 0.5, "cholesky"),
            ("AIM", -0.5, "eig"),
            ("LEM", 1.0, "cholesky"),
            ("LEM", 0.5, "eig"),
            ("LCM", 1.0, "cholesky"),
            ("LCM", -0.5, "cholesky"),
        )
    },
    "lie with α and β": (
        lambda **o: SPDBatchNormLie(N, "AIM", 0.5, 2.0, -0.3, **o),
        LieBatchNorm,
    ),
}
makers = pytest.mark.parametrize("kind", MAKERS)
in_both = pytest.mark.parametrize("dtype", DTYPES, ids=str)


def batch(generator, dtype=torch.float64):
    return spread_matrices(8, N, 20.0, 1.0, generator).to(dtype)


def train(model, generator, dtype):
    """Steps of an optimizer towards nothing in particular."""
    learnt = [p for p in model.parameters() if p.requires_grad]
    optimiser = torch.optim.SGD(learnt, lr=0.02) if learnt else None
    for _ in range(3):
        loss = (model.train()(batch(generator, dtype)) ** 2).mean()
        if optimiser is not None:
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return model


@makers
@in_both
def test_evaluation_is_the_same_after_training(kind, dtype, generator):
    make, ours_type = MAKERS[kind]
    theirs = train(make(dtype=dtype), generator, dtype).eval()
    x = batch(generator, dtype)
    expected = theirs(x)
    ours = liebn.convert(theirs)
    assert type(ours) is ours_type
    assert not ours.training
    y = ours(x)
    assert y.dtype == dtype
    close(y, expected, LAWS[dtype])
    moved = ours.running_mean - torch.eye(N, dtype=dtype)
    assert bool(moved.abs().max() > 0.01)  # there was something to carry over


@makers
def test_training_goes_on_alike(kind, generator):
    theirs = train(MAKERS[kind][0](dtype=torch.float64), generator, torch.float64)
    ours = liebn.convert(copy.deepcopy(theirs))
    assert ours.training
    for _ in range(2):
        x = batch(generator)
        close(ours(x), theirs(x), "library")
    theirs.eval(), ours.eval()
    close(ours(x), theirs(x), "library")


@pytest.mark.parametrize("kind", [k for k in MAKERS if "cholesky" in k or "mean" in k])
@in_both
def test_means_of_channels_are_carried_over(kind, dtype, generator):
    theirs = MAKERS[kind][0](dtype=dtype)
    x = spread_matrices(24, N, 20.0, 1.0, generator).reshape(8, 3, N, N).to(dtype)
    with torch.no_grad():  # their backward pass refuses channels where there is a variance
        for p in theirs.parameters():
            p.add_(0.2 * torch.randn(p.shape, generator=generator).to(dtype))
        theirs(x), theirs(2 * x)
        expected = theirs.eval()(x)
    ours = liebn.convert(theirs)
    assert ours.channels == (3,)
    close(ours(x), expected, LAWS[dtype])


class Network(nn.Module):
    """Layers at several depths, one of them used twice."""

    def __init__(self, make, dtype):
        super().__init__()
        self.first = nn.ModuleDict({"block": nn.Sequential(BiMap(6, N), make(dtype=dtype))})
        self.shared = make(dtype=dtype)
        self.again = nn.ModuleList([nn.Identity(), self.shared])
        self.rest = nn.Sequential(ReEig(), LogEig())
        self.to(dtype)

    def forward(self, x):
        return self.rest(self.again[1](self.shared(self.first["block"](x))))


@makers
@in_both
def test_layers_anywhere_in_a_model_are_replaced_in_place(kind, dtype, generator):
    make, ours_type = MAKERS[kind]
    model = Network(make, dtype)
    x = spread_matrices(8, 6, 20.0, 1.0, generator).to(dtype)
    for _ in range(2):
        model(x)
    model.eval()
    expected = model(x)
    bimap = model.first["block"][0]
    assert liebn.convert(model) is model
    assert not any("SPDBatchNorm" in type(m).__name__ for m in model.modules())
    assert type(model.first["block"][1]) is ours_type
    assert model.first["block"][0] is bimap
    assert model.again[1] is model.shared
    close(model(x), expected, LAWS[dtype])


def test_their_tsmnet(generator):
    model = TSMNet(n_chans=5, n_outputs=3, n_spatiotemp_filters=8, n_bimap_filters=6)
    optimiser = torch.optim.SGD(model.parameters(), lr=1e-2)
    for _ in range(3):
        x = torch.randn(12, 5, 60, generator=generator)
        optimiser.zero_grad()
        model(x).square().sum().backward()
        optimiser.step()
    model.eval()
    for dtype in DTYPES:
        own = copy.deepcopy(model).to(dtype)
        x = torch.randn(12, 5, 60, generator=generator).to(dtype)
        expected = own(x)
        liebn.convert(own)
        assert type(own.spdbnorm) is SPDBN
        assert own.spdbnorm.scale.requires_grad
        assert not own.spdbnorm.bias_tangent.requires_grad  # it is fixed there
        close(own(x), expected, LAWS[dtype])
        own.train()(x).square().sum().backward()
        assert bool(own.spdbnorm.scale.grad.abs() > 0)


def test_another_search_for_the_mean_can_be_asked_for():
    assert liebn.convert(SPDBatchNormMeanVar(N), statistics="exact").statistics == "exact"
    assert liebn.convert(SPDBatchNormMeanVar(N)).statistics == "reference"
    assert liebn.convert(SPDBatchNormMeanVar(N, n_iter=5)).rule == Rule(
        start="average", step="karcher", most_steps=5, detach=True
    )


def test_a_model_without_such_layers_stays_as_it_is():
    model = nn.Sequential(nn.Linear(2, 2), LieBatchNorm(liebn.groups.spd(2)))
    before = list(model.modules())
    assert liebn.convert(model) is model
    assert list(model.modules()) == before


class Special(SPDBatchNormMean):
    pass


def spoilt():
    layer = SPDBatchNormMean(N)
    layer.running_mean.fill_(torch.nan)
    return layer


REFUSED = {
    "subclass": (lambda: Special(N), "a Special: a subclass"),
    "α on LCM": (lambda: SPDBatchNormLie(N, "LCM", alpha=2.0), "LCM takes no α"),
    "β not admissible": (lambda: SPDBatchNormLie(N, "AIM", beta=-0.5), "a SPDBatchNormLie: "),
    "not finite": (spoilt, "not finite"),
}


@pytest.mark.parametrize("make, reason", REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_carried_over_is_named(make, reason):
    model = nn.Sequential(SPDBatchNormMean(N), nn.ModuleDict({"deep": make()}))
    before = list(model.modules())
    with pytest.raises(ValueError, match=f"submodule '1.deep', .*{reason}"):
        liebn.convert(model)
    assert list(model.modules()) == before  # not even the first
    with pytest.raises(ValueError, match="the module, a"):
        liebn.convert(make())
