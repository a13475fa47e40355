"""What must hold whatever a function is given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

from tests.hardening.inputs import NOT_FINITE, Case

Recipe = Callable[[Case], Any]

CLEAR = (ValueError, TypeError, IndexError, RuntimeError)
"""What an error may be: of these, torch raises the last for shapes that do not fit."""

NEVER = (RecursionError, UnboundLocalError)


def tensors_in(value: Any) -> Iterator[Tensor]:
    """All tensors of a result."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from tensors_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from tensors_in(item)


def has_nan(value: Any) -> bool:
    """Whether a tensor of a result has an entry that is not a number."""
    return any(bool(t.isnan().any()) for t in tensors_in(value) if t.is_floating_point())


def is_finite(value: Any) -> bool:
    """Whether every entry of every tensor is."""
    return all(bool(torch.isfinite(t).all()) for t in tensors_in(value))


def call(recipe: Recipe, case: Case) -> Any:
    """The result, or the error if it is a clear one; any other goes on."""
    try:
        return recipe(case)
    except NEVER:
        raise
    except CLEAR as refusal:
        error = refusal
    assert str(error).strip(), f"{type(error).__name__} says nothing"
    assert not case.valid, f"a valid input is refused: {error}"
    return error


def attack(recipe: Recipe, case: Case, *, trusting: bool = False, swallows: bool = False) -> None:
    """Assert that a recipe satisfies the laws or raises a clear error.

    Args:
        recipe: makes its tensors from the case, and calls what is attacked.
        case: how.
        trusting: what comes out of an invalid input is not looked at.
        swallows: an entry that is not finite need not show in the result.
    """
    result = call(recipe, case)
    unchanged(case)
    if isinstance(result, Exception) or (trusting and not case.valid):
        return
    if case.kind in NOT_FINITE:
        spoilt = not is_finite([case.made[case.victim]] if case.victim < len(case.made) else [])
        assert swallows or not spoilt or not is_finite(result), "what is not finite is hidden"
        return
    assert not has_nan(result), "NaN from finite input"
    if case.valid:
        assert is_finite(result), "valid input gives what is not finite"
        finite_gradients(result, case)
        same_from_any_layout(recipe, case, result)


def unchanged(case: Case) -> None:
    """The tensors given are as they were."""
    for given, copy in zip(case.made, case.copies, strict=True):
        assert given.grad_fn is None, "the input has become part of a graph"
        assert torch.equal(given.detach().nan_to_num(7.0), copy.nan_to_num(7.0)), "input changed"


def finite_gradients(result: Any, case: Case) -> None:
    """A valid input gets a finite gradient."""
    outputs = [t for t in tensors_in(result) if t.requires_grad]
    inputs = [t for t in case.made if t.requires_grad]
    if not outputs or not inputs:
        return
    total = sum((t * t.detach().sign()).sum() for t in outputs)
    gradients = torch.autograd.grad(total, inputs, allow_unused=True)
    assert is_finite([g for g in gradients if g is not None]), "a gradient that is not finite"


def same_from_any_layout(recipe: Recipe, case: Case, result: Any) -> None:
    """Strides do not matter."""
    if case.layout == "expanded":  # which has other values
        return
    plain = recipe(case.like(layout="contiguous"))
    for found, expected in zip(tensors_in(result), tensors_in(plain), strict=True):
        size = float(expected.detach().double().abs().max()) if expected.numel() else 0.0
        allowed = 1e4 * torch.finfo(case.dtype).eps * max(1.0, size)
        error = (found.detach().double() - expected.detach().double()).abs()
        assert not error.numel() or float(error.max()) <= allowed, "strides matter"
