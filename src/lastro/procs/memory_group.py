"""The memory that a process may use: its control group's, of either version, or else the machine's."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
#: What version 1 writes for "no limit" is the largest number of pages, whatever their size.
_NO_LIMIT = 1 << 60


@dataclass(frozen=True)
class MemoryGroup:
    """A control group's memory, in bytes. `version`: 1 or 2. What its kernel does not tell is None."""

    folder: Path
    version: int

    def limit(self) -> int | None:
        """Return the lowest limit of the group and those above it; None when there is none."""
        if self.version == 1:
            return _bounded(_field(self.folder / "memory.stat", "hierarchical_memory_limit"))
        limits = [_bounded(_number(folder / "memory.max")) for folder in self._line()]
        return min((limit for limit in limits if limit is not None), default=None)

    def used(self) -> int | None:
        """Return what is in use, without file pages that the kernel would let go first."""
        name, cache = (
            ("memory.usage_in_bytes", "total_inactive_file")
            if self.version == 1
            else ("memory.current", "inactive_file")
        )
        used = _number(self.folder / name)
        return None if used is None else max(0, used - (_field(self.folder / "memory.stat", cache) or 0))

    def kills(self) -> int | None:
        """Return how many of its processes the kernel has killed for want of memory."""
        return _field(
            self.folder / ("memory.oom_control" if self.version == 1 else "memory.events"), "oom_kill"
        )

    def _line(self) -> Iterator[Path]:
        folder = self.folder
        while (folder / "memory.max").exists():
            yield folder
            folder = folder.parent


def memory_group_of(pid: int | str = "self") -> MemoryGroup | None:
    """Return the group whose limits hold for a process; None where there is none, or it cannot be seen."""
    try:
        lines = (_PROC / str(pid) / "cgroup").read_text().splitlines()
        mounts = (_PROC / "self" / "mountinfo").read_text().splitlines()
    except OSError:
        return None
    paths = {}
    for line in lines:
        _hierarchy, controllers, path = line.split(":", 2)
        paths.update(dict.fromkeys(controllers.split(","), path))
    for version, controller in ((1, "memory"), (2, "")):
        folder = _folder(mounts, version, paths.get(controller))
        known = "memory.usage_in_bytes" if version == 1 else "memory.current"
        if folder is not None and (folder / known).exists():
            return MemoryGroup(folder, version)
    return None


def _folder(mounts: list[str], version: int, path: str | None) -> Path | None:
    """Return where a group's files are: proc(5) mountinfo names what part of the tree is mounted where."""
    for line in mounts if path is not None else ():
        left, _dash, right = line.partition(" - ")
        root, mounted = left.split()[3:5]
        kind, _source, options = right.split(" ", 2)
        if (version == 2 and kind == "cgroup2") or (
            version == 1 and kind == "cgroup" and "memory" in options.split(",")
        ):
            with contextlib.suppress(ValueError):
                return Path(mounted) / Path(str(path)).relative_to(root)
            return Path(mounted)
    return None


def machine_memory() -> tuple[int, int] | None:
    """Return bytes in use and bytes in all of this machine; None where the kernel does not tell."""
    total = _field(_PROC / "meminfo", "MemTotal:")
    free = _field(_PROC / "meminfo", "MemAvailable:")
    return None if total is None or free is None else ((total - free) * 1024, total * 1024)


def machine_kills() -> int | None:
    """Return how many processes this kernel has killed for want of memory since it started."""
    return _field(_PROC / "vmstat", "oom_kill")


def memory_of(group: MemoryGroup | None) -> tuple[int | None, int | None]:
    """Return bytes in use and the limit: the group's, or the machine's where that is lower."""
    used, total = machine_memory() or (None, None)
    limit = group.limit() if group is not None else None
    if group is not None and limit is not None and (total is None or limit < total):
        return group.used(), limit
    return used, total


def _bounded(limit: int | None) -> int | None:
    return None if limit is None or limit >= _NO_LIMIT else limit


def _number(path: Path) -> int | None:
    with contextlib.suppress(OSError, ValueError):  # version 2 writes "max" for no limit
        return int(path.read_text())
    return None


def _field(path: Path, name: str) -> int | None:
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in path.read_text().splitlines():
            if line.startswith(name):
                fields = line.split()
                if fields[0] == name:
                    return int(fields[1])
    return None
