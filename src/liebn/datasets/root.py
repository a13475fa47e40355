"""Where the data lie. This is the one place that decides it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

VARIABLE = "LIEBN_DATA"


def user_cache() -> Path:
    """Return this user's cache folder for the library (it need not exist yet)."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "liebn"


def data_root(option: str | Path | None = None) -> Path:
    """Return the folder that holds all datasets.

    The option wins, then the environment variable ``LIEBN_DATA``, then the per-user cache.
    """
    return Path(option or os.environ.get(VARIABLE) or user_cache()).expanduser()
