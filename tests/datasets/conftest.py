"""Fixtures of the dataset tests: a private cache, the real files, and small files to write."""

from collections.abc import Callable

import numpy as np
import pytest

from tests.places import command, private_places, real, shared_cache

__all__ = ["command", "private_places", "real", "shared_cache"]


@pytest.fixture
def spd() -> Callable[[int, int], np.ndarray]:
    """Return ``count`` well-conditioned matrices of a size."""

    def draw(count: int, size: int, seed: int = 0) -> np.ndarray:
        factor = np.random.default_rng(seed).standard_normal((count, size, 2 * size))
        return factor @ factor.swapaxes(1, 2)

    return draw
