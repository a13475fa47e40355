"""Figures show the numbers of the records."""

import io
import re
from html import unescape

import numpy as np
import pytest
from matplotlib.image import imread

from liebn.experiments.report import figures
from liebn.experiments.report.pairs import comparisons
from liebn.experiments.report.svg import inline, standalone, svg
from liebn.experiments.table import rows
from tests.experiments.report.synthetic import METHODS, NASTY, protocol, record, table

REAL = [own | {"simulated": False} for own in table(6)]


def runs_of(method, records=REAL):
    return [r for r in records if r["configuration"]["method"] == method]


def test_the_curve_of_the_loss_is_its_mean():
    axes = figures.curves(protocol(), REAL, "train_loss").axes[0]
    assert len(axes.lines) == len(METHODS)
    for line, method in zip(axes.lines, METHODS, strict=True):
        losses = [r["history"]["train_loss"] for r in runs_of(method)]
        np.testing.assert_allclose(line.get_ydata(), np.mean(losses, 0))
        np.testing.assert_allclose(line.get_xdata(), [1, 2, 3])
    assert axes.get_yscale() == "log"


def test_a_loss_that_reaches_zero_is_drawn_on_a_plain_scale():
    own = record("base", 0)
    own["history"]["train_loss"][1] = 0.0
    assert figures.curves(protocol(), [own], "train_loss").axes[0].get_yscale() == "linear"


def test_the_curve_of_the_score_is_drawn_where_the_test_was_looked_at():
    records = [record("base", seed, max_epochs=20) for seed in range(3)]
    for own in records:
        own["history"]["test_score"][9] = 0.5
    (line,) = figures.curves(protocol(), records, "test_score").axes[0].lines
    np.testing.assert_allclose(line.get_xdata(), [10, 20])
    last = 100 * np.mean([r["score"] for r in records])
    np.testing.assert_allclose(line.get_ydata(), [50, last])


def test_runs_that_did_not_finish_are_in_no_curve():
    records = [record("base", 0), record("none", 0, status="diverged")]
    figure = figures.curves(protocol(), records, "train_loss")
    assert len(figure.axes[0].lines) == 1
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["base"]


def test_bars_are_relative_to_the_baseline_and_published_ratios_are_diamonds():
    axes = figures.times(protocol(), REAL).axes[0]
    table = rows(protocol(), REAL)
    np.testing.assert_allclose(
        [bar.get_width() for bar in axes.patches], [r.relative for r in table]
    )
    assert [text.get_text() for text in axes.get_yticklabels()] == list(METHODS)
    (published,) = axes.lines
    np.testing.assert_allclose(published.get_xydata(), [[1.0, 1], [1.5, 2]])
    assert published.get_label() == "published"


def test_bars_without_a_baseline_are_seconds():
    axes = figures.times(protocol(baseline="", published={}), REAL).axes[0]
    seconds = [row.seconds for row in rows(protocol(), REAL)]
    np.testing.assert_allclose([bar.get_width() for bar in axes.patches], seconds)
    assert not axes.lines


def test_a_line_joins_the_methods_that_differ_in_theta():
    ((parameter, figure),) = figures.parameters(protocol(), REAL)
    assert parameter == "theta"
    line = figure.axes[0].containers[0].lines[0]
    means = [100 * np.mean([r["score"] for r in runs_of(m)]) for m in ("aim 0.5", "aim 1")]
    np.testing.assert_allclose(line.get_xydata(), np.transpose([[0.5, 1.0], means]))
    assert figure.axes[0].get_legend().get_texts()[0].get_text() == "AIM"


def test_lines_are_named_by_what_tells_them_apart():
    lcm = [record(f"lcm {t}", 0, norm=METHODS["aim 1"] | {"metric": "lcm", "theta": t})
           for t in (-1.0, 0.0, 2.0)]  # fmt: skip
    (figure,) = (figure for _, figure in figures.parameters(protocol(), [*table(1), *lcm]))
    names = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert names == ["AIM", "LCM"]


def test_the_confusion_is_summed_and_shown_as_shares():
    found = dict(figures.confusions(protocol(), REAL))
    assert list(found) == list(METHODS)
    axes = found["base"].axes[0]
    table = np.sum([r["confusion"] for r in runs_of("base")], 0)
    np.testing.assert_allclose(axes.images[0].get_array(), table / table.sum(1, keepdims=True))
    assert [text.get_text() for text in axes.texts][:3] == ["89", "11", "0"]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["one", "two", "three"]


def test_differences_are_drawn_pair_by_pair():
    (found, _) = comparisons(REAL, "base").values()
    axes = figures.differences(found).axes[0]
    for own, dots in zip(found, axes.collections, strict=True):
        np.testing.assert_allclose(dots.get_offsets()[:, 0], list(own.differences.values()))


@pytest.mark.parametrize("name", [NASTY, "_hidden", "$x^2$", '#000000 id="a" url(#b)'])
def test_any_name_is_shown_as_it_is(name):
    figure = figures.curves(protocol(), [record(name, 0)], "test_score")
    document = svg(figure)
    page = inline(document, "pre-fix", name)
    for text in (document, standalone(document), page):
        shown = [re.sub("<[^>]*>", "", part) for part in re.findall("<text.*?</text>", text, re.S)]
        plain = [unescape(part).replace("\u200b", "") for part in shown]
        assert name in plain


def test_a_picture_on_a_page_has_the_colour_of_its_text():
    document = svg(figures.times(protocol(), REAL))
    page = inline(document, "a", "alt")
    assert "#000000" not in page
    assert "currentColor" in page
    assert "<style" not in page
    assert page.count('id="') == page.count('id="a-')
    assert 'fill="white"' in standalone(document)


def test_the_heat_map_lets_the_ground_through():
    (_, figure), *_ = figures.confusions(protocol(), REAL)
    file = io.BytesIO()
    figure.savefig(file, format="png", transparent=True)
    file.seek(0)
    assert imread(file)[..., 3].min() == 0
