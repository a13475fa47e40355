"""What is known about a dataset before it is loaded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .record import Dataset


@dataclass(frozen=True)
class Card:
    """The catalogue entry of one dataset.

    Attributes:
        name: the name on the command line.
        title: one line on what it is.
        points: samples, classes and the shape of a point, in words.
        size: bytes on disk, in words.
        licence: what is known of its terms.
        citation: what to cite.
        folders: where under the data root it may lie; the first is where `fetch` puts it.
        patterns: a folder holds the dataset if a file in it matches one of these.
        steps: how to get it by hand, one line each.
        load: reads it: ``load(folder, **options)``. A dataset that can be made on the spot
            accepts None for the folder.
        url: a public archive that needs no consent, where there is one. None of them comes with a
            published checksum: whoever fetches it supplies one.
        make: produces the files under a folder, where a program and not a download does it.
        embedded: True where no file is needed.
    """

    name: str
    title: str
    points: str
    size: str
    licence: str
    citation: str
    folders: tuple[str, ...]
    patterns: tuple[str, ...]
    steps: tuple[str, ...]
    load: Callable[..., Dataset]
    url: str | None = None
    make: Callable[[Path], None] | None = None
    embedded: bool = False

    def find(self, root: Path) -> Path | None:
        """Return the folder under ``root`` that holds this dataset, if there is one."""
        for name in self.folders:
            folder = root / name
            if any(next(folder.glob(pattern), None) for pattern in self.patterns):
                return folder
        return None
