"""exp and log invert each other, at the identity and at any point."""

import torch

from tests.cases import Setting
from tests.laws.collection import Laws

LAWS = Laws()


@LAWS.add()
def exp_undoes_log(setting: Setting) -> None:
    (x,) = setting.points(1)
    setting.close(setting.space.exp(setting.space.log(x)), x, "exp-log", x)


@LAWS.add()
def log_undoes_exp_within_the_injectivity_radius(setting: Setting) -> None:
    (v,) = setting.tangents(1)
    x = setting.space.exp(v)
    setting.close(setting.space.log(x), v, "exp-log", x)


@LAWS.add()
def log_and_exp_fix_the_identity(setting: Setting) -> None:
    space, e = setting.space, setting.identity()
    setting.close(space.log(e), torch.zeros_like(e), "exp-log")
    setting.close(space.exp(torch.zeros_like(e)), e, "exp-log")


@LAWS.add(besides=["cut"])
def minus_the_logarithm_is_that_of_the_inverse_geodesic(setting: Setting) -> None:
    space = setting.space
    (v,) = setting.tangents(1, share=3, reach=0.4)
    there, back = space.exp(v), space.exp(-v)
    setting.close_scalars(
        space.distance(back, there), 2 * space.squared_norm(v).sqrt(), "exp-log", there, there, back
    )


@LAWS.add()
def exp_at_undoes_log_at(setting: Setting) -> None:
    space = setting.space
    p, x = setting.points(2, share=4)
    setting.close(space.exp_at(p, space.log_at(p, x)), x, "operators", p, p, x, x)


@LAWS.add()
def log_at_a_point_of_itself_is_zero(setting: Setting) -> None:
    (x,) = setting.points(1, share=2)
    scale = 1 + x.abs().amax()
    setting.close(setting.space.log_at(x, x) / scale, torch.zeros_like(x), "operators", x, x)


@LAWS.add()
def inner_at_of_log_at_is_the_squared_distance(setting: Setting) -> None:
    space = setting.space
    p, x = setting.points(2, share=4)
    u = space.log_at(p, x)
    setting.close_scalars(
        space.inner_at(p, u, u), space.squared_distance(p, x), "operators", p, p, x, x
    )


@LAWS.add()
def the_inner_product_is_the_metric_seen_by_nearby_points(setting: Setting) -> None:
    """d(p, exp_p(h u))² is h² <u, u>_p, which ties log_at and inner_at to the distance."""
    space = setting.space
    p, x = setting.points(2, share=4)
    u = 0.5 * space.log_at(p, x)
    moved = space.exp_at(p, u)
    setting.close_scalars(
        space.squared_distance(p, moved), space.inner_at(p, u, u), "operators", p, p, x, x
    )


@LAWS.add(only=["ordinary", "repeated"])
def operators_are_the_same_at_a_point_that_requires_a_gradient(setting: Setting) -> None:
    space = setting.space
    p, x = setting.points(2)
    u = space.log_at(p, x)
    leaf = p.clone().requires_grad_()
    for operator in (
        lambda p: space.log_at(p, x),
        lambda p: space.exp_at(p, u),
        lambda p: space.inner_at(p, u, u),
    ):
        plain, tracked = operator(p), operator(leaf)
        assert not plain.requires_grad
        setting.close_scalars(tracked, plain, "batch", p, x)
        with torch.no_grad():
            assert torch.equal(operator(leaf), plain)
    assert space.log_at(leaf, x).requires_grad
    assert space.exp_at(leaf, u).requires_grad  # the metric of a flat space is constant


@LAWS.everywhere
def test_exp_log(law, setting):
    law(setting)
