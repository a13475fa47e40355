"""Fixtures of the tests of experiments: private places, and the command in this process."""

from collections.abc import Callable

import pytest

from liebn import cli
from tests.places import private_places, real, shared_cache

__all__ = ["private_places", "real", "shared_cache"]


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
