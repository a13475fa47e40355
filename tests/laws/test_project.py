"""Projection ends in the space, leaves its points alone, and can be differentiated."""

import torch

from tests.cases import Setting
from tests.laws.collection import Laws

LAWS = Laws()


@LAWS.add(only=["ordinary"])
def projection_ends_in_the_space(setting: Setting) -> None:
    space = setting.space
    (x,) = setting.points(1)
    for noise in (0.1, 1.0, 10.0):
        found = space.project(x + noise * torch.randn_like(x))
        setting.close_scalars(space.violation(found), 0.0, "violation")


@LAWS.add()
def projection_leaves_points_alone(setting: Setting) -> None:
    (x,) = setting.points(1)
    setting.close(setting.space.project(x), x, "axioms")


@LAWS.add(only=["ordinary"])
def what_is_not_a_point_has_a_violation(setting: Setting) -> None:
    space = setting.space
    (x,) = setting.points(1)
    broken = x.clone()
    broken[1], broken[2] = torch.nan, torch.inf
    violation = space.violation(broken)
    assert violation[1] == torch.inf
    assert violation[2] == torch.inf
    setting.close_scalars(violation[3:], 0.0, "violation")


@LAWS.everywhere
def test_project(law, setting):
    law(setting)
