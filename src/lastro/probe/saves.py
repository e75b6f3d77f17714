"""The files that a job's own saves leave in its working folder."""

from __future__ import annotations

from pathlib import Path


class Saves:
    """Files of a pattern, and which of them are new since the last look."""

    def __init__(self, workdir: Path, pattern: str | None) -> None:
        self._workdir, self._pattern = workdir, pattern
        self._seen = self._look()
        self.last: str | None = None

    def _look(self) -> dict[str, tuple[int, int]]:
        if self._pattern is None:
            return {}
        seen = {}
        for path in self._workdir.glob(self._pattern):
            try:
                found = path.stat()
            except OSError:
                continue
            seen[path.relative_to(self._workdir).as_posix()] = (found.st_mtime_ns, found.st_size)
        return seen

    def new(self) -> list[str]:
        """Return the names of those that are new or changed since the last look, or since the beginning."""
        before, self._seen = self._seen, self._look()
        new = sorted((what, name) for name, what in self._seen.items() if before.get(name) != what)
        self.last = new[-1][1] if new else self.last
        return [name for _what, name in new]
