"""The rows as text and as a page."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Sequence

from liebn.verify.row import COLUMNS, Row

PAGE = """# The paper's claims, measured

This page is the output of

```
{command}
```

One row for every proposition, theorem and remark that can be tested numerically, and every space it
applies to, in float64 at size 3. A claim *holds* if the value measured is as allowed; it *holds
with a correction* if what is measured, which the row says, is not quite what is written; it *does
not hold as written* if the row is a counterexample. The command's exit status is 1 if a value is
not as allowed. Numbering is that of the paper. Gaussians are drawn exactly, as
[here](api/distributions.md).

{summary}

{table}
"""


def text(rows: Sequence[Row]) -> str:
    """Columns, aligned."""
    lines = [COLUMNS, *(row.cells for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def markdown(rows: Iterable[Row]) -> str:
    """A table."""
    lines = [COLUMNS, ("---",) * len(COLUMNS), *(row.cells for row in rows)]
    return "\n".join(
        "| " + " | ".join(c.replace("|", r"\|") for c in line) + " |" for line in lines
    )


def summary(rows: Sequence[Row], without_law: Sequence[str]) -> str:
    """How many rows of each verdict, and what could not be tested."""
    counts = Counter(row.verdict for row in rows)
    said = f"{len(rows)} rows: " + ", ".join(f"{n} × {verdict}" for verdict, n in counts.items())
    if without_law:
        said += (
            ".\nNot tested, for want of an exact sampler: claims about distributions on "
            + ", ".join(without_law)
        )
    return said + "."


def page(rows: Sequence[Row], without_law: Sequence[str], arguments: Sequence[str]) -> str:
    """A page of the documentation."""
    return PAGE.format(
        command=shlex.join(["liebn", "verify", *arguments]),
        summary=summary(rows, without_law),
        table=markdown(rows),
    )
