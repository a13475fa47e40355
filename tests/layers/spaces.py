"""The spaces that the layers are tested on, and batches of their points."""

import pytest
import torch
from torch import Tensor

from liebn.groups import SO, Euclidean, Gyrogroup, Product, catalog, right, spd
from liebn.verify.samples import points

__all__ = ["CATALOG", "COMBINED", "DEFORMED", "SPACES", "THETAS", "hadamard", "on", "points"]
__all__ += ["spread_matrices"]

THETAS = (0.5, -0.5, 1.0, -1.0, 1.5, -1.5)

CATALOG: dict[str, Gyrogroup] = {name: make(3).double() for name, make in catalog.items()}
"""Every space of the catalog, at size 3; what it learns, in float64."""

COMBINED: dict[str, Gyrogroup] = {
    "line": Euclidean(),
    "so(4)": SO(4),
    "aim(0.5,2,-0.5)": spd(3, "aim", theta=0.5, alpha=2.0, beta=-0.5),
    "gyro-aim(-0.5)": spd(3, "gyro-aim", theta=-0.5),
    "lem(1,1,0.3)": spd(3, "lem", beta=0.3),
    "lcm(1.5)": spd(3, "lcm", theta=1.5),
    "lcm(0)": spd(3, "lcm", theta=0.0),
    "right(so)": right(SO(3)),
    "so×lcm": Product(SO(3), spd(2, "lcm", theta=0.5)),
}
"""Combinators, and parameters other than the default."""

SPACES = {**CATALOG, **COMBINED}

DEFORMED: dict[str, Gyrogroup] = {
    f"{metric}({theta:g})": spd(3, metric, theta=theta)
    for metric in ("aim", "gyro-aim", "crim", "lem", "lcm")
    for theta in THETAS
}
"""Every metric on positive definite matrices with every deformation of the paper."""


def hadamard(space: Gyrogroup) -> bool:
    """Whether exp is one-to-one everywhere, so that moments are controlled whatever the batch."""
    return space.injectivity_radius == torch.inf


def on(spaces: dict[str, Gyrogroup]) -> pytest.MarkDecorator:
    """Parametrise a test over spaces."""
    return pytest.mark.parametrize("space", spaces.values(), ids=spaces.keys())


def spread_matrices(
    count: int, n: int, kappa: float, theta: float, generator: torch.Generator
) -> Tensor:
    """Positive definite matrices whose powers θ have condition κ and spectra spread in between."""
    draw = {"generator": generator, "dtype": torch.float64}
    exponents = torch.rand(count, n, **draw)
    exponents[:, 0], exponents[:, -1] = 0.0, 1.0
    values = kappa ** ((exponents - 0.5) / theta)
    basis = SO(n).random(count, **draw)
    x = (basis * values.unsqueeze(-2)) @ basis.mT
    return 0.5 * (x + x.mT)
