"""The three ways to seek the mean, and rules of one's own."""

import pytest
import torch

from liebn import LieBatchNorm
from liebn.groups import SO, Rule, spd
from liebn.linalg import spectral
from tests.layers.moments import errors
from tests.layers.spaces import CATALOG, SPACES, on, points, spread_matrices
from tests.layers.tolerances import close, tolerance

FLAT = {k: SPACES[k] for k in ("euclidean", "spd-lem", "spd-lcm", "lcm(1.5)")}
CURVED = {k: s for k, s in CATALOG.items() if k not in FLAT}


def run(space, x, statistics, **options):
    layer = LieBatchNorm(space, statistics=statistics, dtype=torch.float64, **options)
    return layer, layer(x)


@on(FLAT)
def test_on_flat_spaces_all_modes_give_the_same_output(space, generator):
    x = points(space, 7, generator=generator)
    _, exact = run(space, x, "exact")
    for statistics in ("fast", "reference"):
        close(run(space, x, statistics)[1], exact, "rounding")


@pytest.mark.parametrize("kappa", [10.0, 1e2, 1e4])
@pytest.mark.parametrize("metric", ["aim", "gyro-aim", "crim"])
def test_fast_is_closer_to_exact_than_reference(metric, kappa, generator):
    space = spd(6, metric)
    off = {}
    for statistics in ("exact", "fast", "reference"):
        layer = LieBatchNorm(space, statistics=statistics, dtype=torch.float64)
        off[statistics] = errors(layer, spread_matrices(20, 6, kappa, 1.0, generator))[0]
    assert off["exact"] <= tolerance("moments")
    assert off["exact"] < off["fast"] < off["reference"]


def test_on_rotations_fast_is_closer_than_reference(generator):
    space = SO(3)
    x = points(space, 20, generator=generator, spread=0.3)
    off = {}
    for statistics in ("exact", "fast", "reference"):
        layer = LieBatchNorm(space, statistics=statistics, dtype=torch.float64)
        torch.nn.init.constant_(layer.scale, 0.5)
        off[statistics] = errors(layer, x)[0]
    assert off["exact"] <= tolerance("moments")
    assert off["fast"] < off["reference"]


@on(CURVED)
@pytest.mark.parametrize("statistics", ["fast", "reference"])
def test_detached_modes_treat_mean_and_variance_as_constants(space, statistics, generator):
    x = points(space, 6, generator=generator).requires_grad_()
    layer, y = run(space, x, statistics, momentum=1.0)
    along = torch.randn(y.shape, generator=generator, dtype=torch.float64)
    (found,) = torch.autograd.grad((y * along).sum(), x)
    # With momentum 1 the running averages are those of the batch: evaluation holds them fixed.
    (expected,) = torch.autograd.grad((layer.eval()(x) * along).sum(), x)
    close(found, expected, "formula")


@on(CURVED)
def test_the_exact_mode_does_not(space, generator):
    x = points(space, 6, generator=generator).requires_grad_()
    layer, y = run(space, x, "exact", momentum=1.0)
    along = torch.randn(y.shape, generator=generator, dtype=torch.float64)
    (through,) = torch.autograd.grad((y * along).sum(), x)
    (held,) = torch.autograd.grad((layer.eval()(x) * along).sum(), x)
    assert float((through - held).abs().max()) > 1e-3


@on(CURVED)
def test_a_rule_of_ones_own_reaches_the_same_mean(space, generator):
    x = points(space, 6, generator=generator)
    _, exact = run(space, x, "exact")
    karcher = Rule(start="first", step="karcher", tolerance=1e-10, most_steps=100)
    close(run(space, x, karcher)[1], exact, "search")


def test_a_rule_of_no_steps_stays_at_the_start(generator):
    x = points(SO(3), 6, generator=generator)
    layer, _ = run(SO(3), x, Rule(start="first", most_steps=0, detach=True), momentum=1.0)
    close(layer.running_mean, x[0])


def test_reference_is_one_karcher_step_from_the_arithmetic_mean(generator):
    x = spread_matrices(8, 4, 1e2, 1.0, generator)
    layer, _ = run(spd(4), x, "reference", momentum=1.0)
    root = torch.linalg.cholesky(x.mean(0))
    inverse = torch.linalg.inv(root)
    step = spectral.log(inverse @ x @ inverse.mT).mean(0)
    close(layer.running_mean, root @ spectral.exp(step) @ root.mT, "formula")


def test_reference_on_rotations_starts_at_the_first_sample(generator):
    x = points(SO(3), 8, generator=generator)
    layer, _ = run(SO(3), x, "reference", momentum=1.0)
    step = SO(3).log(x[0].mT @ x).mean(0)
    close(layer.running_mean, x[0] @ torch.linalg.matrix_exp(step), "formula")


@pytest.mark.parametrize(
    "metric, theta, statistics, most",
    [
        ("aim", 1.0, "fast", 2),
        ("aim", 1.0, "reference", 2),
        ("aim", 0.5, "fast", 4),
        ("lem", 1.0, "exact", 2),
        ("lcm", 1.0, "exact", 0),
        ("lcm", 0.5, "exact", 2),
    ],
)
def test_batched_decompositions_are_few(metric, theta, statistics, most, generator, monkeypatch):
    space, count = spd(4, metric, theta=theta), 0
    x = spread_matrices(8, 4, 10.0, 1.0, generator).requires_grad_()
    original = torch.linalg.eigh

    def counted(matrices, *args, **options):
        nonlocal count
        count += matrices.dim() > 2 and matrices.shape[0] == len(x)
        return original(matrices, *args, **options)

    monkeypatch.setattr(torch.linalg, "eigh", counted)
    layer = LieBatchNorm(space, statistics=statistics, dtype=torch.float64)
    layer(x).sum().backward()
    assert count <= most


def test_mean_only_needs_no_decomposition_for_the_scaling(generator, monkeypatch):
    x = spread_matrices(8, 4, 10.0, 1.0, generator)
    layer = LieBatchNorm(spd(4), mean_only=True, affine=False, dtype=torch.float64).eval()
    monkeypatch.delattr(torch.linalg, "eigh")
    close(layer(x), x)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"statistics": "precise"}, "statistics"),
        ({"bias": "point"}, "bias"),
        ({"correction": 2}, "correction"),
        ({"eps": -1.0}, "eps"),
    ],
)
def test_unknown_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        LieBatchNorm(spd(3), **options)
