"""Which files are open for writing, as far as /proc tells: those of one's own user, on Linux."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path


def being_written(paths: Iterable[Path]) -> frozenset[Path]:
    """Return those of some files and folders that a process has open for writing, or something below.

    What cannot be asked (another user's process, a system without /proc) counts as not open.
    """
    wanted = {os.path.realpath(path): path for path in paths}
    if not wanted:
        return frozenset()
    found = set()
    for pid, descriptor, target in _open_files():
        for real, path in wanted.items():
            below = target == real or target.startswith(f"{real}/")
            if below and path not in found and _writes(pid, descriptor):
                found.add(path)
    return frozenset(found)


def _open_files() -> Iterator[tuple[str, str, str]]:
    """Yield (pid, descriptor, path) of every open file that can be seen."""
    for pid in _names("/proc"):
        if not pid.isdigit():
            continue
        for descriptor in _names(f"/proc/{pid}/fd"):
            try:
                target = os.readlink(f"/proc/{pid}/fd/{descriptor}")  # noqa: PTH115 - the hot loop
            except OSError:
                continue
            if target.startswith("/"):
                yield pid, descriptor, target


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - names, not paths: this is the hot loop
    except OSError:
        return []


def _writes(pid: str, descriptor: str) -> bool:
    try:
        text = Path(f"/proc/{pid}/fdinfo/{descriptor}").read_text()
    except OSError:
        return False
    flags = next((line.split()[1] for line in text.splitlines() if line.startswith("flags:")), "0")
    return int(flags, 8) & os.O_ACCMODE != os.O_RDONLY
