"""Every claim is measured on every space it is about, and a broken space is found out."""

import math
from collections import Counter
from itertools import pairwise

import pytest
import torch
from torch import nn

from liebn.diffeos import Log
from liebn.distributions import is_flat
from liebn.groups import SO, Euclidean, Product, Pullback, Symmetric, catalog, spd
from liebn.verify import CHECKS, Finding, Row, Subject, verify
from liebn.verify.deformation import bi_invariant
from liebn.verify.scaling import volume_factor

EVERYWHERE = (
    "Proposition 4.1 (1)",
    "Proposition 4.1 (2), homogeneity",
    "Proposition 4.2, eq. (16)",
    "Proposition 4.2, eq. (17)",
    "Proposition 5.2, Table 1: left-invariant",
    "Table 2, LieBatchNorm",
)
SOMEWHERE = (
    "Table 2, HomogeneousBN",
    "Proposition 4.1 (2), as distributions",
    "Proposition 5.1, (θ, α, β)-LEM",
    "Proposition 5.1, θ-LCM → g̃-LEM",
    "Section 5.1, (θ, α, β)-AIM → (α, β)-LEM",
    "Proposition 5.2, Table 1: bi-invariant",
    "Proposition 5.2, Table 1: left-invariant only",
    "Remark 4.3",
    "Theorem 5.3",
    "Section 5.2, scaling contains that of Kobler",
    "Eq. (10)",
    "Proposition D.1",
    "Lemma C.1",
    "Proposition C.3",
    "Appendix C, Δ varies",
    "Corollaries C.2 and C.4",
    "Remark C.5",
    "Eq. (38)",
)


@pytest.fixture(scope="module")
def rows():
    """All that the command measures."""
    return verify({name: make(3).double() for name, make in catalog.items()})


def test_every_row_is_as_expected(rows):
    assert [row.cells for row in rows if not row.as_expected] == []


def test_claims_about_all_spaces_are_measured_on_all(rows):
    for claim in EVERYWHERE:
        assert {r.space for r in rows if r.claim.startswith(claim)} >= set(catalog), claim


def test_every_other_claim_is_measured(rows):
    for claim in SOMEWHERE:
        assert any(r.claim.startswith(claim) for r in rows), claim


def test_what_does_not_hold_as_written(rows):
    """With one row at least that says what holds instead, or where it holds."""
    refuted = Counter(r.claim for r in rows if r.finding is Finding.REFUTED)
    assert set(refuted) == {
        "Table 2, LieBatchNorm, past the injectivity radius: mean ✓",
        "Table 2, LieBatchNorm, past the injectivity radius: variance ✓",
        "Table 2, HomogeneousBN: mean ✗",
        "Table 2, HomogeneousBN: variance ✗",
        "Table 2, TransportBN: mean ✗",
        "Table 2, TransportBN: variance ✗",
        "Proposition 4.2, eq. (17), dispersion from E",
        "Proposition D.1, LieBN on Rⁿ is Euclidean BN, testing",
        "Proposition D.1, LieBN on Rⁿ is Euclidean BN, as one space",
        "Proposition C.3, Δ = 1/s",
        "Eq. (38), N(M, σ²) → N(E, σ²) → N(E, s²) → N(B, s²), divided by v",
    }


def test_rows_of_a_claim_stand_together(rows):
    changes = 1 + sum(a.claim != b.claim for a, b in pairwise(rows))
    assert changes == len({row.claim for row in rows})


@pytest.mark.parametrize("seed", [1, 2])
def test_another_seed_gives_the_same_verdicts(rows, seed):
    names = ("spd-lem", "so")
    again = verify({name: catalog[name](3).double() for name in names}, seed)
    before = [r for r in rows if r.space.split(",")[0] in names]
    assert [(r.claim, r.space, r.verdict) for r in again] == [
        (r.claim, r.space, r.verdict) for r in before
    ]
    assert [r.value for r in again] != [r.value for r in before]


def test_on_the_line_nothing_needs_correction_but_torchs_running_variance():
    rows = verify({"line": Euclidean()})
    assert {row.verdict for row in rows} == {"holds"}


