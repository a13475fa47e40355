"""The residual that a mean reports."""

import pytest
import torch

from liebn.groups import catalog


@pytest.mark.parametrize("name", catalog)
def test_the_residual_vanishes_at_the_mean_and_nowhere_else(name):
    space = catalog[name](3)
    x = space.exp(0.3 * torch.randn(20, *space.model.point_shape, dtype=torch.float64))
    spread = space.centre(x).variance.sqrt()
    assert space.residual(space.mean(x), x) <= 1e-9 * spread
    assert space.residual(x[0], x) > 0.1 * spread
