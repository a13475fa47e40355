"""The paper's table of operators, its deformations, and normalization without a pullback."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import Tensor

from liebn.groups import Gyrogroup, spd
from liebn.linalg import spectral
from tests.cases import relative_error
from tests.oracles import paper
from tests.tolerances import tolerance

SPACES = {
    "lem": (spd(3, "lem"), paper.LEM()),
    "lem(2,-0.5)": (spd(3, "lem", theta=0.5, alpha=2.0, beta=-0.5), paper.LEM(1.0, 2.0, -0.5)),
    "aim": (spd(3), paper.AIM()),
    "aim(1,0.5,0.3)": (spd(3, alpha=0.5, beta=0.3), paper.AIM(1.0, 0.5, 0.3)),
    "aim(0.5)": (spd(3, theta=0.5), paper.AIM(0.5)),
    "aim(-1,2,-0.5)": (spd(3, "aim", -1.0, 2.0, -0.5), paper.AIM(-1.0, 2.0, -0.5)),
    "aim(1.5)": (spd(3, theta=1.5), paper.AIM(1.5)),
    "gyro-aim": (spd(3, "gyro-aim"), paper.GyroAIM()),
    "gyro-aim(0.5)": (spd(3, "gyro-aim", theta=0.5), paper.GyroAIM(0.5)),
    "lcm": (spd(3, "lcm"), paper.LCM()),
    "lcm(0.5)": (spd(3, "lcm", theta=0.5), paper.LCM(0.5)),
    "lcm(-0.5)": (spd(3, "lcm", theta=-0.5), paper.LCM(-0.5)),
}
table = pytest.mark.parametrize("name", SPACES)


def agree(actual: Tensor, expected: list, law: str = "formula") -> None:
    expected = torch.as_tensor(np.array(expected))
    dims = 2 if expected.dim() == 3 else 0
    assert relative_error(actual, expected, dims) <= tolerance(law, torch.float64, kappa=10.0)


def samples(generator, count: int = 4) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    x, y = spd(3).random(2, count, generator=generator, dtype=torch.float64)
    noise = torch.randn(2, count, 3, 3, generator=generator, dtype=torch.float64)
    u, v = spectral.symmetrise(noise)
    return x, y, u, v


@table
def test_operators(name, generator):
    space, formula = SPACES[name]
    x, y, u, v = samples(generator)
    pairs = list(zip(x.numpy(), y.numpy(), strict=True))
    quadruples = zip(x.numpy(), u.numpy(), v.numpy(), strict=True)
    agree(space.inner_at(x, u, v), [formula.metric(*q) for q in quadruples])
    agree(space.distance(x, y), [formula.distance(p, q) for p, q in pairs])
    agree(space.compose(x, y), [formula.compose(p, q) for p, q in pairs])
    agree(space.log_at(x, y), [formula.log_at(p, q) for p, q in pairs])
    velocity = torch.as_tensor(np.array([formula.log_at(p, q) for p, q in pairs]))
    agree(space.exp_at(x, velocity), list(y.numpy()))
    agree(space.mean(x), [formula.mean(x.numpy())][0], "mean")


@table
def test_normalization_computed_in_the_space_itself(name, generator):
    """Theorem 5.3: centring, scaling and biasing in the model, against the same by hand."""
    space, formula = SPACES[name]
    x, y, _, _ = samples(generator, 5)
    bias, factor = y[0], 0.7
    centred = space.centre(x)
    t = torch.tensor(factor, dtype=torch.float64)
    found = centred.ray.at(t, onto=bias)

    mean = torch.as_tensor(formula.mean(x.numpy()))
    distances = [formula.distance(p, mean.numpy()) ** 2 for p in x.numpy()]
    assert float(centred.variance) == pytest.approx(np.mean(distances), rel=1e-9)
    expected = []
    for p in x:
        moved = space.untranslate(mean, p)
        logarithm = paper.log(moved.numpy())
        if name.startswith("lcm"):
            chart = factor * formula.chart(moved.numpy())
            lower = np.tril(chart, -1) + np.diag(np.exp(np.diag(chart)))
            scaled = formula.from_factor(lower)
        else:
            scaled = paper.expm(factor * logarithm)
        expected.append(formula.compose(bias.numpy(), scaled))
        reached = formula.compose(mean.numpy(), moved.numpy())
        agree(p[None], [reached])
    agree(found, expected, "mean")


def difference(space: Gyrogroup, limit: Gyrogroup, x: Tensor, y: Tensor) -> float:
    found = space.squared_distance(x, y)
    return float((found - limit.squared_distance(x, y)).abs().max())


@pytest.mark.parametrize("metric, order", [("aim", 2), ("gyro-aim", 2), ("crim", 1), ("lcm", 1)])
def test_the_limit_of_no_deformation(metric, order, generator):
    """Proposition 5.1: θ → 0 is LEM, of g̃ for LCM; the distance of AIM is even in θ."""
    x, y, _, _ = samples(generator)
    limit = spd(3, metric, theta=0.0)
    errors = [difference(spd(3, metric, theta=t), limit, x, y) for t in (0.02, 0.01, 0.005)]
    for coarse, fine in pairwise(errors):
        assert 0.8 * 2**order < coarse / fine < 1.25 * 2**order
    assert errors[-1] < 0.2


@pytest.mark.parametrize("metric", ["aim", "gyro-aim", "crim", "lcm"])
def test_the_limit_of_means_and_operations(metric, generator):
    x, y, _, _ = samples(generator)
    limit = spd(3, metric, theta=0.0)
    for operation in (lambda s: s.mean(x), lambda s: s.compose(x, y), lambda s: s.inverse(x)):
        errors = [
            float((operation(spd(3, metric, theta=t)) - operation(limit)).abs().max())
            for t in (0.02, 0.01)
        ]
        assert errors[1] < 0.6 * errors[0] or errors[0] < 1e-9
        assert errors[1] < 0.2


def test_the_limit_of_lcm_is_lem_of_another_inner_product(generator):
    x, _, u, v = samples(generator)
    found = spd(3, "lcm", theta=0.0).inner_at(x, u, v)
    expected = []
    for p, a, b in zip(x.numpy(), u.numpy(), v.numpy(), strict=True):
        a, b = paper.derivative(paper.log, p, a), paper.derivative(paper.log, p, b)
        expected.append(0.5 * np.sum(a * b) - 0.25 * np.sum(np.diag(a) * np.diag(b)))
    agree(found, expected)


@pytest.mark.parametrize("theta", [-1.0, 0.0, 0.3, 2.0])
def test_no_deformation_changes_lem(theta, generator):
    """(θ, α, β)-LEM is (α, β)-LEM: written out, (1/θ²) P_θ^* of it is what it was."""
    x, y, u, v = samples(generator)
    plain = spd(3, "lem", alpha=2.0, beta=-0.5)
    named = spd(3, "lem", theta=theta, alpha=2.0, beta=-0.5)
    torch.testing.assert_close(named.distance(x, y), plain.distance(x, y))
    if theta:
        written = spectral.log(spectral.power(x, theta)) - spectral.log(spectral.power(y, theta))
        square = plain.squared_norm(written) / theta**2
        torch.testing.assert_close(square, plain.squared_distance(x, y))
    torch.testing.assert_close(named.inner_at(x, u, v), plain.inner_at(x, u, v))
    torch.testing.assert_close(named.compose(x, y), plain.compose(x, y))
