"""Equal copies on the disk: by size first, then by digest, and the code snapshots of runs."""

from __future__ import annotations

import contextlib
import os
import tarfile
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from lastro.disk.guard.scan import scan
from lastro.errors import LastroError
from lastro.paths import Disk
from lastro.storage.digest import sha256_file
from lastro.storage.snapshot import archive_sums


class Copies:
    """The files of a disk, by size; a digest is computed when a file of that size is asked for."""

    def __init__(self, disk: Disk | None, sizes: Iterable[int]) -> None:
        self._by_size: dict[int, list[str]] = defaultdict(list)
        self._sums: dict[str, str] = {}
        self._code: dict[str, str] = {}
        wanted = set(sizes)
        if disk is None or not disk.root.is_dir() or not wanted:
            return
        for file in scan(os.path.realpath(disk.root), 0).candidates:
            if file.size in wanted:
                self._by_size[file.size].append(file.path)
        for archive in disk.code_archives():
            with contextlib.suppress(OSError, LastroError, tarfile.TarError):
                self._code.update({digest: str(archive) for digest in archive_sums(archive).values()})

    def of(self, path: str, size: int) -> str | None:
        """Return where an equal copy lies; None when there is none, or the file cannot be read."""
        same_size = self._by_size.get(size, ())
        if not same_size and not self._code:
            return None
        try:
            mine = sha256_file(Path(path))
        except (OSError, LastroError):
            return None
        if mine in self._code:
            return self._code[mine]
        return next((other for other in same_size if self._sum(other) == mine), None)

    def _sum(self, path: str) -> str:
        if path not in self._sums:
            try:
                self._sums[path] = sha256_file(Path(path))
            except (OSError, LastroError):
                self._sums[path] = ""
        return self._sums[path]
