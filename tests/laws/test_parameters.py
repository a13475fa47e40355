"""Parameters outside the admissible set are refused, with the reason."""

import pytest
import torch

from liebn.diffeos import Power
from liebn.groups import (
    SE,
    SO,
    AffineInvariant,
    Euclidean,
    GyroAffineInvariant,
    Product,
    Symmetric,
    right,
    spd,
)
from tests.cases import CASES


@pytest.mark.parametrize("space", [AffineInvariant, GyroAffineInvariant, Symmetric])
@pytest.mark.parametrize(
    "alpha, beta", [(0.0, 0.0), (-1.0, 2.0), (1.0, -1 / 3), (1.0, -0.5), (float("nan"), 0.0)]
)
def test_a_form_that_is_not_positive_is_no_metric(space, alpha, beta):
    with pytest.raises(ValueError, match=r"min\(α, α \+ nβ\) must be positive"):
        space(3, alpha, beta)


@pytest.mark.parametrize("metric", ["aim", "lem", "gyro-aim", "crim"])
@pytest.mark.parametrize("theta", [0.0, 0.5, 1.0, -2.0])
def test_the_factories_pass_the_refusal_on(metric, theta):
    with pytest.raises(ValueError, match="give no metric on 3×3"):
        spd(3, metric, theta=theta, alpha=1.0, beta=-0.4)
    assert spd(3, metric, theta=theta, alpha=1.0, beta=-0.3).point_shape == (3, 3)


def test_lcm_takes_no_alpha_and_beta():
    with pytest.raises(ValueError, match="LCM takes no α and β"):
        spd(3, "lcm", alpha=2.0)


def test_an_unknown_metric_is_told_what_there_is():
    with pytest.raises(ValueError, match=r"unknown metric 'euclid'.*aim, lem, lcm, gyro-aim"):
        spd(3, "euclid")


def test_a_power_of_zero_is_not_invertible():
    with pytest.raises(ValueError, match="not invertible at θ = 0"):
        Power(0.0)


def test_rotations_need_a_plane():
    for space in (SO, SE):
        with pytest.raises(ValueError, match="n ≥ 2"):
            space(1)


def test_a_product_needs_a_factor():
    with pytest.raises(ValueError, match="at least one factor"):
        Product()


def test_only_a_group_has_an_opposite():
    with pytest.raises(ValueError, match="needs a group"):
        right(spd(3, "gyro-aim"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_no_samples_have_no_mean(case):
    with pytest.raises(ValueError, match="mean of no points"):
        case.space.mean(case.space.random(0))


@pytest.mark.parametrize("dim", [-3, 2, 5])
def test_a_mean_is_over_a_batch_dimension(dim):
    with pytest.raises(IndexError, match="not one of the 2 batch dimensions"):
        Euclidean(3).mean(torch.zeros(2, 4, 3), dim=dim)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_space_prints_its_parameters(case):
    assert type(case.space).__name__ in repr(case.space)