class Bent(Euclidean):
    """A translation that is no isometry."""

    def compose(self, x, y):
        return x + y + 0.1 * torch.tanh(y).square()


class Heavy(Euclidean):
    """A metric that is not the one of log: distances are off by a third of x₀."""

    def squared_norm(self, v):
        return super().squared_norm(v) * (1 + 0.3 * torch.tanh(v[..., 0]).abs())


class Broken(Euclidean):
    def log(self, x):
        raise ValueError("no logarithm")


class Learned(Log):
    """A map with a parameter."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor(1.3, dtype=torch.float64))

    def forward(self, x):
        return self.weight * super().forward(x)

    def inverse(self, y):
        return super().inverse(y / self.weight)

    def differential(self, x, v):
        return self.weight * super().differential(x, v)

    def inverse_differential(self, y, w):
        return super().inverse_differential(y / self.weight, w / self.weight)


def test_a_space_with_parameters_is_measured_as_it_is():
    rows = verify({"learned": Pullback(Learned(), Symmetric(2))})
    assert [row.cells for row in rows if not row.as_expected] == []
    assert any(row.claim.startswith("Eq. (38)") for row in rows)


@pytest.mark.parametrize("make", [Bent, Heavy, Broken])
def test_a_broken_space_is_found_out(make):
    rows = verify({"broken": make(3)})
    assert any(row.verdict == "FAILED" for row in rows)


def test_an_error_is_a_failed_row():
    rows = verify({"broken": Broken(3)}, checks=CHECKS[:1])
    assert [row.verdict for row in rows] == ["FAILED"]
    assert "no logarithm" in rows[0].measured


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("least", [True, False])
def test_numbers_that_are_not_finite_fail(value, least):
    assert Row("", "", "", value, 0.0, least=least).verdict == "FAILED"


@pytest.mark.parametrize("s", [0.5, -1.5])
@pytest.mark.parametrize("metric", ["aim", "crim", "gyro-aim"])
def test_volume_factor_on_affine_invariant_spaces(metric, s, generator):
    """s^-m Π sinhc(g/2s) / sinhc(g/2) over the gaps g of the logarithms of eigenvalues."""
    space = spd(3, metric)
    q = space.random(8, generator=generator, dtype=torch.float64)
    r = torch.linalg.eigvalsh(space.log(q))
    gaps = torch.stack([r[:, 1] - r[:, 0], r[:, 2] - r[:, 0], r[:, 2] - r[:, 1]], -1) / 2
    sinhc = lambda y: y.sinh() / y  # noqa: E731
    wanted = (sinhc(gaps / s) / sinhc(gaps)).prod(-1) / abs(s) ** 6
    torch.testing.assert_close(volume_factor(space, q, s), wanted, rtol=1e-6, atol=0)


def test_volume_factor_on_rotations(generator):
    """s^-3 (sin(θ/2s) / sin(θ/2))² s²."""
    space, s = SO(3), 1.5
    q = space.random(8, generator=generator, dtype=torch.float64)
    half = space.distance(space.identity(dtype=q.dtype), q) / 2**0.5 / 2
    wanted = ((half / s).sin() / half.sin()).square() / s
    torch.testing.assert_close(volume_factor(space, q, s), wanted, rtol=1e-6, atol=0)


def test_which_spaces_are_flat_and_which_bi_invariant():
    mixed = Product(SO(3), spd(2))
    assert is_flat(Product(spd(2, "lem"), Euclidean(2)))
    assert not is_flat(mixed)
    assert bi_invariant(mixed) is False
    assert bi_invariant(Product(SO(3), Euclidean(2))) is True
    assert bi_invariant(spd(2, "gyro-aim")) is None


def test_subjects_draw_the_same_points():
    subject = Subject("so", SO(3), seed=4)
    assert torch.equal(subject.batch(3), subject.batch(3))
    assert not torch.equal(subject.batch(3), Subject("so", SO(3), seed=5).batch(3))
