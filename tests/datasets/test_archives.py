"""Archives: unpacked whole or not at all, and never outside the folder."""

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from liebn.datasets.archives import unpack
from liebn.datasets.errors import DatasetError


def write_zip(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def write_tar(path: Path, members: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


WRITERS = pytest.mark.parametrize("write", [write_zip, write_tar])


def everything(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@WRITERS
def test_members_are_unpacked(tmp_path: Path, write) -> None:
    archive = write(tmp_path / "a", {"x.npy": b"1", "sub/y.npy": b"2"})
    unpack(archive, tmp_path / "root" / "goal")
    assert everything(tmp_path / "root") == {"goal", "goal/x.npy", "goal/sub", "goal/sub/y.npy"}
    assert (tmp_path / "root" / "goal" / "sub" / "y.npy").read_bytes() == b"2"


@WRITERS
def test_a_single_top_folder_is_looked_through(tmp_path: Path, write) -> None:
    archive = write(tmp_path / "a", {"top/x.npy": b"1", "top/y.npy": b"2"})
    unpack(archive, tmp_path / "root" / "goal")
    assert everything(tmp_path / "root" / "goal") == {"x.npy", "y.npy"}


@WRITERS
@pytest.mark.parametrize(
    "name", ["../evil", "sub/../../evil", "/evil", "..\\evil", "C:\\evil", "\\evil"]
)
def test_a_member_that_leads_outside_is_refused(tmp_path: Path, write, name: str) -> None:
    archive = write(tmp_path / "a", {"good": b"1", name: b"2"})
    before = everything(tmp_path)
    with pytest.raises(DatasetError, match=r"a: member .*evil.* leads outside; nothing unpacked"):
        unpack(archive, tmp_path / "root" / "goal")
    assert everything(tmp_path) == before | {"root"}
    assert not Path("/evil").exists()


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_are_refused(tmp_path: Path, kind: bytes) -> None:
    with tarfile.open(tmp_path / "a", "w") as archive:
        info = tarfile.TarInfo("link")
        info.type = kind
        info.linkname = "/etc/passwd"
        archive.addfile(info)
    with pytest.raises(DatasetError, match="member 'link' is a link or a device"):
        unpack(tmp_path / "a", tmp_path / "root" / "goal")
    assert everything(tmp_path / "root") == set()


@WRITERS
def test_a_truncated_archive_is_refused(tmp_path: Path, write) -> None:
    archive = write(tmp_path / "a", {"x": bytes(range(256)) * 100})
    archive.write_bytes(archive.read_bytes()[:100])
    with pytest.raises(DatasetError, match=str(archive)):
        unpack(archive, tmp_path / "root" / "goal")
    assert everything(tmp_path / "root") == set()


def test_a_zip_with_a_damaged_member_is_refused(tmp_path: Path) -> None:
    archive = write_zip(tmp_path / "a", {"x": b"hello, world"})
    archive.write_bytes(archive.read_bytes().replace(b"hello", b"jello"))
    with pytest.raises(DatasetError, match=r"cannot be unpacked.*CRC"):
        unpack(archive, tmp_path / "root" / "goal")
    assert everything(tmp_path / "root") == set()


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("<html>not found</html>")
    with pytest.raises(DatasetError, match="expected a zip or tar archive"):
        unpack(tmp_path / "a", tmp_path / "root" / "goal")
