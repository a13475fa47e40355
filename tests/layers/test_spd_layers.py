"""The layers of SPD networks: what they compute, and their gradients."""

import numpy as np
import pytest
import torch
from torch import nn

from liebn.linalg import spectral
from liebn.nn.spd import BiMap, CovariancePool, DelayEmbedding, LogEig, ReEig

DOUBLE = torch.float64
# Eigenvalues above and below the threshold 0.1, none on it, with repetitions on either side.
SPECTRA = {
    "distinct": [3.0, 2.0, 0.5, 0.05, 0.01],
    "equal above": [2.0, 2.0, 2.0, 0.05, 0.01],
    "equal below": [3.0, 2.0, 0.02, 0.02, 0.02],
    "equal on both sides": [2.0, 2.0, 0.5, 0.02, 0.02],
    "all equal": [0.7] * 5,
}


def with_spectrum(spectrum, generator):
    n = len(spectrum)
    basis = torch.linalg.qr(torch.randn(n, n, dtype=DOUBLE, generator=generator))[0]
    return spectral.rebuild(basis, torch.tensor(spectrum, dtype=DOUBLE))


def gradients_are_exact(layer, x):
    x = x.clone().requires_grad_()
    return torch.autograd.gradcheck(lambda a: layer(spectral.symmetrise(a)), x)


@pytest.mark.parametrize("form", ["manifold", "parametrized"])
@pytest.mark.parametrize("sizes", [(6, 4), (5, 5), (4, 1)])
def test_bimap_conjugates_by_orthonormal_columns(sizes, form, generator):
    layer = BiMap(*sizes, weight=form, dtype=DOUBLE)
    x = torch.randn(3, sizes[0], sizes[0], dtype=DOUBLE, generator=generator)
    x = x @ x.mT
    w = layer.weight
    torch.testing.assert_close(w.mT @ w, torch.eye(sizes[1], dtype=DOUBLE))
    torch.testing.assert_close(layer(x), w.mT @ x @ w)
    assert torch.equal(layer(x), layer(x).mT)


def test_bimap_starts_at_singular_vectors_of_a_positive_matrix():
    torch.manual_seed(3)
    v = torch.rand(6, 6, dtype=DOUBLE)
    torch.manual_seed(3)
    w = BiMap(6, 4, dtype=DOUBLE).weight.detach()
    expected = torch.linalg.svd(v @ v.mT)[0][:, :4]
    torch.testing.assert_close((expected * w).sum(0).abs(), torch.ones(4, dtype=DOUBLE))


def test_both_forms_of_bimap_are_the_same_layer_at_the_start(generator):
    layers = []
    for form in ("manifold", "parametrized"):
        torch.manual_seed(1)
        layers.append(BiMap(6, 3, weight=form, dtype=DOUBLE))
    x = torch.randn(6, 6, dtype=DOUBLE, generator=generator)
    torch.testing.assert_close(layers[0](x @ x.mT), layers[1](x @ x.mT))


@pytest.mark.parametrize("sizes", [(3, 4), (3, 0)])
def test_bimap_refuses_to_enlarge(sizes):
    with pytest.raises(ValueError, match="d_out"):
        BiMap(*sizes)


def test_bimap_refuses_matrices_of_another_size():
    with pytest.raises(ValueError, match=r"expected \(\.\.\., 4, 4\).* got \(2, 5, 5\)"):
        BiMap(4, 2)(torch.zeros(2, 5, 5))


def test_bimap_refuses_an_unknown_form():
    with pytest.raises(ValueError, match="'manifold' or 'parametrized'"):
        BiMap(3, 2, weight="free")


@pytest.mark.parametrize("form", ["manifold", "parametrized"])
def test_bimap_gradients(form, generator):
    layer = BiMap(4, 2, weight=form, dtype=DOUBLE)
    name = "weight" if form == "manifold" else "parametrizations.weight.original"
    x = torch.randn(2, 4, 4, dtype=DOUBLE, generator=generator)

    def function(a, w):
        return torch.func.functional_call(layer, {name: w}, (spectral.symmetrise(a),))

    weight = dict(layer.named_parameters())[name].detach().as_subclass(torch.Tensor).clone()
    weight += 0.1 * torch.randn(4, 2, dtype=DOUBLE, generator=generator)
    assert torch.autograd.gradcheck(function, (x.requires_grad_(), weight.requires_grad_()))


