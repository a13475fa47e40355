"""The two forms of a report have the same figures, and they are those of the records."""

import re
import statistics

import numpy as np
import pytest

from liebn.experiments.report.compose import Experiment, overview
from liebn.experiments.report.html import html
from liebn.experiments.report.markdown import markdown, pictures
from tests.experiments.report.reading import (
    X,
    page_of,
    parse,
    tables_of_html,
    tables_of_markdown,
)
from tests.experiments.report.synthetic import METHODS, PROTOCOL, protocol, record, table


def of(records, changes):
    return [record | changes for record in records]


@pytest.fixture(scope="module")
def real():
    """A page of measured data, with a run that diverged."""
    records = of([record(m, s) for s in range(6) for m in METHODS], {"simulated": False})
    failed = record("aim 1", 6, status="diverged") | {"simulated": False}
    return page_of([*records, failed]), records


def test_both_forms_have_the_same_tables(real):
    page, _ = real
    one, two = tables_of_html(html(page)), tables_of_markdown(markdown(page))
    assert len(one) > 4
    assert one == two


def test_the_figures_of_the_table_are_those_of_the_records(real):
    page, records = real
    head, *lines = tables_of_html(html(page))[0]
    assert [line[0] for line in lines] == list(METHODS)
    seconds = {
        m: [r["fit_seconds"] for r in records if r["configuration"]["method"] == m] for m in METHODS
    }
    for line in lines:
        cells = dict(zip(head, line, strict=True))
        own = [100 * r["score"] for r in records if r["configuration"]["method"] == line[0]]
        mean, std = np.mean(own), np.std(own, ddof=1)
        assert cells["accuracy, %"] == f"{mean:.2f} ± {std:.2f}"
        assert cells["max, %"] == f"{max(own):.2f}"
        assert cells["runs"] == "6"
        assert cells["not finished"] == ("1" if line[0] == "aim 1" else "0")
        time = seconds[line[0]]
        said = f"{statistics.fmean(time):.3f} ± {statistics.stdev(time):.3f}"
        assert cells["fit time, s per epoch"] == said
        ratio = statistics.fmean(time) / statistics.fmean(seconds["base"])
        assert cells["fit time relative to base"] == f"{ratio:.2f}"
        published = PROTOCOL["published"].get(line[0], {})
        if published:
            assert (
                cells["published accuracy, %"]
                == f"{published['mean']:.2f} ± {published['std']:.2f}"
            )
            assert cells["published fit time relative to base"] == f"{published['seconds'] / 2:.2f}"
        else:
            assert cells["published accuracy, %"] == "-"


def test_published_figures_are_marked(real):
    text = html(real[0])
    assert "no measurements of ours: A paper, Table 1" in text
    first = next(parse(text).iter(X + "table"))
    for row in first.find(X + "tbody"):
        marks = ["published" in cell.get("class", "") for cell in row]
        assert marks == [False] * 7 + [True] * 3
    head = tables_of_markdown(markdown(real[0]))[0][0]
    assert [name.startswith("published") for name in head] == [False] * 7 + [True] * 3


def test_a_run_that_did_not_finish_is_explained(real):
    (found,) = [t for t in tables_of_html(html(real[0])) if "reason" in t[0]]
    assert found[1:] == [["aim 1", "only", "6", "diverged", "the loss is nan in epoch 2"]]


def test_pairs_are_compared_with_p_values(real):
    found = [t for t in tables_of_html(html(real[0])) if t[0][0] == "comparison"]
    assert [line[0] for line in found[0][1:]] == ["none − base", "aim 1 − base", "aim 0.5 − base"]
    assert all(line[1] == "6" for table in found for line in table[1:])
    assert "corrected by Holm" in html(real[0])


@pytest.mark.parametrize("form", [html, markdown])
def test_simulated_stands_in_every_caption_of_simulated_data(form):
    splits = [record(m, 0, f"subject {k}") for m in METHODS for k in range(5)]
    page = page_of([*splits, record("base", 1, "subject 1", status="failed")])
    captions = list(captions_of(page.blocks))
    assert len(captions) > 6
    assert all("imulated" in caption for caption in captions)
    assert all(escape_free(caption) in escape_free(form(page)) for caption in captions)
    assert "Simulated data" in form(page)


def captions_of(blocks):
    """Of the tables of results and of all figures of runs."""
    for block in blocks:
        if hasattr(block, "blocks"):
            if block.title not in ("Settings", "What θ does"):
                yield from captions_of(block.blocks)
        elif hasattr(block, "caption"):
            yield block.caption


def escape_free(text):
    return re.sub(r"\\|&[a-z#0-9x]+;|['\"<>&]", "", text)


def test_the_same_records_give_the_same_bytes():
    one, two = (page_of(table(2)) for _ in range(2))
    assert html(one) == html(two)
    assert markdown(one) == markdown(two)
    assert [p.svg for p in pictures(one.blocks)] == [p.svg for p in pictures(two.blocks)]


def test_other_settings_have_tables_of_their_own():
    page = page_of([*table(2), *table(1, max_epochs=5)])
    text = markdown(page)
    assert "## Runs with max\\_epochs 3" in text
    assert "## Runs with max\\_epochs 5" in text
    names = [panel.name for panel in pictures(page.blocks)]
    assert len(set(names)) == len(names)
    results = [t for t in tables_of_markdown(text) if "runs" in t[0]]
    assert [row[3] for t in results for row in t[1:]] == ["2"] * 4 + ["1"] * 4


def test_a_method_without_a_finished_run_has_a_row_and_no_figure():
    page = page_of([record("base", 0), record("none", 0, status="failed")])
    first = tables_of_markdown(markdown(page))[0]
    assert first[1][:5] == ["none", "-", "-", "0", "1"]
    assert [p.alt for p in pictures(page.blocks) if "confusion" in p.name] == [
        "Confusion matrix of base."
    ]


def test_nothing_finished_gives_a_page_too():
    page = page_of([record("none", 0, status="diverged")])
    assert "the loss is nan" in markdown(page)
    parse(html(page))


def test_the_overview_links_to_every_page():
    other = Experiment("second one", None, "second one", [record("base", 0)])
    page = overview([Experiment("table", protocol(), "table", table(2)), other])
    assert "[table](table.md)" in markdown(page)
    assert 'href="second%20one.html"' in html(page)
    assert tables_of_html(html(page)) == tables_of_markdown(markdown(page).replace("(table.md)", "")
        .replace("(second%20one.md)", "").replace("[", "").replace("]", ""))  # fmt: skip
