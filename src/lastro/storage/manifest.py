"""A manifest: what lies in a folder, to the byte, so that it can be believed later and elsewhere."""

from __future__ import annotations

import os
from dataclasses import asdict
from enum import Enum
from pathlib import Path

from lastro import atomic, strictjson
from lastro.errors import StorageError
from lastro.locale import _
from lastro.records import dataclass
from lastro.storage.digest import digest_of_sums, files_below, sha256_file, sum_line


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
        entries = []
        for name in files_below(folder):
            path = folder / name
            entries.append(Entry(name, path.stat().st_size, sha256_file(path)))
        return cls(tuple(sorted(entries, key=lambda entry: os.fsencode(entry.path))))

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
        problems = [problem for entry in self.entries if (problem := _verify(entry, folder))]
        known = {entry.path for entry in self.entries}
        there = sorted(files_below(folder)) if folder.is_dir() else []
        return problems + [
            Problem(name, Wrong.EXTRA, _("{name} is not in the manifest").format(name=name))
            for name in there
            if name not in known
        ]


def _verify(entry: Entry, folder: Path) -> Problem | None:
    path = folder / entry.path
    if not path.is_file():
        return Problem(entry.path, Wrong.MISSING, _("{name} is not there").format(name=entry.path))
    size = path.stat().st_size
    if size != entry.bytes:
        why = _("{name} has {size} bytes, the manifest says {expected}").format(
            name=entry.path, size=size, expected=entry.bytes
        )
        return Problem(entry.path, Wrong.SIZE, why)
    if sha256_file(path) != entry.sha256:
        why = _("{name} has other bytes than the manifest says").format(name=entry.path)
        return Problem(entry.path, Wrong.DIGEST, why)
    return None
