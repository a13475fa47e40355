"""Matrix functions and maps: every input satisfies the laws or raises a clear error."""

import pytest
from hypothesis import given

import liebn.linalg
from tests.hardening.attack import attack
from tests.hardening.functions import FUNCTIONS, PACKAGES, PLAIN, SWALLOWING, TRUSTING, names
from tests.hardening.inputs import Case, cases, examples


def test_every_public_name_is_attacked():
    assert set(names()) == set(FUNCTIONS) | set(PLAIN)


def test_every_module_of_matrix_functions_is_known():
    modules = {f"liebn.linalg.{name}" for name in liebn.linalg.__all__ if name.islower()}
    assert modules - {"liebn.linalg.newton"} <= set(PACKAGES)  # the solver behind LogScaling


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_plain_input_is_taken(name):
    attack(FUNCTIONS[name], Case(grad=True))


@pytest.mark.parametrize("name", FUNCTIONS)
@examples(30)
@given(case=cases())
def test_any_input(name, case):
    attack(FUNCTIONS[name], case, trusting=name in TRUSTING, swallows=name in SWALLOWING)
