"""What a record says about where its numbers come from."""

from __future__ import annotations

import functools
import hashlib
import platform
from pathlib import Path
from typing import Any

import numpy as np
import torch

from liebn.version import __version__

PACKAGE = Path(__file__).parents[1]
NOT_NUMERICAL = ("plots", "cli.py", "experiments/report")


@functools.cache
def source_digest() -> str:
    """A digest of the source that numbers come from: of all but the report, plots and commands."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if not name.startswith(NOT_NUMERICAL):
            digest.update(f"{name}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:20]


@functools.cache
def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def environment() -> dict[str, Any]:
    """Versions and machine; every run has one thread."""
    return {
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "numpy": np.__version__,
        "liebn": __version__,
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "threads": 1,
    }
