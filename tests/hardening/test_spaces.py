"""Every operation of every space: a point gives what is finite, and what is no point shows.

Operations do not look at their arguments, which would cost more than many of them do: `violation`
does, when asked. So what is no point must have a violation, or be dealt with.
"""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.hardening.attack import attack, call, has_nan, unchanged
from tests.hardening.inputs import DTYPES, FINITE, FULL, Case, cases, examples
from tests.hardening.spaces import OPERATIONS, SPACES, WITHOUT_POINTS, members

NEARLY = 1e-3
"""What is nearer to the space than this counts as a point of it."""

EVERYWHERE = pytest.mark.parametrize("name", SPACES)


def test_every_member_of_a_space_is_attacked():
    assert set(members()) == set(OPERATIONS) | WITHOUT_POINTS


@EVERYWHERE
@pytest.mark.parametrize("dtype", FULL, ids=str)
def test_points_are_taken_by_every_operation(name, dtype):
    for operation in OPERATIONS.values():
        attack(lambda c, f=operation: f(SPACES[name], c), Case(grad=True, dtype=dtype))


@EVERYWHERE
@examples(60)
@given(operation=st.sampled_from(sorted(OPERATIONS)), case=cases(dtypes=(*FULL, *DTYPES)))
def test_any_input(name, operation, case):
    space = SPACES[name]
    attack(lambda c: OPERATIONS[operation](space, c), case, trusting=True)


@EVERYWHERE
@examples(40)
@given(case=cases(dtypes=FULL))
def test_what_is_no_point_has_a_violation(name, case):
    space = SPACES[name]
    x = case.points(space).detach()
    off = space.violation(x)
    assert off.shape == x.shape[: x.dim() - len(space.point_shape)]
    assert not bool(off.isnan().any())
    if case.kind == "plain":
        assert bool((off < NEARLY).all())
        assert bool((space.rough_violation(x) < NEARLY).all())
    if case.kind in FINITE and bool((off < NEARLY).all()):
        result = call(lambda c: space.log(x), case)
        assert isinstance(result, Exception) or not has_nan(result)
    if case.kind not in FINITE and x.numel():
        assert bool(torch.isfinite(x).all()) != bool((off > 1).any())
    unchanged(case)


@EVERYWHERE
@examples(25)
@given(case=cases(dtypes=FULL, kinds=FINITE))
def test_a_projection_is_a_point(name, case):
    space = SPACES[name]

    def project(own):
        projected = space.project(own.points(space))
        assert bool((space.violation(projected.detach()) < NEARLY).all())
        return projected

    attack(project, case)
