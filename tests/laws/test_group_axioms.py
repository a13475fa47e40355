"""Axioms of groups, and of gyrogroups where the operation is not associative.

With gyr[a, b] c = ⊖(a ⊕ b) ⊕ (a ⊕ (b ⊕ c)), a group is the case of trivial gyrations.
"""

import torch
from torch import Tensor

from liebn.groups import Gyrogroup
from tests.cases import Setting
from tests.laws.collection import Laws

LAWS = Laws()


def gyrate(space: Gyrogroup, a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    """gyr[a, b] c."""
    left = space.compose(a, space.compose(b, c))
    return space.untranslate(space.compose(a, b), left)


@LAWS.add()
def operations_stay_in_the_space(setting: Setting) -> None:
    space = setting.space
    x, y = setting.points(2)
    v = space.log(x)
    for point in (
        setting.identity(),
        space.compose(x, y),
        space.inverse(x),
        space.exp(v),
        space.exp(torch.randn_like(v)),
        space.random(7, dtype=setting.dtype),
    ):
        assert point.dtype == setting.dtype
        violation = space.violation(point)
        assert violation.shape == point.shape[: point.dim() - len(space.point_shape)]
        setting.close_scalars(violation, 0.0, "violation")


@LAWS.add()
def the_identity_is_neutral(setting: Setting) -> None:
    space, e = setting.space, setting.identity()
    (x,) = setting.points(1)
    setting.close(space.compose(e, x), x, "axioms", x)
    setting.close(space.compose(x, e), x, "axioms", x)
    setting.close(space.inverse(e), e, "axioms")


@LAWS.add()
def inverses_cancel(setting: Setting) -> None:
    space, e = setting.space, setting.identity()
    # Inversion is no isometry: it magnifies an error by up to the condition number once more.
    (x,) = setting.points(1, share=2)
    setting.close(space.compose(space.inverse(x), x), e, "axioms", x, x)
    setting.close(space.compose(x, space.inverse(x)), e, "axioms", x, x)
    setting.close(space.inverse(space.inverse(x)), x, "axioms", x, x)


@LAWS.add()
def left_translations_cancel(setting: Setting) -> None:
    space = setting.space
    x, y = setting.points(2, share=3)
    setting.close(space.untranslate(x, space.compose(x, y)), y, "axioms", x, x, y)
    setting.close(space.compose(x, space.untranslate(x, y)), y, "axioms", x, x, y)


@LAWS.add()
def the_operation_is_associative_up_to_gyration(setting: Setting) -> None:
    space = setting.space
    a, b, c = setting.points(3, share=5)
    turned = gyrate(space, a, b, c) if not space.associative else c
    one = space.compose(a, space.compose(b, c))
    other = space.compose(space.compose(a, b), turned)
    setting.close(one, other, "axioms", a, a, b, b, c)


@LAWS.add()
def gyrations_are_automorphisms(setting: Setting) -> None:
    space, e = setting.space, setting.identity()
    a, b, c, d = setting.points(4, share=6)
    used = (a, a, b, b, c, d)
    setting.close(gyrate(space, a, b, e.expand_as(a)), e, "gyration", *used)
    both = space.compose(gyrate(space, a, b, c), gyrate(space, a, b, d))
    setting.close(gyrate(space, a, b, space.compose(c, d)), both, "gyration", *used)


@LAWS.add()
def gyrations_are_isometries(setting: Setting) -> None:
    space = setting.space
    a, b, c, d = setting.points(4, share=6)
    turned = space.squared_distance(gyrate(space, a, b, c), gyrate(space, a, b, d))
    setting.close_scalars(turned, space.squared_distance(c, d), "gyration", a, a, b, b, c, d)


@LAWS.add()
def gyrations_have_the_left_loop_property(setting: Setting) -> None:
    space = setting.space
    a, b, c = setting.points(3, share=7)
    looped = gyrate(space, space.compose(a, b), b, c)
    setting.close(looped, gyrate(space, a, b, c), "gyration", a, a, b, b, b, b, c)


@LAWS.add(only=["ordinary"])
def the_associative_flag_tells_the_truth(setting: Setting) -> None:
    space = setting.space
    a, b, c = setting.points(3)
    turned = gyrate(space, a, b, c)
    trivial = bool(((turned - c).abs() < 1e-3).all())
    assert trivial == space.associative


@LAWS.everywhere
def test_group_axioms(law, setting):
    law(setting)
