"""The folder of records: one file for each run, written whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from liebn.experiments.errors import ExperimentError

try:
    import fcntl
except ImportError:  # not on Windows: two sweeps may then train one run twice, to the same record
    fcntl = None  # type: ignore[assignment]


Record = dict[str, Any]

FORMAT = 1
"""Of a record, in its file."""


class Claim:
    """The right to train a run, held until released or until the process is dead."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path = path
        self._file = file

    def release(self) -> None:
        """Give it up."""
        with suppress(OSError):
            self._path.unlink()
        self._file.close()


class Store:
    """Records under `<root>/records/<experiment>/<key>.json`.

    Args:
        root: the folder of results; made where needed.
    """

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root)

    def path(self, experiment: str, key: str) -> Path:
        """Where the record of a run is, or will be."""
        return self.root / "records" / experiment / f"{key}.json"

    def read(self, experiment: str, key: str) -> Record | None:
        """The record of a run, if there is one."""
        path = self.path(experiment, key)
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (ValueError, RecursionError) as error:
            raise _no_record(path, f"an error in it ({error})") from None
        if not isinstance(record, dict) or record.get("key") != key:
            raise _no_record(path, "something else")
        if record.get("format") != FORMAT:
            raise _no_record(path, f"the format {record.get('format')!r} instead of {FORMAT}")
        return record

    def records(self, experiment: str) -> Iterator[Record]:
        """All records of an experiment."""
        for path in sorted((self.root / "records" / experiment).glob("*.json")):
            record = self.read(experiment, path.stem)
            if record is not None:
                yield record

    def find(self, configuration: Mapping[str, Any], key: str) -> Record | None:
        """The record of a run, if there is one, under the names that the configuration gives it.

        If the run was made for another experiment, or under another name, its record is written
        for this one.
        """
        experiment = configuration["experiment"]
        record = self.read(experiment, key)
        for path in (self.root / "records").glob(f"*/{key}.json"):
            record = record or self.read(path.parent.name, key)
        if record is None or record["configuration"] == configuration:
            return record
        record |= {"configuration": dict(configuration)}
        self.write(record)
        return record

    def write(self, record: Mapping[str, Any]) -> Path:
        """Keep a record."""
        path = self.path(record["configuration"]["experiment"], record["key"])
        path.parent.mkdir(parents=True, exist_ok=True)
        content = json.dumps(record, sort_keys=True, ensure_ascii=False, allow_nan=False)
        handle, name = tempfile.mkstemp(prefix=".record-", suffix=".tmp", dir=path.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(content + "\n")
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(0o644)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        return path

    def claim(self, key: str) -> Claim | None:
        """The right to train a run, for any experiment; None where another process has it.

        The system gives the lock back when a process ends, however it ends.
        """
        path = self.root / "records" / f".{key}.lock"
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("ab")
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.close()
                return None
            if not _is(file, path):  # its holder has removed it since it was opened
                file.close()
                return None
        return Claim(path, file)


def _no_record(path: Path, got: str) -> ExperimentError:
    return ExperimentError(
        f"{path}: expected a record, got {got}; remove the file, and the run is made again"
    )


def _is(file: BinaryIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False
