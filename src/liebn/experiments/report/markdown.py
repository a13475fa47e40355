"""A report as Markdown, with its pictures as files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import assert_never
from urllib.parse import quote

from liebn.experiments.report.blocks import (
    Block,
    Cell,
    Code,
    Figure,
    Items,
    Link,
    Page,
    Panel,
    Section,
    Table,
    Text,
)

FIGURES = "figures"
"""The folder of the pictures, beside the page."""

SPECIAL = re.compile(r"([\\`*_\[\]<>|$~{}&#])")


def markdown(page: Page) -> str:
    """The page in Markdown."""
    blocks = [part for block in page.blocks for part in _block(block, 2)]
    return "\n\n".join([f"# {escape(page.title)}", *blocks]) + "\n"


def escape(text: str) -> str:
    """The text on one line, with nothing in it that Markdown would read as a mark."""
    return SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _block(block: Block, level: int) -> Iterator[str]:
    match block:
        case Text(text):
            yield _guard(escape(text))
        case Items(items):
            yield "\n".join(f"- {escape(item)}" for item in items)
        case Code(text):
            fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
            yield f"{fence}bash\n{text}\n{fence}"
        case Table():
            yield _guard(escape(block.caption))
            yield _table(block)
        case Figure(caption, panels):
            pictures = (f"![{escape(p.alt)}]({FIGURES}/{p.name}.svg)" for p in panels)
            yield "\n".join(pictures)
            yield _guard(escape(caption))
        case Section(title, blocks):
            yield f"{'#' * level} {escape(title)}"
            for inner in blocks:
                yield from _block(inner, level + 1)
        case _:
            assert_never(block)


def _guard(line: str) -> str:
    """A paragraph that begins as a list or a number does is still a paragraph."""
    return re.sub(r"^([-+=]|\d+[.)])", r"\\\1", line)


def _table(table: Table) -> str:
    head = [f"*{escape(c.name)}*" if c.published else escape(c.name) for c in table.columns]
    rule = ["--:" if column.number else "---" for column in table.columns]
    rows = [[_cell(cell) for cell in row] for row in table.rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [head, rule, *rows])


def _cell(cell: Cell) -> str:
    if isinstance(cell, Link):
        return f"[{escape(cell.text)}]({quote(cell.page)}.md)"
    return escape(cell).replace(" ± ", "\u00a0±\u00a0")


def pictures(blocks: Iterable[Block]) -> Iterator[Panel]:
    """All pictures."""
    for block in blocks:
        if isinstance(block, Figure):
            yield from block.panels
        elif isinstance(block, Section):
            yield from pictures(block.blocks)
