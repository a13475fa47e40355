"""A report as one HTML page: no script, no network, no other file."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from importlib import resources
from itertools import count, groupby
from typing import assert_never
from urllib.parse import quote

from liebn.experiments.report.blocks import (
    Block,
    Cell,
    Code,
    Column,
    Figure,
    Items,
    Link,
    Page,
    Section,
    Table,
    Text,
)
from liebn.experiments.report.svg import inline

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""What the page may load: nothing but what it holds."""


def html(page: Page) -> str:
    """The page in HTML, which is also well-formed XML."""
    style = resources.files("liebn.experiments.report").joinpath("page.css").read_text("utf-8")
    captions = (f"table-{number}" for number in count(1))
    body = "\n".join(part for block in page.blocks for part in _block(block, 2, captions))
    title = escape(page.title)
    return f"""<!DOCTYPE html>
<html lang="en" xmlns="http://www.w3.org/1999/xhtml">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta name="color-scheme" content="light dark" />
<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}" />
<link rel="icon" href="data:," />
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<main>
<h1>{title}</h1>
{body}
</main>
</body>
</html>
"""


def _block(block: Block, level: int, captions: Iterator[str]) -> Iterator[str]:
    match block:
        case Text(text):
            yield f"<p>{escape(text)}</p>"
        case Items(items):
            yield "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>"
        case Code(text):
            yield f'<pre tabindex="0"><code>{escape(text)}</code></pre>'
        case Table():
            yield from _table(block, next(captions))
        case Figure(caption, panels, least):
            yield f'<figure><div class="panels" style="--least: {least}rem">'
            yield from (inline(panel.svg, panel.name, panel.alt) for panel in panels)
            yield f"</div><figcaption>{escape(caption)}</figcaption></figure>"
        case Section(title, blocks):
            yield f"<section><h{level}>{escape(title)}</h{level}>"
            for inner in blocks:
                yield from _block(inner, min(level + 1, 6), captions)
            yield "</section>"
        case _:
            assert_never(block)


def _table(table: Table, caption: str) -> Iterator[str]:
    # The caption stands outside of the box that scrolls, so that a phone shows all of it.
    yield f'<figure><figcaption id="{caption}">{escape(table.caption)}</figcaption>'
    yield f'<div class="scroll" role="region" tabindex="0" aria-labelledby="{caption}">'
    yield f'<table aria-labelledby="{caption}">'
    # A column group for each run of measured or published columns.
    for published, columns in groupby(table.columns, key=lambda column: column.published):
        kind = ' class="published"' if published else ""
        yield f'<colgroup span="{len(list(columns))}"{kind}></colgroup>'
    yield "<thead><tr>"
    yield from (f'<th scope="col"{_kind(c)}>{escape(c.name)}</th>' for c in table.columns)
    yield "</tr></thead><tbody>"
    for row in table.rows:
        first, *others = row
        yield f'<tr><th scope="row">{_cell(first)}</th>'
        pairs = zip(table.columns[1:], others, strict=True)
        yield from (f"<td{_kind(column)}>{_cell(cell)}</td>" for column, cell in pairs)
        yield "</tr>"
    yield "</tbody></table></div></figure>"


def _kind(column: Column) -> str:
    kinds = [name for name in ("number", "published") if getattr(column, name)]
    return f' class="{" ".join(kinds)}"' if kinds else ""


def _cell(cell: Cell) -> str:
    if isinstance(cell, Link):
        return f'<a href="{quote(cell.page)}.html">{escape(cell.text)}</a>'
    return escape(cell)
