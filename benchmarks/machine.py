"""What a run depends on: the machine, its load and the versions."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path

import psutil
import torch

PACKAGES = ("torch", "numpy", "geoopt", "spd-learn", "liebn")
CPU_INFO = Path("/proc/cpuinfo")


def _processor() -> str:
    if CPU_INFO.exists():
        for line in CPU_INFO.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def describe() -> dict[str, str]:
    """Facts by name, for the report."""
    lapack = "MKL" if torch.backends.mkl.is_available() else "LAPACK as built into torch"
    one, five, _ = os.getloadavg()
    return {
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "memory": f"{psutil.virtual_memory().total / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.machine()}",
        "load at the start": f"{one:.1f} over one minute, {five:.1f} over five",
        "linear algebra": f"{lapack}, {torch.get_num_threads()} thread",
        "versions": f"Python {platform.python_version()}, "
        + ", ".join(f"{name} {version(name)}" for name in PACKAGES),
    }