@pytest.mark.parametrize("name", SPECTRA)
def test_reeig_raises_small_eigenvalues_and_keeps_the_rest(name, generator):
    x = with_spectrum(SPECTRA[name], generator)
    y = ReEig(0.1)(x)
    raised = torch.tensor(SPECTRA[name], dtype=DOUBLE).clamp_min(0.1).sort().values
    torch.testing.assert_close(torch.linalg.eigvalsh(y), raised)
    torch.testing.assert_close(x @ y, y @ x)


@pytest.mark.parametrize("name", SPECTRA)
def test_reeig_gradients(name, generator):
    assert gradients_are_exact(ReEig(0.1), with_spectrum(SPECTRA[name], generator))


@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize("name", SPECTRA)
def test_logeig_gradients(name, flat, generator):
    assert gradients_are_exact(LogEig(flat), with_spectrum(SPECTRA[name], generator))


@pytest.mark.parametrize("flat", [True, False])
def test_logeig_keeps_the_norm(flat, generator):
    x = torch.stack([with_spectrum(s, generator) for s in SPECTRA.values()])
    layer = LogEig(flat)
    y = layer(x)
    assert y.shape == (len(SPECTRA), layer.features(5))
    torch.testing.assert_close(y.norm(dim=-1), torch.linalg.matrix_norm(spectral.log(x)))


def test_logeig_lays_out_the_upper_triangle():
    x = spectral.exp(torch.tensor([[1.0, 0.5], [0.5, -2.0]], dtype=DOUBLE))
    expected = torch.tensor([1.0, 0.5 * 2**0.5, -2.0], dtype=DOUBLE)
    torch.testing.assert_close(LogEig()(x), expected)
    expected = torch.tensor([1.0, 0.5, 0.5, -2.0], dtype=DOUBLE)
    torch.testing.assert_close(LogEig(flat=True)(x), expected)


@pytest.mark.parametrize("correction", [0, 1])
def test_covariance_pool_agrees_with_numpy(correction, generator):
    x = 3.0 + torch.randn(2, 3, 5, 40, dtype=DOUBLE, generator=generator)
    y = CovariancePool(correction=correction)(x)
    expected = [[np.cov(signal, ddof=correction) for signal in row] for row in x.numpy()]
    torch.testing.assert_close(y, torch.from_numpy(np.array(expected)))


@pytest.mark.parametrize("hop, count", [(None, 4), (5, 7), (10, 4), (12, 3)])
def test_covariance_pool_cuts_windows(hop, count, generator):
    x = torch.randn(2, 3, 40, dtype=DOUBLE, generator=generator)
    y = CovariancePool(10, hop)(x)
    assert y.shape == (2, count, 3, 3)
    start = (hop or 10) * (count - 1)
    torch.testing.assert_close(y[:, -1], CovariancePool()(x[..., start : start + 10]))


def test_shrinkage_keeps_the_trace_and_makes_singular_covariances_definite(generator):
    x = torch.randn(4, 6, 3, dtype=DOUBLE, generator=generator)
    plain, shrunk = CovariancePool()(x), CovariancePool(shrinkage=0.2)(x)
    trace = plain.diagonal(dim1=-2, dim2=-1).sum(-1)
    torch.testing.assert_close(shrunk.diagonal(dim1=-2, dim2=-1).sum(-1), trace)
    # A covariance of three times has rank two, so the smallest eigenvalue is 0.2 tr / 6.
    torch.testing.assert_close(torch.linalg.eigvalsh(shrunk)[:, 0], 0.2 * trace / 6)
    full = CovariancePool(shrinkage=1.0)(x)
    torch.testing.assert_close(full, (trace / 6)[:, None, None] * torch.eye(6, dtype=DOUBLE))


