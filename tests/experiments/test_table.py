"""The table: its figures by hand, and what stands beside them."""

import pytest

from liebn.experiments.table import rows, text
from tests.experiments import small

SCORES = {"SPDNet": [0.5, 0.75, 0.7], "LieBN-LCM(1)": [0.8]}
SECONDS = {"SPDNet": [1.0, 2.0, 3.0], "LieBN-LCM(1)": [5.0]}


def records(simulated=False):
    made = [
        {
            "configuration": {"method": method},
            "status": "finished",
            "score": score,
            "fit_seconds": seconds,
            "simulated": simulated,
        }
        for method in SCORES
        for score, seconds in zip(SCORES[method], SECONDS[method], strict=True)
    ]
    lost = {"status": "failed", "score": None, "fit_seconds": None, "simulated": simulated}
    return [*made, lost | {"configuration": {"method": "LieBN-LCM(1)"}}]


def test_rows_by_hand():
    first, second = rows(small.protocol(), records())
    assert (first.method, first.runs, first.others) == ("SPDNet", 3, 0)
    assert first.mean == pytest.approx(65.0)
    assert first.std == pytest.approx(((15**2 + 10**2 + 5**2) / 2) ** 0.5)  # n - 1
    assert first.best == pytest.approx(75.0)
    assert (first.seconds, first.relative) == (2.0, 1.0)
    assert first.published["mean"] == 11.11
    assert (second.runs, second.others, second.std, second.relative) == (1, 1, None, 2.5)


def test_text():
    lines = text(small.protocol(note="A long note. " * 20), records()).splitlines()
    assert lines[0] == "A few radar signals"
    head, spdnet, lcm = (line.split("  ") for line in lines[2:5])
    assert [cell.strip() for cell in head if cell] == [
        "method", "accuracy %", "max", "runs", "s/epoch", "time/SPDNet", "published", "max",
        "s/epoch",
    ]  # fmt: skip
    assert [cell.strip() for cell in spdnet if cell.strip()] == [
        "SPDNet", "65.00 ± 13.23", "75.00", "3", "2.000", "1.00", "11.11 ± 0.50", "12.00", "0.30",
    ]  # fmt: skip
    assert "1 (+1 not finished)" in " ".join(lcm)
    assert lines[-1] == "Published: nobody."
    assert max(map(len, lines)) < 115


def test_no_published_figures_beside_simulated_data():
    shown = text(small.protocol(), records(simulated=True))
    assert "Simulated data: these numbers are no measurement of the real set." in shown
    assert "11.11" not in shown
    assert "ublished" not in shown
    assert not any(row.published for row in rows(small.protocol(), records(simulated=True)))


def test_nothing_finished():
    (lost,) = [r for r in records() if r["status"] == "failed"]
    (row,) = rows(small.protocol(), [lost])
    assert (row.runs, row.mean, row.best, row.seconds, row.relative) == (0, None, None, None, None)
    assert "0 (+1 not finished)" in text(small.protocol(), [lost])
