"""The methods of the paper's table: what each computes, from its formula."""

import pytest
import torch

from liebn import DomainLieBatchNorm, LieBatchNorm
from liebn.groups import SO, Euclidean, spd
from liebn.linalg import spectral
from liebn.nn.baselines import (
    SPDBN,
    SPDDSMBN,
    HomogeneousBN,
    MatrixGroupBN,
    SPDNetBN,
    TransportBN,
    transvections,
)
from tests.layers.moments import moments
from tests.layers.spaces import on, points, spread_matrices
from tests.layers.tolerances import close, tolerance

SYMMETRIC = {"euclidean": Euclidean(4), "gyro-aim": spd(4, "gyro-aim"), "so": SO(3), "so(4)": SO(4)}
EXACT = {"statistics": "exact", "dtype": torch.float64}


def with_parameters(layer, generator, scale=0.6):
    with torch.no_grad():
        if layer.scale is not None:
            layer.scale.fill_(scale)
        shape = layer.bias_tangent.shape
        layer.bias_tangent.copy_(0.4 * torch.randn(shape, generator=generator, dtype=torch.float64))
    return layer


def statistics_of(space, x):
    mean = space.mean(x)
    return mean, space.squared_distance(mean, x).mean()


def test_spdnetbn_is_whitening_and_colouring(generator):
    x = spread_matrices(8, 4, 1e2, 1.0, generator)
    layer = with_parameters(SPDNetBN(4, **EXACT), generator)
    mean, _ = statistics_of(spd(4), x)
    white = spectral.power(mean, -0.5) @ x @ spectral.power(mean, -0.5)
    root = spectral.sqrt(layer.bias_point)
    close(layer(x), root @ white @ root, "search")
    assert layer.scale is None


def test_spdbn_scales_by_a_power_in_between(generator):
    x = spread_matrices(8, 4, 1e2, 1.0, generator)
    layer = with_parameters(SPDBN(4, **EXACT), generator)
    mean, variance = statistics_of(spd(4), x)
    white = spectral.power(mean, -0.5) @ x @ spectral.power(mean, -0.5)
    root = spectral.sqrt(layer.bias_point)
    scaled = spectral.power(spectral.symmetrise(white), layer.scale / (variance + 1e-5).sqrt())
    close(layer(x), root @ scaled @ root, "search")


def test_spdbn_is_liebn_on_aim_up_to_one_rotation(generator):
    x = spread_matrices(8, 4, 1e2, 1.0, generator)
    whitened, translated = SPDBN(4, **EXACT)(x), LieBatchNorm(spd(4), **EXACT)(x)
    mean = spd(4).mean(x)
    q = torch.linalg.solve_triangular(torch.linalg.cholesky(mean), spectral.sqrt(mean), upper=False)
    close(q @ q.mT, torch.eye(4, dtype=torch.float64), "formula")
    close(translated, q @ whitened @ q.mT, "search")
    assert bool((translated - whitened).abs().max() > 1e-2)


@pytest.mark.parametrize("make", [SPDNetBN, SPDBN, SPDDSMBN])
def test_the_published_ones_take_one_detached_step(make):
    arguments = (3, 2) if make is SPDDSMBN else (3,)
    layer = make(*arguments)
    assert layer.statistics == "reference"
    assert layer.rule.detach
    assert layer.rule.most_steps == 1


def test_spddsmbn_is_the_domain_layer_on_gyro_aim(generator):
    x = spread_matrices(9, 4, 1e2, 1.0, generator)
    domain = torch.arange(9) % 3
    options = {"schedule": (5, 0.3), "statistics": "reference", "dtype": torch.float64}
    named, plain = SPDDSMBN(4, 3, **options), DomainLieBatchNorm(spd(4, "gyro-aim"), 3, **options)
    for epoch in (1, 3):
        for layer in (named, plain):
            layer.set_epoch(epoch)
        assert torch.equal(named(x, domain), plain(x, domain))


