"""Every faster `centre`, `ray` and mean is what the base class makes of the required members."""

import torch
from torch import Tensor

from liebn.groups import Gyrogroup, Product, Rule, Total
from liebn.groups.base import Centred
from liebn.groups.mean import FAST, LOCAL, REFERENCE
from tests.cases import Setting
from tests.laws.collection import Laws
from tests.tolerances import tolerance

LAWS = Laws()

EXACT = Rule(tolerance=0.0)  # that of the arithmetic
DETACHED = Rule(tolerance=0.0, detach=True)
KARCHER = Rule(start="average", step="karcher", most_steps=2, detach=True)
RULES = (EXACT, DETACHED, REFERENCE, KARCHER)
"""A search cut short is detached: an implicit gradient is that of a mean, wherever it was found."""


class Plain(Gyrogroup):
    """A space stripped to its required members, so that everything else is the default."""

    def __init__(self, space: Gyrogroup) -> None:
        super().__init__()
        self.space = space
        self.point_shape = space.point_shape
        self.published_start = space.published_start
        for name in ("identity", "compose", "inverse", "exp", "log", "squared_norm"):
            setattr(self, name, getattr(space, name))
        for name in ("project", "violation", "random"):
            setattr(self, name, getattr(space, name))

    identity = compose = inverse = exp = log = squared_norm = project = violation = random = None


class InParts(Total):
    """Sums the samples in two parts, as two processes would."""

    def __call__(self, values: Tensor) -> Tensor:
        half = len(values) // 2
        return values[:half].sum(0) + values[half:].sum(0)


def features(space: Gyrogroup, centred: Centred) -> list[Tensor]:
    """All that a layer takes from a centred batch."""
    t = 0.9 * (centred.variance + 0.1).rsqrt()
    onto = space.exp(0.3 * space.log(centred.mean))
    return [
        centred.mean,
        centred.variance,
        centred.ray.squared_norm(),
        centred.ray.at(t),
        centred.ray.at(t, onto=onto),
    ]


def rules_of(model: Gyrogroup) -> tuple[Rule, ...]:
    """A product begins, and ends, the search of each factor by itself: only full searches agree."""
    return (EXACT, DETACHED) if isinstance(model, Product) else RULES


def compare(
    inside: Setting, x: Tensor, weights: Tensor | None, rule: Rule, total: Total = LOCAL
) -> None:
    """Values, and the gradients of random projections, of each feature of a batch in a model."""
    model, found, leaves = inside.space, [], []
    for space in (model, Plain(model)):
        leaf = x.clone().requires_grad_()
        found.append(features(space, space.centre(leaf, weights, rule=rule, total=total)))
        leaves.append(leaf)
    for ours, default in zip(*found, strict=True):
        same(inside, ours, default, x, x)
        assert ours.requires_grad == default.requires_grad
        if default.requires_grad:
            u = torch.randn_like(default)
            pulled = [
                tangential(model, x, torch.autograd.grad(value, leaf, u, retain_graph=True)[0])
                for value, leaf in zip((ours, default), leaves, strict=True)
            ]
            same(inside, *pulled, x, x, x)


def same(inside: Setting, actual: Tensor, expected: Tensor, *points: Tensor) -> None:
    """Agreement relative to the largest entry of the batch."""
    scale = float(expected.detach().abs().max().clamp_min(1))
    inside.close_scalars(actual / scale, expected / scale, "centre", *points)


def tangential(space: Gyrogroup, x: Tensor, gradient: Tensor) -> Tensor:
    """The part of a gradient that moving x along x ⊕ exp(v) sees."""
    v = torch.zeros_like(x, requires_grad=True)
    return torch.autograd.grad(space.compose(x, space.exp(v)), v, gradient)[0]


@LAWS.add(only=["ordinary", "near", "repeated", "bad"])
def centring_is_what_the_base_class_derives(setting: Setting) -> None:
    inside = setting.inside
    x = setting.space.to_model(setting.cluster()).detach()
    for rule in rules_of(inside.space):
        compare(inside, x, None, rule)


@LAWS.add(only=["ordinary"])
def centring_takes_weights_channels_and_totals(setting: Setting) -> None:
    inside = setting.inside
    x = setting.space.to_model(setting.cluster(12)).detach()
    x = x.reshape(4, 3, *x.shape[1:])
    weights = torch.linspace(0.5, 2, 12, dtype=x.dtype).reshape(4, 3)
    for rule in rules_of(inside.space):
        compare(inside, x, weights, rule)
        compare(inside, x, weights[:, 0], rule, InParts())


@LAWS.add(only=["ordinary", "near"])
def one_newton_step_comes_nearer(setting: Setting) -> None:
    """The two Newton steps differ in the frame of the candidate, and agree to first order."""
    model, x = setting.space.model, setting.space.to_model(setting.cluster())
    mean = model.centre(x, rule=EXACT).mean
    begin = model.distance(mean, model.project(x.mean(0)))
    floor = tolerance("mean", setting.dtype, setting.inside.kappa(x))
    for space in (model, Plain(model)):
        end = space.centre(x, rule=FAST).mean
        assert not end.requires_grad
        assert float(model.distance(mean, end)) <= 0.3 * float(begin) + floor


@LAWS.add(only=["ordinary", "near", "repeated"])
def a_pullback_centres_in_its_model(setting: Setting) -> None:
    space, x = setting.space, setting.cluster()
    centred, inside = space.centre(x), space.model.centre(space.to_model(x))
    mean = space.mean(x)
    setting.close(centred.mean, mean, "mean", x, x)
    setting.close_scalars(centred.variance, inside.variance, "centre", x)
    setting.close_scalars(centred.variance, space.squared_distance(mean, x).mean(0), "centre", x, x)
    t = torch.tensor(0.7, dtype=setting.dtype)
    moved = space.ray(space.untranslate(mean, x)).at(t, onto=x[0])
    setting.close(centred.ray.at(t, onto=x[0]), moved, "centre", x, x, x)


@LAWS.everywhere
def test_centre(law, setting):
    law(setting)
