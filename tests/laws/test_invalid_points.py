"""A matrix that is no point is refused by name, through every entry of every such space."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from liebn.groups import Gyrogroup
from liebn.linalg import InvalidPointError, cholesky, spectral
from tests.cases import CASES, Case, on, settings
from tests.laws.samples import nature

POSITIVE = [case for case in CASES if nature(case.space) in ("positive", "correlation")]
BAD = ("nan", "half-nan", "infinite", "indefinite", "zero")


def spoil(x: Tensor, how: str) -> Tensor:
    """The points with number (1, 2) made no point."""
    x = x.clone()
    bad = x[1, 2]
    if how == "nan":
        bad.fill_(torch.nan)
    elif how == "half-nan":
        bad[0, 1] = bad[1, 0] = torch.nan
    elif how == "infinite":
        bad[0, 0] = torch.inf
    elif how == "indefinite":
        bad.sub_(3 * torch.linalg.matrix_norm(bad, 2) * torch.eye(len(bad)).to(bad) / 2)
    else:
        bad.zero_()
    return x


def entries(space: Gyrogroup) -> dict[str, Callable[[Tensor, Tensor], object]]:
    """Where a point x can enter; y is in order."""
    return {
        "log": lambda x, y: space.log(x),
        "inverse": lambda x, y: space.inverse(x),
        "translate": lambda x, y: space.compose(x, y),
        "distance": lambda x, y: space.distance(x, y),
        "distance to": lambda x, y: space.distance(y, x),
        "geodesic": lambda x, y: space.geodesic(x, y, 0.5),
        "ray": lambda x, y: space.ray(x),
        "mean": lambda x, y: space.mean(x),
        "centre": lambda x, y: space.centre(x),
        "log_at": lambda x, y: space.log_at(x, y),
        "log_at to": lambda x, y: space.log_at(y, x),
    }


@pytest.mark.parametrize("how", BAD)
@on(settings(POSITIVE, only=["ordinary"]))
def test_every_entry_names_the_sample(setting, how):
    space = setting.space
    x, y = (p.reshape(3, 4, *space.point_shape) for p in setting.points(2, 12))
    for name, entry in entries(space).items():
        with pytest.raises(InvalidPointError) as error:
            entry(spoil(x, how), y)
        assert error.value.index == (1, 2), name
        assert "sample [1, 2]" in str(error.value)
        assert error.value.reason


@pytest.mark.parametrize("function", [spectral.log, spectral.sqrt, cholesky.factor])
@pytest.mark.parametrize("how", BAD)
def test_a_single_matrix_is_the_point(function, how):
    x = spoil(torch.eye(3).expand(2, 3, 3, 3), how)[1, 2]
    with pytest.raises(InvalidPointError, match="the point") as error:
        function(x)
    assert error.value.index == ()


def test_the_first_of_several_is_named():
    x = torch.eye(2).repeat(5, 1, 1)
    x[3] = x[4] = -1
    with pytest.raises(InvalidPointError) as error:
        spectral.log(x)
    assert error.value.index == (3,)


@pytest.mark.parametrize("function", [spectral.exp, lambda x: spectral.apply(x, spectral.Log())])
def test_an_overflow_of_the_solver_is_told_from_a_bad_sample(function):
    x = torch.eye(3).repeat(4, 1, 1)
    x[2, 0, 0] = torch.inf
    with pytest.raises(InvalidPointError, match="not finite") as error:
        function(x)
    assert error.value.index == (2,)


def test_the_case_table_has_such_spaces():
    assert {"spd-aim(3)", "spd-lcm(3)", "crim(0.5)"} <= {case.name for case in POSITIVE}
    assert all(isinstance(case, Case) for case in POSITIVE)
