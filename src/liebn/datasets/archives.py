"""Unpacking archives nobody vouches for: no member may land outside the folder."""

from __future__ import annotations

import lzma
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath, PureWindowsPath

from .errors import DatasetError
from .files import one_line

# What the standard library raises on a damaged, encrypted or unwritable archive.
BROKEN = (
    *(OSError, EOFError, RuntimeError, ValueError, LookupError),
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError),
)


def _refuse_outside(archive: Path, member: str) -> None:
    """Raise if a member's name is absolute, has a drive or climbs with ``..``."""
    posix, windows = PurePosixPath(member), PureWindowsPath(member)
    if posix.is_absolute() or windows.drive or windows.root or ".." in windows.parts:
        raise DatasetError(f"{archive}: member {member!r} leads outside; nothing unpacked")


def _extract_zip(archive: Path, target: Path) -> None:
    with zipfile.ZipFile(archive) as content:
        for name in content.namelist():
            _refuse_outside(archive, name)
        content.extractall(target)  # noqa: S202 - every name was checked


def _extract_tar(archive: Path, target: Path) -> None:
    with tarfile.open(archive) as content:
        for member in content.getmembers():
            _refuse_outside(archive, member.name)
            if not (member.isfile() or member.isdir()):
                raise DatasetError(
                    f"{archive}: member {member.name!r} is a link or a device; nothing unpacked"
                )
        content.extractall(target, filter="data")


def unpack(archive: Path, folder: Path) -> None:
    """Unpack a zip or tar archive into a new folder; the folder appears whole or not at all.

    If the archive has one folder at its top and nothing else, that folder's content is taken.

    Raises:
        DatasetError: the archive is damaged, of another kind, or has a member that would land
            outside; or the folder exists.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".unpack-"))
    content = scratch / "content"
    try:
        content.mkdir()
        if zipfile.is_zipfile(archive):
            _extract_zip(archive, content)
        elif tarfile.is_tarfile(archive):
            _extract_tar(archive, content)
        else:
            raise DatasetError(f"{archive}: expected a zip or tar archive")
        entries = list(content.iterdir())
        only = entries[0] if len(entries) == 1 and entries[0].is_dir() else content
        only.rename(folder)
    except BROKEN as error:
        raise DatasetError(f"{archive}: cannot be unpacked ({one_line(error)})") from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