@pytest.fixture
def complex_signal(generator):
    real = torch.randn(3, 4, 30, dtype=DOUBLE, generator=generator)
    imaginary = torch.randn(3, 4, 30, dtype=DOUBLE, generator=generator)
    # Correlated parts, so that the imaginary part of the covariance is far from zero.
    return torch.complex(real, imaginary + real.roll(1, -2))


def test_real_part_of_a_complex_covariance(complex_signal):
    hermitian = np.stack([np.cov(z, ddof=0) for z in complex_signal.numpy()])
    assert np.abs(hermitian.imag).max() > 0.1
    y = CovariancePool()(complex_signal)
    torch.testing.assert_close(y, torch.from_numpy(hermitian.real.copy()))
    assert bool((torch.linalg.eigvalsh(y) > 0).all())


def test_real_representation_of_a_complex_covariance(complex_signal):
    hermitian = torch.from_numpy(np.stack([np.cov(z, ddof=0) for z in complex_signal.numpy()]))
    y = CovariancePool(complex_as="representation")(complex_signal)
    top = torch.cat([hermitian.real, -hermitian.imag], -1)
    bottom = torch.cat([hermitian.imag, hermitian.real], -1)
    torch.testing.assert_close(y, torch.cat([top, bottom], -2))
    twice = torch.linalg.eigvalsh(hermitian).repeat_interleave(2, -1)
    torch.testing.assert_close(torch.linalg.eigvalsh(y), twice)


@pytest.mark.parametrize("complex_as", ["real part", "representation"])
def test_covariance_pool_gradients_of_complex_signals(complex_as, complex_signal):
    layer = CovariancePool(shrinkage=0.1, complex_as=complex_as)
    assert torch.autograd.gradcheck(layer, complex_signal[0, :2, :5].clone().requires_grad_())


def test_delay_embedding_gives_the_covariance_of_a_signal_with_its_past(generator):
    signal = torch.randn(2, 200, dtype=torch.complex128, generator=generator)
    y = nn.Sequential(DelayEmbedding(20, 10), CovariancePool(correction=1))(signal)
    windows = np.stack([signal[0, i : i + 20].numpy() for i in range(0, 181, 10)], axis=1)
    torch.testing.assert_close(y[0], torch.from_numpy(np.cov(windows).real.copy()))


@pytest.mark.parametrize(
    "options, message",
    [
        ({"shrinkage": 1.5}, "between 0 and 1"),
        ({"complex_as": "sum"}, "'real part' or 'representation'"),
        ({"hop": 3}, "give window too"),
    ],
)
def test_covariance_pool_refuses_wrong_options(options, message):
    with pytest.raises(ValueError, match=message):
        CovariancePool(**options)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_computed_in_float32_and_cast_back(dtype, generator):
    signal = torch.randn(2, 5, 40, generator=generator).to(dtype)
    x = CovariancePool()(signal)
    for layer in (BiMap(5, 3), ReEig(0.5), LogEig()):
        y = layer(x)
        assert y.dtype == dtype
        assert torch.equal(y, layer(x.float()).to(dtype))


def test_automatic_casting_leaves_the_layers_in_float32(generator):
    x = CovariancePool()(torch.randn(2, 5, 40, generator=generator))
    network = nn.Sequential(BiMap(5, 3), ReEig(0.5), LogEig())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = network(x)
    assert y.dtype == torch.float32
    # Products in bfloat16 would be wrong by one part in a hundred.
    torch.testing.assert_close(y.double(), network.double()(x.double()), rtol=1e-4, atol=1e-5)


def test_signals_too_short():
    with pytest.raises(ValueError, match="shorter window"):
        CovariancePool(10)(torch.zeros(2, 9))
    with pytest.raises(ValueError, match="more than 1 times"):
        CovariancePool(correction=1)(torch.zeros(2, 1))


def test_layers_say_how_they_were_built():
    layers = nn.Sequential(
        DelayEmbedding(20, 10), CovariancePool(), BiMap(20, 8), ReEig(), LogEig()
    )
    text = repr(layers)
    for part in ("length=20, hop=10", "shrinkage=0", "20, 8", "threshold=0.0001", "flat=False"):
        assert part in text
