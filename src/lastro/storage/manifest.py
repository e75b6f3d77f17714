"""A manifest: what lies in a folder, to the byte, so that it can be believed later and elsewhere."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict
from enum import Enum
from pathlib import Path

from lastro import atomic, strictjson
from lastro.errors import StorageError
from lastro.locale import _
from lastro.records import dataclass
from lastro.storage.digest import digest_of_sums, files_below, sha256_each, sum_line


class Wrong(str, Enum):
    """What can be wrong with one file."""

    MISSING = "missing"
    SIZE = "size"
    DIGEST = "digest"
    EXTRA = "extra"


@dataclass(frozen=True)
class Problem:
    """One difference between a manifest and a folder."""

    path: str
    kind: Wrong
    why: str


@dataclass(frozen=True)
class Entry:
    """One file: relative POSIX path, size in bytes, SHA-256 in hex."""

    path: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """The files of a folder, sorted by path."""

    entries: tuple[Entry, ...]

    @classmethod
    def of(cls, folder: Path) -> Manifest:
        """Read every file below a folder. Raises StorageError when one cannot be read."""
        return cls.of_files(folder, sorted(files_below(folder), key=os.fsencode))

    @classmethod
    def of_files(cls, folder: Path, names: Sequence[str]) -> Manifest:
        """Read these files of a folder, in their order. Raises StorageError when one cannot be read."""
        paths = [folder / name for name in names]
        sizes = [path.stat().st_size for path in paths]
        return cls(tuple(map(Entry, names, sizes, sha256_each(paths))))

    @classmethod
    def read(cls, path: Path) -> Manifest:
        """Read what `write` wrote. Raises StorageError; FileNotFoundError when it is not there."""
        try:
            return cls(tuple(Entry(**entry) for entry in strictjson.read(path)["files"]))
        except (KeyError, TypeError) as error:
            raise StorageError(
                _("{path} is not a manifest").format(path=path),
                hint=_("it was changed by something else; restore it from a copy"),
            ) from error

    @property
    def total_bytes(self) -> int:
        """The size of all files together."""
        return sum(entry.bytes for entry in self.entries)

    def digest(self) -> str:
        """Return the SHA-256 over the sums; the same as `digest_of` of the folder."""
        return digest_of_sums((entry.path, entry.sha256) for entry in self.entries)

    def sums(self) -> bytes:
        """Return the manifest as `sha256sum -c` reads it."""
        return b"".join(sum_line(entry.path, entry.sha256) for entry in self.entries)

    def write(self, path: Path) -> None:
        """Publish the manifest as JSON, durably."""
        atomic.write_text(path, strictjson.pretty({"files": [asdict(entry) for entry in self.entries]}))

    def verify(self, folder: Path) -> list[Problem]:
        """Read every file again; return what differs, an empty list when nothing does.

        Raises:
            StorageError: a file is there and cannot be read.
        """
        found = {entry.path: _mismatch(entry, folder) for entry in self.entries}
        like = [entry for entry in self.entries if found[entry.path] is None]
        digests = sha256_each([folder / entry.path for entry in like])
        for entry, digest in zip(like, digests, strict=True):
            if digest != entry.sha256:
                why = _("{name} has other bytes than the manifest says").format(name=entry.path)
                found[entry.path] = Problem(entry.path, Wrong.DIGEST, why)
        problems = [problem for problem in found.values() if problem is not None]
        known = {entry.path for entry in self.entries}
        there = sorted(files_below(folder)) if folder.is_dir() else []
        return problems + [
            Problem(name, Wrong.EXTRA, _("{name} is not in the manifest").format(name=name))
            for name in there
            if name not in known
        ]


def _mismatch(entry: Entry, folder: Path) -> Problem | None:
    """Say what is wrong with a file without reading it."""
    path = folder / entry.path
    if not path.is_file():
        return Problem(entry.path, Wrong.MISSING, _("{name} is not there").format(name=entry.path))
    size = path.stat().st_size
    if size != entry.bytes:
        why = _("{name} has {size} bytes, the manifest says {expected}").format(
            name=entry.path, size=size, expected=entry.bytes
        )
        return Problem(entry.path, Wrong.SIZE, why)
    return None
