"""Facts of the machine that was measured on: figures mean little without them."""

from __future__ import annotations

import os
import platform
import tempfile
from pathlib import Path
from typing import Any


def facts() -> dict[str, Any]:
    """Return what the figures depend on. `load`: processes that wanted a core, over the last minute."""
    return {
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)),
        "load": round(os.getloadavg()[0], 2),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "temporary_files": _file_system(Path(tempfile.gettempdir())),
    }


def _cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _file_system(folder: Path) -> str:
    """Return the type of the file system that a folder is on, by the longest mount point above it."""
    best = ("", "unknown")
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _device, point, kind, *_rest = line.split()
        if folder.is_relative_to(point) and len(point) > len(best[0]):
            best = (point, kind)
    return best[1]
