"""The named rules: what a search that is exact, fast or as published gives back."""

import pytest
import torch
from torch import Tensor

from liebn.groups import Gyrogroup, Product, Rule, Total
from liebn.groups.mean import RULES
from tests.cases import Setting
from tests.laws.collection import Laws

LAWS = Laws()


def published_start(space: Gyrogroup, x: Tensor) -> Tensor:
    """The arithmetic mean, projected, or the first sample; each factor of a product has its own."""
    if isinstance(space, Product):
        pairs = zip(space.parts, space.unpack(x), strict=True)
        return space.pack(published_start(f, p) for f, p in pairs)
    return x[0] if space.published_start == "first" else space.project(x.mean(0))


@LAWS.add(only=["ordinary", "near"])
def the_reference_is_one_karcher_step(setting: Setting) -> None:
    model, x = setting.space.model, setting.space.to_model(setting.cluster())
    start = published_start(model, x)
    step = model.log(model.untranslate(start, x)).mean(0)
    expected = model.compose(start, model.exp(step))
    found = model.centre(x, rule=RULES["reference"]).mean
    setting.inside.close(found, expected, "centre", x, x)


@LAWS.add(only=["ordinary"])
def only_a_detached_rule_holds_statistics_constant(setting: Setting) -> None:
    space = setting.space
    x = setting.cluster().requires_grad_()
    for rule in RULES.values():
        mean, ray, variance = space.centre(x, rule=rule)
        assert mean.requires_grad != rule.detach
        assert variance.requires_grad != rule.detach
        assert ray.squared_norm().requires_grad


@LAWS.add(only=["ordinary"])
def the_mean_is_that_of_the_exact_rule(setting: Setting) -> None:
    space, x = setting.space, setting.cluster()
    found = space.centre(x, rule=RULES["exact"]).mean
    setting.close(found, space.mean(x), "mean", x, x)


@LAWS.add(only=["ordinary"])
def a_search_of_no_steps_is_its_start(setting: Setting) -> None:
    model, x = setting.space.model, setting.space.to_model(setting.cluster())
    rule = Rule(start="published", most_steps=0, detach=True)
    found = model.centre(x, rule=rule).mean
    setting.inside.close(found, published_start(model, x), "centre", x, x)


@LAWS.everywhere
def test_rules(law, setting):
    law(setting)


@pytest.mark.parametrize(
    "name, steps, detach", [("exact", 30, False), ("fast", 1, True), ("reference", 1, True)]
)
def test_presets(name, steps, detach):
    rule = RULES[name]
    assert (rule.most_steps, rule.detach) == (steps, detach)
    assert rule.tolerance == 1e-10
    assert rule.step == ("karcher" if name == "reference" else "newton")
    with pytest.raises(AttributeError):
        rule.most_steps = 2


def test_no_samples_have_a_largest_value_of_zero():
    assert torch.equal(Total().largest(torch.zeros(0, 2)), torch.zeros(2))
