"""Fetching, from a server that the test starts on this machine."""

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from liebn import datasets
from liebn.datasets.fetch import download, fetch
from tests.datasets.test_archives import write_zip

CONTENT = np.random.default_rng(0).bytes(300_000)
SUM = hashlib.sha256(CONTENT).hexdigest()


class Server:
    """Serves one file; can break off, and can ignore requests for a part."""

    def __init__(self) -> None:
        self.content = CONTENT
        self.break_after: int | None = None
        self.supports_ranges = True
        self.ranges: list[str | None] = []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                owner.answer(self)

            def log_message(self, *arguments: object) -> None:
                """Stay silent."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        if request.path.startswith("/missing"):
            request.send_error(404)
            return
        wanted = request.headers.get("Range")
        self.ranges.append(wanted)
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        start = start if self.supports_ranges else 0
        if start >= len(self.content):
            request.send_error(416)
            return
        body = self.content[start:]
        request.send_response(206 if start else 200)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body[: self.break_after])
        request.close_connection = True


@pytest.fixture
def server() -> Iterator[Server]:
    result = Server()
    thread = threading.Thread(target=result.http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield result
    result.http.shutdown()
    thread.join()
    result.http.server_close()


def test_a_file_arrives_unchanged(server: Server, tmp_path: Path) -> None:
    path = download(f"{server.url}/data.bin", SUM, tmp_path, progress=False)
    assert path.read_bytes() == CONTENT
    assert [p.name for p in tmp_path.iterdir()] == ["data.bin"]


def test_progress_is_shown(server: Server, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    download(f"{server.url}/data.bin", SUM, tmp_path)
    assert "100%" in capsys.readouterr().err


@pytest.mark.parametrize("supports_ranges", [True, False])
def test_a_broken_download_is_resumed(
    server: Server, tmp_path: Path, supports_ranges: bool
) -> None:
    server.break_after = 100_000
    with pytest.raises(datasets.DatasetError, match="broke off after 100000 of 300000 bytes"):
        download(f"{server.url}/data.bin", SUM, tmp_path, progress=False)
    server.break_after = None
    server.supports_ranges = supports_ranges
    path = download(f"{server.url}/data.bin", SUM, tmp_path, progress=False)
    assert path.read_bytes() == CONTENT
    assert server.ranges == [None, "bytes=100000-"]


def test_a_finished_part_is_no_obstacle(server: Server, tmp_path: Path) -> None:
    """Broken off between the last byte and the checksum: there is no rest to ask for."""
    (tmp_path / "data.bin.part").write_bytes(CONTENT)
    path = download(f"{server.url}/data.bin", SUM, tmp_path, progress=False)
    assert path.read_bytes() == CONTENT
    assert server.ranges == ["bytes=300000-", None]


def test_another_checksum_is_refused_and_nothing_stays(server: Server, tmp_path: Path) -> None:
    with pytest.raises(datasets.DatasetError, match=f"expected the SHA-256 {'0' * 64}"):
        download(f"{server.url}/data.bin", "0" * 64, tmp_path, progress=False)
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_is_not_downloaded_again(server: Server, tmp_path: Path) -> None:
    for _ in range(2):
        download(f"{server.url}/data.bin", SUM, tmp_path, progress=False)
    assert len(server.ranges) == 1


def test_an_absent_file_says_what_the_server_said(server: Server, tmp_path: Path) -> None:
    with pytest.raises(datasets.DatasetError, match=r"missing.bin: the server answered 404"):
        download(f"{server.url}/missing.bin", SUM, tmp_path, progress=False)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://host/x", "http://host/", "nonsense"])
def test_other_addresses_are_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(datasets.DatasetError, match="expected an http or https address"):
        download(url, SUM, tmp_path, progress=False)


def test_a_server_that_is_not_there(tmp_path: Path, server: Server) -> None:
    with pytest.raises(datasets.DatasetError, match=r"x.bin: download failed"):
        download("http://127.0.0.1:1/x.bin", SUM, tmp_path, progress=False)


def archive_of_hdm05(folder: Path) -> bytes:
    stream = folder / "one.npy"
    np.save(stream, np.diag(np.arange(1.0, 94.0)))
    members = {"hdm/a_0.npy": stream.read_bytes(), "hdm/b_1.npy": stream.read_bytes()}
    return write_zip(folder / "hdm.zip", members).read_bytes()


def test_an_archive_becomes_a_dataset(server: Server, tmp_path: Path) -> None:
    server.content = archive_of_hdm05(tmp_path)
    root = tmp_path / "root"
    digest = hashlib.sha256(server.content).hexdigest()
    card = datasets.card("hdm05")
    line = fetch(card, root, f"{server.url}/hdm.zip", digest, progress=False)
    assert line == f"hdm05: fetched to {root / 'hdm05'}"
    assert len(datasets.load("hdm05", root=root)) == 2
    assert fetch(card, root) == f"hdm05: already at {root / 'hdm05'}"
    assert len(server.ranges) == 1


def test_a_packed_file_lands_in_its_folder(server: Server, tmp_path: Path) -> None:
    card = datasets.card("fpha")
    fetch(card, tmp_path, f"{server.url}/fpha_cov63.npz", SUM, progress=False)
    assert (tmp_path / "fpha" / "fpha_cov63.npz").read_bytes() == CONTENT


def test_an_archive_that_leads_outside_leaves_no_dataset(server: Server, tmp_path: Path) -> None:
    evil = write_zip(tmp_path / "evil.zip", {"../../evil": b""})
    server.content = evil.read_bytes()
    digest = hashlib.sha256(server.content).hexdigest()
    with pytest.raises(datasets.DatasetError, match=r"evil.zip: member '../../evil'"):
        fetch(datasets.card("hdm05"), tmp_path / "r", f"{server.url}/evil.zip", digest, False)
    assert not (tmp_path / "r" / "hdm05").exists()


@pytest.mark.parametrize("name", ["hdm05", "fpha", "g3d", "hdm05-11", "ssvep-exo", "msr-action3d"])
def test_what_a_person_has_to_do_is_said(name: str, tmp_path: Path) -> None:
    with pytest.raises(datasets.MissingDataError) as caught:
        fetch(datasets.card(name), tmp_path)
    text = str(caught.value)
    assert f"liebn data check {name}" in text
    assert str(tmp_path) in text
    assert "ROOT" not in text


def test_an_address_without_a_checksum_is_not_trusted(tmp_path: Path) -> None:
    with pytest.raises(datasets.MissingDataError, match="--sha256"):
        fetch(datasets.card("hdm05"), tmp_path, url="http://127.0.0.1:1/x.zip")


def test_the_simulated_set_is_made(tmp_path: Path, shared_cache: Path) -> None:
    assert fetch(datasets.card("radar"), tmp_path) == "radar: ready"
    cached = shared_cache / "liebn" / "simulated"
    assert [path.name for path in cached.glob("radar-v1-1000-seed0.npz")]
