"""The distance is a metric, and left translations are isometries."""

import torch

from tests.cases import Setting
from tests.laws.collection import Laws

LAWS = Laws()


@LAWS.add()
def distance_is_symmetric(setting: Setting) -> None:
    x, y = setting.points(2, share=3)
    there, back = setting.space.distance(x, y), setting.space.distance(y, x)
    setting.close_scalars(there, back, "metric", x, x, y)


@LAWS.add()
def points_are_at_distance_zero_only_from_themselves(setting: Setting) -> None:
    space = setting.space
    x, y = setting.points(2)
    setting.close_scalars(space.distance(x, x), 0.0, "metric", x, x)
    apart = (x - y).flatten(1).norm(dim=-1) if x.dim() > 1 else (x - y).abs()
    far = apart > 1e-2
    assert bool((space.distance(x, y)[far] > 0).all())


@LAWS.add()
def the_triangle_inequality_holds(setting: Setting) -> None:
    space = setting.space
    x, y, z = setting.points(3)
    detour = space.distance(x, y) + space.distance(y, z)
    excess = (space.distance(x, z) - detour).clamp_min(0)
    setting.close_scalars(excess, 0.0, "metric", x, y, z)


@LAWS.add()
def left_translations_are_isometries(setting: Setting) -> None:
    space = setting.space
    g, x, y = setting.points(3, share=6)
    moved = space.squared_distance(space.compose(g, x), space.compose(g, y))
    setting.close_scalars(moved, space.squared_distance(x, y), "isometry", g, g, g, x, x, y)


@LAWS.add()
def squared_distance_is_the_square(setting: Setting) -> None:
    """A distance is taken in the model, and ⊖x ⊕ y is a point of the space, rounded as one."""
    space = setting.space
    x, y = setting.points(2, share=3)
    square = space.squared_distance(x, y)
    setting.close_scalars(space.distance(x, y).square(), square, "metric")
    moved = space.squared_norm(space.log(space.untranslate(x, y)))
    setting.close_scalars(moved, square, "metric", x, x, y)


@LAWS.add()
def the_norm_is_that_of_an_inner_product(setting: Setting) -> None:
    space = setting.space
    u, v = setting.tangents(2)
    parallelogram = space.squared_norm(u + v) + space.squared_norm(u - v)
    sides = 2 * space.squared_norm(u) + 2 * space.squared_norm(v)
    setting.close_scalars(parallelogram, sides, "metric")
    setting.close_scalars(space.squared_norm(-3 * v), 9 * space.squared_norm(v), "metric")
    nonzero = v.reshape(len(v), -1).abs().amax(-1) > 1e-12
    assert bool((space.squared_norm(v)[nonzero] > 0).all())


@LAWS.add()
def the_distance_to_the_identity_is_the_norm_of_the_logarithm(setting: Setting) -> None:
    space, e = setting.space, setting.identity()
    (x,) = setting.points(1)
    norm = torch.sqrt(space.squared_norm(space.log(x)))
    setting.close_scalars(space.distance(e, x), norm, "metric", x)


@LAWS.everywhere
def test_metric(law, setting):
    law(setting)
