"""Own records of a transfer that is not done: which upload is ours, and which pieces have come in.

The store's list of parts is the truth about an upload; the record only says which upload it is. It is durable
before the first part is sent.
"""

from __future__ import annotations

import contextlib
import hashlib
from dataclasses import asdict
from pathlib import Path

from lastro import atomic, strictjson
from lastro.errors import StorageError
from lastro.storage.transfer.parts import Begun


class UploadJournal:
    """The record of one file's upload to one place."""

    def __init__(self, folder: Path, source: Path, target: str) -> None:
        key = hashlib.sha256(f"{source.absolute()}\0{target}".encode(errors="surrogateescape")).hexdigest()
        self._path = folder / f"{key[:32]}.json"
        self._target = target

    def read(self) -> Begun | None:
        """Return what was begun; None when nothing was, or the record is no record."""
        try:
            value = strictjson.read(self._path)
            return Begun(**{name: value[name] for name in ("upload", "size", "changed_ns", "part_bytes")})
        except (FileNotFoundError, StorageError, KeyError, TypeError):
            return None

    def write(self, begun: Begun) -> None:
        """Keep, durably, which upload is ours."""
        atomic.make_folder(self._path.parent)
        atomic.write_text(self._path, strictjson.pretty({"target": self._target, **asdict(begun)}))

    def end(self) -> None:
        """Forget it: the upload is complete, or was given up."""
        self._path.unlink(missing_ok=True)


class PieceJournal:
    """Lines of `number md5` beside a file that comes in by pieces; the first line says what of.

    A line is written when its piece is durable.
    """

    def __init__(self, path: Path, origin: str) -> None:
        self._path, self._origin = path, origin

    def read(self) -> dict[int, str]:
        """Return the pieces that have come in; none when the record is of something else."""
        found: dict[int, str] = {}
        try:
            first, *lines = self._path.read_text().split("\n")
        except (FileNotFoundError, UnicodeDecodeError):
            return {}
        if first != self._origin:
            return {}
        for line in lines[:-1]:  # the last one is empty, or was cut by a kill
            with contextlib.suppress(ValueError):
                number, md5 = line.split(" ")
                found[int(number)] = md5
        return found

    def begin(self, done: dict[int, str]) -> None:
        """Write it anew with what is known to be there."""
        lines = [self._origin, *(f"{number} {md5}" for number, md5 in sorted(done.items()))]
        atomic.write_text(self._path, "\n".join(lines) + "\n")

    def add(self, number: int, md5: str) -> None:
        """Keep that a piece has come in."""
        with self._path.open("a") as file:
            file.write(f"{number} {md5}\n")

    def end(self) -> None:
        """Forget it."""
        self._path.unlink(missing_ok=True)
