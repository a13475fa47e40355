"""An operation on a batch is that on each point, for any batch shape and any memory layout."""

from collections.abc import Callable

import torch
from torch import Tensor

from liebn.groups import Gyrogroup
from tests.cases import Setting
from tests.laws.collection import Laws

LAWS = Laws()

Operation = Callable[[Tensor, Tensor], Tensor]


def operations(space: Gyrogroup, dtype: torch.dtype) -> dict[str, Operation]:
    """Every operation, as a function of two points."""
    t = torch.tensor(0.3, dtype=dtype)
    return {
        "compose": space.compose,
        "inverse": lambda x, y: space.inverse(x),
        "log": lambda x, y: space.log(x),
        "exp": lambda x, y: space.exp(space.log(x)),
        "project": lambda x, y: space.project(x),
        "violation": lambda x, y: space.violation(x),
        "squared_norm": lambda x, y: space.squared_norm(space.log(x)),
        "untranslate": space.untranslate,
        "distance": space.distance,
        "geodesic": lambda x, y: space.geodesic(x, y, t),
        "ray": lambda x, y: space.ray(x).at(t, onto=y),
        "log_at": space.log_at,
        "exp_at": lambda x, y: space.exp_at(x, space.log_at(x, y)),
        "inner_at": lambda x, y: space.inner_at(x, space.log_at(x, y), space.log_at(x, y)),
        "model": lambda x, y: space.from_model(space.to_model(x)),
    }


def layouts(x: Tensor) -> list[Tensor]:
    """The same points (6, *point) in other strides."""
    every_other = torch.stack([x, x], 1).flatten(0, 1)[::2]
    last_first = x.movedim(0, -1).contiguous().movedim(-1, 0)
    return [every_other, last_first]


@LAWS.add(only=["ordinary"])
def a_batch_is_its_points(setting: Setting) -> None:
    space, point = setting.space, setting.space.point_shape
    x, y = setting.points(2)
    for name, operation in operations(space, setting.dtype).items():
        alone = torch.stack([operation(a, b) for a, b in zip(x, y, strict=True)])
        rest = alone.shape[1:]
        for found in (
            operation(x, y),
            operation(x.reshape(2, 3, *point), y.reshape(2, 3, *point)).reshape(6, *rest),
            *(operation(a, b) for a, b in zip(layouts(x), layouts(y), strict=True)),
        ):
            assert found.shape == alone.shape, name
            setting.close_scalars(found, alone, "batch", x, y)


@LAWS.add(only=["ordinary"])
def batch_shapes_broadcast(setting: Setting) -> None:
    space = setting.space
    x, y = setting.points(2)
    column, row = x[:2].unsqueeze(1), y[:3].unsqueeze(0)
    for name, operation in operations(space, setting.dtype).items():
        if name in ("compose", "untranslate", "distance", "geodesic", "log_at", "exp_at"):
            table = operation(column, row)
            alone = torch.stack([operation(a.expand_as(y[:3]), y[:3]) for a in x[:2]])
            assert table.shape == alone.shape, name
            setting.close_scalars(table, alone, "batch", x, y)


@LAWS.add(only=["ordinary"])
def no_points_are_no_trouble(setting: Setting) -> None:
    space = setting.space
    x, y = (p[:0] for p in setting.points(2))
    for name, operation in operations(space, setting.dtype).items():
        found = operation(x, y)
        assert found.shape[0] == 0, name
    assert space.identity(0, dtype=setting.dtype).shape == x.shape
    assert space.random(0, dtype=setting.dtype).shape == x.shape
    no_channels = x.unsqueeze(0).expand(3, *x.shape)
    assert space.mean(no_channels).shape == x.shape


@LAWS.add(only=["ordinary"])
def random_points_follow_their_generator(setting: Setting) -> None:
    space = setting.space
    first, again = (
        space.random(2, 3, generator=torch.Generator().manual_seed(5), dtype=setting.dtype)
        for _ in range(2)
    )
    assert torch.equal(first, again)
    assert first.shape == (2, 3, *space.point_shape)
    assert space.random(dtype=setting.dtype).shape == space.point_shape
    assert space.identity(2, 3, dtype=setting.dtype).shape == first.shape


@LAWS.everywhere
def test_batch_shapes(law, setting):
    law(setting)
