"""Fixtures for tests of what reads data: a private cache, the real files, the command."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from liebn import cli

REAL_ROOT = os.environ.get("LIEBN_DATA")


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def private_places(monkeypatch: pytest.MonkeyPatch, shared_cache: Path) -> None:
    """No test reads or writes the user's own cache, or sees the user's data root."""
    for variable in ("XDG_CACHE_HOME", "LOCALAPPDATA", "HOME"):
        monkeypatch.setenv(variable, str(shared_cache))
    monkeypatch.delenv("LIEBN_DATA", raising=False)


@pytest.fixture
def real() -> Callable[[str], Path]:
    """Return the data root if it has the folder; skip the test, with the reason, if not."""

    def root(folder: str) -> Path:
        if REAL_ROOT is None:
            pytest.skip("LIEBN_DATA is not set: no real files to test on")
        if not (Path(REAL_ROOT) / folder).is_dir():
            pytest.skip(f"{REAL_ROOT} has no folder {folder}")
        return Path(REAL_ROOT)

    return root


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run `liebn` and return its exit status, output and errors."""

    def run(*arguments: object) -> tuple[int, str, str]:
        try:
            status = cli.main([str(argument) for argument in arguments])
        except SystemExit as leaving:
            status = int(leaving.code or 0)
        streams = capsys.readouterr()
        return status, streams.out, streams.err

    return run
