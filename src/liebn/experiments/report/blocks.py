"""What a report is made of, apart from how it is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Link:
    """To another page of the report.

    Attributes:
        text: what is read.
        page: its name, without a suffix.
    """

    text: str
    page: str


Cell = str | Link


@dataclass(frozen=True)
class Column:
    """Of a table.

    Attributes:
        name: its heading.
        published: whether its figures are published ones, and not measured here.
        number: whether it holds figures.
    """

    name: str
    published: bool = False
    number: bool = True


@dataclass(frozen=True)
class Table:
    """A table whose first column names the rows.

    Attributes:
        caption: what it shows.
        columns: their headings.
        rows: as many cells as columns.
    """

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Items:
    """A list."""

    items: Sequence[str]


@dataclass(frozen=True)
class Code:
    """Lines for a shell."""

    text: str


@dataclass(frozen=True)
class Panel:
    """One picture.

    Attributes:
        name: of its file, without a suffix.
        svg: a whole SVG document.
        alt: what is to be seen, for who does not see it.
    """

    name: str
    svg: str
    alt: str


@dataclass(frozen=True)
class Figure:
    """Pictures under one caption.

    Attributes:
        caption: what they show.
        panels: the pictures.
        least: the width in rem that a picture needs; as many as can stand beside each other.
    """

    caption: str
    panels: Sequence[Panel]
    least: int = 27


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it."""

    title: str
    blocks: Sequence[Block]


Block = Table | Text | Items | Code | Figure | Section


@dataclass(frozen=True)
class Page:
    """A report.

    Attributes:
        name: of its files, without a suffix.
        title: its heading.
        blocks: what stands on it.
    """

    name: str
    title: str
    blocks: Sequence[Block]
