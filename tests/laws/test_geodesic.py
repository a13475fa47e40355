"""Geodesics run from end to end at constant speed."""

import torch

from tests.cases import Setting
from tests.laws.collection import Laws

LAWS = Laws()


@LAWS.add()
def geodesics_join_their_ends(setting: Setting) -> None:
    space = setting.space
    x, y = setting.points(2, share=4)
    setting.close(space.geodesic(x, y, 0.0), x, "geodesic", x, x, y, y)
    setting.close(space.geodesic(x, y, 1.0), y, "geodesic", x, x, y, y)


@LAWS.add()
def geodesics_have_constant_speed(setting: Setting) -> None:
    space = setting.space
    x, y = setting.points(2, share=6)
    used = (x, x, x, y, y, y)
    length = space.distance(x, y)
    a, b = space.geodesic(x, y, 0.2), space.geodesic(x, y, 0.7)
    setting.close_scalars(space.distance(x, a), 0.2 * length, "geodesic", *used)
    setting.close_scalars(space.distance(a, b), 0.5 * length, "geodesic", *used)
    setting.close_scalars(space.distance(b, y), 0.3 * length, "geodesic", *used)


@LAWS.add(besides=["cut"])
def a_geodesic_backwards_is_a_geodesic(setting: Setting) -> None:
    """Where there is one shortest geodesic: not at the cut locus."""
    space = setting.space
    x, y = setting.points(2, share=4)
    setting.close(space.geodesic(x, y, 0.3), space.geodesic(y, x, 0.7), "geodesic", x, x, y, y)


@LAWS.add(besides=["cut"])
def every_point_has_its_own_time(setting: Setting) -> None:
    """At the cut locus rounding decides between geodesics, and differs from batch to batch.

    Products of a batch and of one matrix round differently, in each of a dozen operations here.
    """
    space = setting.space
    x, y = setting.points(2, count=3)
    t = torch.tensor([0.1, 0.4, 0.9], dtype=setting.dtype)
    together = space.geodesic(x, y, t)
    alone = torch.stack([space.geodesic(x[i], y[i], float(t[i])) for i in range(3)])
    setting.close(together, alone, "geodesic", x, y)


@LAWS.add()
def a_ray_is_the_geodesic_from_the_identity(setting: Setting) -> None:
    space, e = setting.space, setting.identity()
    x, y = setting.points(2, share=3)
    ray = space.ray(x)
    t = torch.tensor(0.6, dtype=setting.dtype)
    setting.close_scalars(ray.squared_norm(), space.squared_distance(e, x), "geodesic", x)
    setting.close(ray.at(t), space.geodesic(e, x, t), "geodesic", x)
    setting.close(ray.at(t, onto=y), space.compose(y, ray.at(t)), "geodesic", x, y)


@LAWS.add(besides=["cut"])
def scaling_scales_the_distance_to_the_identity(setting: Setting) -> None:
    """Σ w d²(φ_s(x), e) = s² Σ w d²(x, e), while φ_s stays within the injectivity radius."""
    space, e = setting.space, setting.identity()
    (x,) = setting.points(1, share=2)
    s = torch.tensor(0.9, dtype=setting.dtype)
    scaled = space.squared_distance(e, space.ray(x).at(s))
    setting.close_scalars(scaled, 0.81 * space.squared_distance(e, x), "geodesic", x, x)


@LAWS.everywhere
def test_geodesic(law, setting):
    law(setting)