def test_matrix_group_bn_is_liebn_on_rotations(generator):
    x = points(SO(3), 8, generator=generator)
    layer = with_parameters(MatrixGroupBN(3, **EXACT), generator)
    mean, variance = statistics_of(SO(3), x)
    factor = layer.scale / (variance + 1e-5).sqrt()
    expected = layer.bias_point @ torch.linalg.matrix_exp(factor * SO(3).log(mean.mT @ x))
    close(layer(x), expected, "search")


@on(SYMMETRIC)
@pytest.mark.parametrize("make", [HomogeneousBN, TransportBN])
def test_transported_logarithms_sum_to_zero_and_dispersion_scales_exactly(space, make, generator):
    x = points(space, 10, generator=generator)
    layer = with_parameters(make(space, **EXACT), generator)
    _, variance = statistics_of(space, x)
    off, after = moments(layer.group, layer.bias_point.detach(), layer(x).detach())
    assert off <= tolerance("moments")
    wanted = layer.scale.detach() ** 2 * variance / (variance + layer.eps)
    assert abs(after / float(wanted) - 1) <= tolerance("moments")


@on(SYMMETRIC)
def test_transport_goes_along_the_geodesic_from_m_to_b(space, generator):
    """Exp_B[(s/v) PT Log_M x], with parallel transport by its own formula on each space."""
    x = points(space, 10, generator=generator)
    layer = with_parameters(TransportBN(space, **EXACT), generator)
    mean, variance = statistics_of(space, x)
    b = layer.bias_point.detach()
    factor = float(layer.scale.detach() / (variance + layer.eps).sqrt())
    if isinstance(space, Euclidean):
        expected = b + factor * (x - mean)
    elif space.injectivity_radius < torch.inf:  # rotations
        # Along M exp(t V), transport is left and right translation by exp(V/2).
        half = torch.linalg.matrix_exp(0.5 * space.log(mean.mT @ b))
        logs = half.mT @ space.log(mean.mT @ x) @ half
        expected = b @ torch.linalg.matrix_exp(factor * logs)
    else:
        # E V Eᵀ with E = (B M⁻¹)^½ = M^½ (M^-½ B M^-½)^½ M^-½.
        root, inverse = spectral.sqrt(mean), spectral.power(mean, -0.5)
        e = root @ spectral.sqrt(spectral.symmetrise(inverse @ b @ inverse)) @ inverse
        logs = root @ spectral.log(spectral.symmetrise(inverse @ x @ inverse)) @ root
        moved = factor * (e @ logs @ e.mT)
        at_b, back = spectral.sqrt(b), spectral.power(b, -0.5)
        expected = at_b @ spectral.exp(spectral.symmetrise(back @ moved @ back)) @ at_b
    close(layer(x), expected, "search")


@on(SYMMETRIC)
def test_without_a_bias_both_transports_end_at_the_identity(space, generator):
    x = points(space, 10, generator=generator)
    one, other = (make(space, affine=False, **EXACT) for make in (HomogeneousBN, TransportBN))
    # From M to E there is one geodesic: the two methods are the same there.
    close(one(x), other(x), "search")


@on(SYMMETRIC)
@pytest.mark.parametrize("make", [HomogeneousBN, TransportBN])
def test_in_evaluation_they_use_running_averages(space, make, generator):
    x = points(space, 10, generator=generator)
    layer = with_parameters(make(space, momentum=1.0, **EXACT), generator)
    y = layer(x)
    close(layer.eval()(x), y, "search")


def test_spaces_without_known_transport_are_refused():
    for space in (spd(3, "aim"), spd(3, "lem"), spd(3, "lcm")):
        with pytest.raises(ValueError, match="parallel transport is known"):
            HomogeneousBN(space)
    gyro = transvections(SO(3))
    assert transvections(gyro) is gyro
