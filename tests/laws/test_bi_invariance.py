"""Right translations and inversion are isometries on SO(n) and flat groups, and only there."""

import torch

from liebn.groups import SE, SO, Euclidean, LieGroup, Product, right, spd
from tests.cases import DTYPES, Case, on, settings

BI_INVARIANT = [
    Case("so(3)", SO(3), DTYPES),
    Case("so(4)", SO(4), DTYPES),
    Case("right(so(3))", right(SO(3)), DTYPES),
    Case("euclidean", Euclidean(3), DTYPES),
    Case("lem", spd(3, "lem", alpha=2.0, beta=-0.5), DTYPES),
    *(Case(f"lcm({t})", spd(3, "lcm", theta=t), DTYPES) for t in (1.0, 0.5, 0.0)),
    Case("product", Product(SO(3), spd(2, "lcm")), DTYPES),
]
ONE_SIDED = [
    Case("aim", spd(3)),
    Case("aim(0.5)", spd(3, theta=0.5)),
    Case("crim", spd(3, "crim")),
    Case("se(3)", SE(3)),
]


@on(settings(BI_INVARIANT))
def test_right_translations_and_inversion_are_isometries(setting):
    space = setting.space
    g, x, y = setting.points(3, share=6)
    expected = space.squared_distance(x, y)
    moved = space.squared_distance(space.compose(x, g), space.compose(y, g))
    setting.close_scalars(moved, expected, "isometry", g, g, g, x, x, y)
    inverted = space.squared_distance(space.inverse(x), space.inverse(y))
    setting.close_scalars(inverted, expected, "isometry", x, x, x, y, y, y)


@on(settings([c for c in BI_INVARIANT if "so" not in c.name and c.name != "product"]))
def test_the_flat_groups_commute(setting):
    x, y = setting.points(2, share=3)
    setting.close(setting.space.compose(x, y), setting.space.compose(y, x), "axioms", x, x, y)


@on(settings(ONE_SIDED, only=["ordinary"]))
def test_the_others_are_not_bi_invariant(setting):
    space = setting.space
    g, x, y = setting.points(3)
    moved = space.distance(space.compose(x, g), space.compose(y, g))
    assert bool(((moved - space.distance(x, y)).abs() > 1e-3).any())


def test_the_right_handed_twin_has_the_opposite_operation(generator):
    aim, twin = spd(3), spd(3, "crim")
    x, y = aim.random(2, 4, generator=generator, dtype=torch.float64)
    torch.testing.assert_close(twin.compose(x, y), aim.compose(y, x))
    torch.testing.assert_close(twin.inverse(x), aim.inverse(x))
    torch.testing.assert_close(twin.distance(x, y), aim.distance(aim.inverse(x), aim.inverse(y)))


@on(settings([c for c in BI_INVARIANT if isinstance(c.space, LieGroup)], only=["ordinary"]))
def test_right_translation_composes_on_the_right(setting):
    p, x = setting.points(2)
    assert torch.equal(setting.space.right_translate(p, x), setting.space.compose(x, p))
