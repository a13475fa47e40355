"""Every layer on every input: the laws hold, or a clear error is raised and nothing has changed."""

import copy

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.hardening.attack import attack, call, has_nan, is_finite, unchanged
from tests.hardening.functions import public
from tests.hardening.inputs import FINITE, FULL, NOT_FINITE, Case, cases, examples
from tests.hardening.layers import LAYERS, WITHOUT_TENSORS, attacked, same, state, trained
from tests.laws.samples import nature

NORMS = sorted(name for name, layer in LAYERS.items() if layer.space is not None)
PLACES = sorted({name.partition(": ")[2] or name for name in LAYERS})
"""The spaces, and the layers that have none: one test for each."""


def of(place):
    return sorted(name for name in LAYERS if (name.partition(": ")[2] or name) == place)


def test_every_public_layer_is_attacked():
    names = {name for p in ("liebn", "liebn.nn", "liebn.nn.baselines") for name in public(p)}
    assert names - WITHOUT_TENSORS == attacked()


def run(name, case, training):
    """Train a layer once, then give it a batch; its state before and after, and what came out."""
    layer = LAYERS[name]
    module = trained(layer, case.dtype if case.dtype in FULL else torch.float32).train(training)
    before = state(module)
    result = call(lambda c: module(*layer.batch(c)), case)
    unchanged(case)
    after = state(module)
    if isinstance(result, Exception) or not training:
        assert same(before, after), "an error, or evaluation, has changed the state"
    assert is_finite(after), "the state is not finite"
    return result


@pytest.mark.parametrize("place", PLACES)
@examples(20)
@given(data=st.data(), case=cases(), training=st.booleans())
def test_any_input(place, data, case, training):
    name = data.draw(st.sampled_from(of(place)))
    result = run(name, case, training)
    if isinstance(result, Exception):
        return
    assert result.dtype == case.dtype
    if case.kind in NOT_FINITE:
        kept = is_finite(case.made)
        # A pooling may leave out what is not finite; no other layer may.
        assert kept or not is_finite(result) or name.startswith(("RotPooling", "Rectifier"))
        return
    assert not has_nan(result), "NaN from finite input"


@pytest.mark.parametrize("name", NORMS)
def test_what_is_not_finite_is_refused(name):
    result = run(name, Case(kind="inf"), True)
    assert "finite" in str(result)


@pytest.mark.parametrize("place", PLACES)
@examples(15)
@given(data=st.data(), case=cases(dtypes=FULL, kinds=FINITE), training=st.booleans())
def test_no_point_of_the_space_is_normalized(place, data, case, training):
    """An asymmetric matrix, a reflection or a zero has a violation, and is refused for it.

    Not so where a layer only centres: on positive definite matrices that is a congruence, which
    keeps the signs of eigenvalues and needs no decomposition to see them. And of a singular matrix
    rounding may make a positive definite one.
    """
    name = data.draw(st.sampled_from([n for n in of(place) if not centres_only(n)] or of(place)))
    space = LAYERS[name].space
    result = run(name, case, training)
    if space is None or isinstance(result, Exception) or not case.made or centres_only(name):
        return
    off = space.violation(case.made[0].detach())
    singular = case.kind == "deficient" and nature(space) == "positive"
    assert bool(((off < 0.1) | ((off - 1).abs() < 1e-6) & singular).all())


def centres_only(name):
    return "mean only" in name or name == "SPDNetBN"


@pytest.mark.parametrize("name", LAYERS)
def test_a_plain_batch_is_taken_in_training_and_in_evaluation(name):
    layer = LAYERS[name]
    for training in (True, False):
        module = trained(layer, torch.float64).train(training)
        for parameter in module.parameters():
            parameter.requires_grad_(False)
        attack(
            lambda c, m=module, f=layer: copy.deepcopy(m)(*f.batch(c)),
            Case(grad=True, layout="transposed"),
        )
