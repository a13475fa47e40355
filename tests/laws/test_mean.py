"""The Fréchet mean: stationary, minimal, equivariant, weighted, and never worse than the start.

On a compact space the samples lie within a quarter of the injectivity radius of some point, where
the mean is unique.
"""

import torch
from torch import Tensor

from liebn.groups import Gyrogroup, Rule
from liebn.groups.mean import LOCAL, Average, frechet_mean, start_of
from tests.cases import Setting
from tests.laws.collection import Laws
from tests.tolerances import RESIDUAL, tolerance

LAWS = Laws()


def dispersion(space: Gyrogroup, mean: Tensor, x: Tensor, weights: Tensor | None = None) -> Tensor:
    """Σ w d²(m, x) / Σ w over dimension 0."""
    square = space.squared_distance(mean, x)
    if weights is None:
        return square.mean(0)
    weights = weights / weights.sum(0)
    return (weights.reshape(weights.shape + (1,) * (square.dim() - weights.dim())) * square).sum(0)


def residual(space: Gyrogroup, mean: Tensor, x: Tensor, weights: Tensor | None) -> Tensor:
    """The norm of the mean logarithm."""
    logs = space.log(space.untranslate(mean, x))
    weights = torch.ones(len(x), dtype=x.dtype) if weights is None else weights
    return space.squared_norm((space.expand(weights / weights.sum()) * logs).sum(0)).sqrt()


def some_weights(x: Tensor) -> Tensor:
    return torch.linspace(0.5, 2.0, len(x), dtype=x.dtype)


@LAWS.add()
def the_mean_is_stationary(setting: Setting) -> None:
    space, x = setting.space, setting.cluster()
    for weights in (None, some_weights(x)):
        mean = space.mean(x, weights=weights)
        assert mean.shape == x.shape[1:]
        deviation = float(dispersion(space, mean, x, weights).sqrt())
        found = float(residual(space, mean, x, weights))
        promised = RESIDUAL[setting.dtype] * deviation
        assert found <= promised + tolerance("residual", setting.dtype, setting.kappa(x, mean))


@LAWS.add(only=["ordinary", "near"])
def a_space_reports_the_mean_logarithm_as_its_residual(setting: Setting) -> None:
    space, x = setting.space, setting.cluster()
    weights = some_weights(x)
    expected = residual(space, x[0], x, weights)
    found = space.residual(x[0], x, weights=7 * weights)
    setting.close_scalars(found, expected, "metric", x, x)
    twice = torch.stack([x, x])
    found = space.residual(twice[:, 0], twice, dim=1, weights=weights)
    setting.close_scalars(found, expected.expand(2), "metric", x, x)


@LAWS.add()
def the_mean_is_minimal(setting: Setting) -> None:
    space, x = setting.space, setting.cluster()
    weights = some_weights(x)
    mean = space.mean(x, weights=weights)
    least = dispersion(space, mean, x, weights)
    (v,) = setting.tangents(1, 12, share=4)
    for scale in (1e-3, 1e-2, 0.1):
        others = space.compose(mean, space.exp(scale * v))
        found = torch.stack([dispersion(space, other, x, weights) for other in others])
        excess = (least - found).clamp_min(0) / (1 + least)
        setting.close_scalars(excess, 0.0, "dispersion", x, mean)
        length = scale**2 * space.squared_norm(v)
        clear = length > 1e-4 * least.clamp_min(1e-2)
        assert bool((found > least)[clear].all()) or setting.dtype == torch.float32


@LAWS.add()
def the_mean_moves_with_a_translation(setting: Setting) -> None:
    space, x = setting.space, setting.cluster()
    (g,) = setting.points(1, 1, share=4)
    moved = space.mean(space.compose(g, x))
    setting.close(moved, space.compose(g[0], space.mean(x)), "mean", x, x, g, g)


@LAWS.add()
def the_mean_does_not_mind_the_order(setting: Setting) -> None:
    space, x = setting.space, setting.cluster()
    setting.close(space.mean(x.flip(0)), space.mean(x), "mean", x, x)


@LAWS.add()
def the_mean_of_one_sample_is_that_sample(setting: Setting) -> None:
    (x,) = setting.points(1, 3, share=2)
    for point in x:
        setting.close(setting.space.mean(point.unsqueeze(0)), point, "mean", x)
        same = point.expand(4, *point.shape)
        setting.close(setting.space.mean(same), point, "mean", x)


@LAWS.add()
def the_mean_of_two_samples_is_on_their_geodesic(setting: Setting) -> None:
    space, x = setting.space, setting.cluster()
    weights = torch.tensor([3.0, 1.0], dtype=setting.dtype)
    on_the_way = space.geodesic(x[0], x[1], 0.25)
    setting.close(space.mean(x[:2], weights=weights), on_the_way, "mean", x, x)


@LAWS.add()
def weights_count_samples(setting: Setting) -> None:
    space, x = setting.space, setting.cluster(4)
    counts = torch.tensor([2, 0, 1, 3])
    repeated = space.mean(x.repeat_interleave(counts, 0))
    setting.close(space.mean(x, weights=counts.to(x)), repeated, "mean", x, x)
    setting.close(space.mean(x, weights=7 * counts.to(x)), repeated, "mean", x, x)


@LAWS.add(only=["ordinary"])
def the_mean_is_taken_over_any_dimension(setting: Setting) -> None:
    space, x = setting.space, setting.cluster(12)
    grid = x.reshape(3, 4, *space.point_shape)
    weights = torch.linspace(0.5, 2.0, 12, dtype=setting.dtype).reshape(3, 4)
    columns = torch.stack([space.mean(grid[:, j], weights=weights[:, j]) for j in range(4)])
    rows = torch.stack([space.mean(grid[i], weights=weights[i]) for i in range(3)])
    for dim, expected in ((0, columns), (-2, columns), (1, rows), (-1, rows)):
        setting.close(space.mean(grid, dim=dim, weights=weights), expected, "mean", x)
    one = space.mean(grid, dim=1, weights=weights[0])
    setting.close(one[2], space.mean(grid[2], weights=weights[0]), "mean", x)


@LAWS.add()
def a_search_never_ends_worse_than_it_began(setting: Setting) -> None:
    """Whatever the samples: on a compact space they spread over all of it here."""
    space = setting.space.model
    (x,) = setting.points(1, 8, share=2)
    y = setting.space.to_model(x)
    average = Average(y, None, LOCAL)
    for start in ("best", "average", "first"):
        for step in ("newton", "karcher"):
            rule = Rule(start=start, step=step, most_steps=4, detach=True)
            begin = dispersion(space, start_of(space, y, average, rule), y)
            for end in (frechet_mean(space, y, average, rule), space._mean(y, average, rule)):
                excess = (dispersion(space, end, y) / begin.clamp_min(1e-3) - 1).clamp_min(0)
                setting.close_scalars(excess, 0.0, "dispersion", x, x)


@LAWS.everywhere
def test_mean(law, setting):
    law(setting)
