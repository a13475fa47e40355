"""Distances, geodesics and means of positive definite matrices against pyRiemann."""

import numpy as np
import pytest
import torch
from pyriemann.geometry.distance import distance
from pyriemann.geometry.geodesic import geodesic
from pyriemann.geometry.mean import gmean

from liebn.groups import spd
from tests.cases import relative_error
from tests.tolerances import tolerance

NAMES = {"aim": "riemann", "gyro-aim": "riemann", "lem": "logeuclid", "lcm": "logchol"}
metrics = pytest.mark.parametrize("metric", NAMES)


@pytest.fixture
def points(generator):
    return spd(4).random(8, generator=generator, dtype=torch.float64)


def agree(actual, expected, law="oracle", dims=0):
    expected = torch.as_tensor(np.asarray(expected))
    assert relative_error(actual, expected, dims) <= tolerance(law, torch.float64, 20.0)


@metrics
def test_distances(metric, points):
    x, y = points[:4], points[4:]
    expected = [
        distance(a, b, metric=NAMES[metric]) for a, b in zip(x.numpy(), y.numpy(), strict=True)
    ]
    agree(spd(4, metric).distance(x, y), expected)


@pytest.mark.parametrize("metric", ["aim", "gyro-aim", "lem", "lcm"])
@pytest.mark.parametrize("t", [0.25, 0.8])
def test_geodesics(metric, t, points):
    x, y = points[:4], points[4:]
    expected = geodesic(x.numpy(), y.numpy(), t, metric=NAMES[metric])
    agree(spd(4, metric).geodesic(x, y, t), expected, dims=2)


@metrics
@pytest.mark.parametrize("weighted", [False, True])
def test_means(metric, weighted, points):
    weights = torch.linspace(1, 3, 8, dtype=torch.float64) if weighted else None
    options = {"tol": 1e-12, "maxiter": 200} if NAMES[metric] == "riemann" else {}
    given = weights.numpy() if weighted else None
    expected = gmean(points.numpy(), metric=NAMES[metric], sample_weight=given, **options)
    agree(spd(4, metric).mean(points, weights=weights), expected, "iterated-oracle", dims=2)
