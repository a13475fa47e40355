"""A page needs nothing from outside and lets nothing through, whatever names runs have."""

import re
from html import unescape
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt

from liebn.experiments.report.html import html
from liebn.experiments.report.markdown import markdown
from tests.experiments.report.reading import X, page_of, parse, tables_of_html
from tests.experiments.report.synthetic import NASTY, record, table


class References(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []
        self.tags = set()

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        values = dict(attributes)
        self.found += [
            values[k] for k in ("href", "src", "xlink:href", "srcset", "data") if k in values
        ]


@pytest.mark.parametrize("name", ["plain", NASTY])
def test_the_page_refers_to_nothing_outside_and_runs_nothing(name):
    text = html(page_of([record(name, 0), record(name, 1), record("base", 0)]))
    references = References()
    references.feed(text)
    assert references.found
    assert all(ref.startswith(("#", "data:")) for ref in references.found)
    assert not references.tags & {"script", "iframe", "object", "embed", "img", "audio", "video"}
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text)
    ids = re.findall(r'\bid="([^"]*)"', text)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r"url\(#([^)]*)\)", text)) <= set(ids)
    assert {r[1:] for r in references.found if r.startswith("#")} <= set(ids)


def test_headers_have_a_scope_and_pictures_a_text():
    tree = parse(html(page_of(table(1))))
    assert all(cell.get("scope") in ("row", "col") for cell in tree.iter(X + "th"))
    pictures_found = list(tree.iter("{http://www.w3.org/2000/svg}svg"))
    assert pictures_found
    assert all(
        picture.get("role") == "img" and picture.get("aria-label") for picture in pictures_found
    )
    assert tree.get("lang") == "en"


def test_a_hostile_name_is_shown_as_it_is():
    page = page_of([record(NASTY, 0), record("base", 0)])
    rows = tables_of_html(html(page))[0]
    assert [row[0] for row in rows[1:]] == ["base", NASTY]
    text = rendered(markdown(page))
    assert "<script" not in text
    assert "http://a.b" not in re.findall(r'href="([^"]*)"', text)
    cells = re.findall(r"<td[^>]*>(.*?)</td>", text)
    assert NASTY in [unescape(re.sub("<[^>]*>", "", cell)) for cell in cells]


def rendered(text):
    return MarkdownIt("commonmark").enable("table").render(text)
