"""docs/moments.md says what is measured."""

import pytest

from tests.layers.moments_table import FILE, METRICS, control_rows
from tests.layers.spaces import THETAS


@pytest.fixture(scope="module")
def printed():
    lines = FILE.read_text(encoding="utf-8").splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]
    return [row for row in rows if row[0] not in {"layer", "metric", "---"}]


@pytest.fixture(scope="module")
def measured():
    return control_rows()


def test_verdicts_and_claims_are_as_measured(printed, measured):
    rows = [row for row in printed if row[0] not in METRICS]
    assert [r[:4] + r[8:] for r in rows] == [r[:4] + r[8:] for r in measured]


def test_figures_are_of_the_size_measured(printed, measured):
    """Large errors to a digit; small ones are rounding, which differs between machines."""
    rows = [row for row in printed if row[0] not in METRICS]
    for row, fresh in zip(rows, measured, strict=True):
        for p, m in zip(row[4:8], fresh[4:8], strict=True):
            assert float(p) == pytest.approx(float(m), rel=0.5, abs=1e-9)


def test_every_deformation_has_its_row(printed):
    rows = {(row[0], float(row[1])) for row in printed if row[0] in METRICS}
    assert rows == {(metric, theta) for metric in METRICS for theta in THETAS}


def test_what_the_text_says_of_the_table(measured):
    for name, _, mean, variance, *_ in measured:
        wraps = "past" in name
        assert mean == ("no" if wraps else "yes"), name
        assert variance == ("no" if wraps or name == "SPDNetBN" else "yes"), name
