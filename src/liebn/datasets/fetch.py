"""Getting a dataset: download, simulate, or say what a person has to do."""

from __future__ import annotations

import os
import shutil
import urllib.error
import urllib.parse
import urllib.request
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path
from typing import Any

from .archives import unpack
from .card import Card
from .errors import DatasetError, MissingDataError, require
from .files import one_line

CHUNK = 1 << 16
TIMEOUT_SECONDS = 60


class ResumingDownloader:
    """A downloader for pooch that continues where an earlier attempt broke off.

    What has arrived lies in a file beside the goal, named ``<name>.part``; the server is asked for
    the rest. A server that cannot do that sends everything, and the download starts over.
    """

    def __init__(self, part: Path, progress: bool = True) -> None:
        """Remember where the unfinished file lies and whether to draw a progress bar."""
        self.part = part
        self.progress = progress

    def __call__(self, url: str, output_file: str | os.PathLike[str], pooch: Any) -> None:
        """Download ``url`` into ``output_file``; pooch checks the sum afterwards."""
        have = self.part.stat().st_size if self.part.is_file() else 0
        try:
            self._ask(url, have)
        except urllib.error.HTTPError as error:
            if error.code != HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                raise
            error.close()
            self._ask(url, 0)  # what we had is no beginning of this file
        shutil.move(self.part, output_file)

    def _ask(self, url: str, have: int) -> None:
        """Ask for all but the first ``have`` bytes and save what comes."""
        headers = {"Range": f"bytes={have}-"} if have else {}
        request = urllib.request.Request(url, headers=headers)  # noqa: S310 - see `download`
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:  # noqa: S310
            resumed = answer.status == HTTPStatus.PARTIAL_CONTENT
            self._save(answer, have if resumed else 0)

    def _save(self, answer: Any, have: int) -> None:
        """Append the answer to the unfinished file (or start it anew) and check its length."""
        announced = answer.headers.get("Content-Length")
        total = have + int(announced) if announced else None
        bar = require("tqdm", "experiments").tqdm(
            total=total, initial=have, unit="B", unit_scale=True, disable=not self.progress
        )
        with bar, self.part.open("ab" if have else "wb") as stream:
            while chunk := answer.read(CHUNK):
                stream.write(chunk)
                bar.update(len(chunk))
        size = self.part.stat().st_size
        if total is not None and size < total:
            raise DatasetError(
                f"download broke off after {size} of {total} bytes; "
                "run the same command again to continue"
            )


def download(url: str, sha256: str, folder: Path, progress: bool = True) -> Path:
    """Download a file with pooch and return its path; it is only kept if its checksum is right.

    Raises:
        DatasetError: not http(s), no answer, broken off, or another checksum than expected.
    """
    parts = urllib.parse.urlsplit(url)
    name = Path(parts.path).name
    if parts.scheme not in ("http", "https") or not name:
        raise DatasetError(f"{url}: expected an http or https address that ends in a file name")
    folder.mkdir(parents=True, exist_ok=True)
    downloader = ResumingDownloader(folder / f"{name}.part", progress)
    try:
        path = require("pooch", "experiments").retrieve(
            url, known_hash=f"sha256:{sha256}", fname=name, path=folder, downloader=downloader
        )
    except ValueError as error:
        raise DatasetError(
            f"{url}: expected the SHA-256 {sha256}, got another, so the file was deleted; "
            "check the address and the checksum"
        ) from error
    except urllib.error.HTTPError as error:
        raise DatasetError(f"{url}: the server answered {error.code} {error.reason}") from error
    except (OSError, HTTPException) as error:
        raise DatasetError(f"{url}: download failed ({one_line(error)})") from error
    return Path(path)


def instructions(card: Card, root: Path) -> str:
    """Return the steps by which a person gets a dataset."""
    lines = [
        f"{card.name} has to be fetched by hand (licence: {card.licence}):",
        *(f"  {step.replace('ROOT', str(root))}" for step in card.steps),
        f"then run  liebn data check {card.name}",
        "a copy that your group keeps on a server can be fetched with",
        f"  liebn data fetch {card.name} --url URL --sha256 HEX",
    ]
    return "\n".join(lines)


def fetch(
    card: Card, root: Path, url: str | None = None, sha256: str | None = None, progress: bool = True
) -> str:
    """Bring a dataset under the data root and return one line on where it is.

    Args:
        card: the dataset.
        root: the data root.
        url: an archive (zip, tar) or an .npz to use instead of the card's address.
        sha256: the checksum of the archive; nothing is downloaded without one.
        progress: whether to draw a progress bar.

    Raises:
        MissingDataError: a person has to do it; the message is the steps.
        DatasetError: the download failed; the message says how.
    """
    found = card.find(root)
    if found is not None:
        return f"{card.name}: already at {found}"
    target = root / card.folders[0]
    if url is None and card.make is not None:
        card.make(target)
        return f"{card.name}: ready"
    address = url or card.url
    if address is None or sha256 is None:
        raise MissingDataError(instructions(card, root))
    archive = download(address, sha256, root / ".downloads", progress)
    if archive.suffix == ".npz":
        target.mkdir(parents=True, exist_ok=True)
        archive.replace(target / archive.name)
    else:
        unpack(archive, target)
        archive.unlink()
    return f"{card.name}: fetched to {target}"
