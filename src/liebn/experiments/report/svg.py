"""Pictures as SVG: the same bytes for the same figures, and the reader's colours on a page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STYLE: Any = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "liebn",  # names in the file follow from the figure alone
    "text.parse_math": False,  # a method may have any name
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "black",
    "grid.alpha": 0.15,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}
LONG = re.compile(r"(\d\.\d\d)\d+")
"""A hundredth of a point is fine enough."""
NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))

COLORS = ("#2f7ed8", "#d9741a", "#2a9d62", "#c8503c", "#8b62cf", "#a07a3b", "#cc5b9c", "#4a9aa5")
"""Each has a contrast of at least 3 with white and with the dark ground of a page."""


@contextmanager
def style() -> Iterator[None]:
    """How figures are drawn: black on nothing, so that a page can set both."""
    from matplotlib import rc_context

    with rc_context(STYLE):
        yield


def svg(figure: Figure) -> str:
    """The figure as an SVG document."""
    file = StringIO()
    with style():
        figure.savefig(file, format="svg", metadata=NO_METADATA)
    return re.sub(r"<[^>]*>", lambda tag: LONG.sub(r"\1", tag[0]), file.getvalue())


def standalone(document: str) -> str:
    """The document on a white ground, for a file of its own."""
    return re.sub(r"(<svg\b[^>]*>)", r'\1<rect width="100%" height="100%" fill="white"/>', document)


def inline(document: str, name: str, alt: str) -> str:
    """The document as an element of a page, whose black is the colour of the page's text.

    Args:
        document: as `svg` gives it.
        name: is put before every id, so that no two pictures share one.
        alt: for who does not see it.
    """
    element = document[document.index("<svg") :].rstrip()
    element = re.sub(r"<style.*?</style>", "", element, flags=re.DOTALL)  # is in the page's

    def own(tag: re.Match[str]) -> str:
        with_ids = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", tag[0])
        return with_ids.replace("#000000", "currentColor")

    element = re.sub(r"<[^>]*>", own, element)
    head = re.search(r'<svg\b[^>]*viewBox="([^"]*)"[^>]*>', element)
    assert head is not None  # noqa: S101  # matplotlib writes one
    width = float(head[1].split()[2])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'role="img" aria-label="{escape(alt)}" viewBox="{head[1]}" '
        f'style="max-width: {width / 0.75:.0f}px">{element[head.end() :]}'
    )
