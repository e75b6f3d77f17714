"""One shard is written: each file read once, into a buffer that goes to the disk in large pieces."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from lastro import atomic
from lastro.errors import StorageError
from lastro.locale import _
from lastro.records import dataclass
from lastro.storage.pack.checksum import Running, summer
from lastro.storage.pack.header import END, header_of, padding
from lastro.storage.pack.names import shown
from lastro.storage.pack.tree import Entry, Kind

#: Written in pieces of so much, and hashed on the way: small enough to stay in a processor's own memory.
_BUFFER = 512 << 10


@dataclass(frozen=True, kw_only=True)
class Written:
    """A shard that lies on the disk. `items`: offset, size and sum of each file, in order."""

    bytes: int
    sha256: str
    items: tuple[tuple[int, int, int], ...]


class _Out:
    """The archive as it grows: a buffer that is hashed and written when it is full."""

    def __init__(self, descriptor: int, checksum: str) -> None:
        self._descriptor, self._checksum = descriptor, checksum
        self._sum = summer(checksum)
        self._view = memoryview(bytearray(_BUFFER))
        self._used, self._before = 0, 0
        self.sha256 = hashlib.sha256()

    @property
    def position(self) -> int:
        """How many bytes the archive has so far."""
        return self._before + self._used

    def put(self, data: bytes) -> None:
        """Add a few bytes."""
        if self._used + len(data) > _BUFFER:
            self.flush()
        self._view[self._used : self._used + len(data)] = data
        self._used += len(data)

    def put_file(self, descriptor: int, size: int) -> tuple[int, int]:
        """Add the content of a file; return how much there was of it, and its sum."""
        if size > _BUFFER - self._used:
            self.flush()
        if size > _BUFFER:
            return self._put_large(descriptor, size)
        target = self._view[self._used : self._used + size]
        count = 0
        while count < size and (got := os.readv(descriptor, [target[count:]])):
            count += got
        self._used += count
        return count, self._sum(target)

    def _put_large(self, descriptor: int, size: int) -> tuple[int, int]:
        running, count = Running(self._checksum), 0
        while count < size:
            got = os.readv(descriptor, [self._view[: min(_BUFFER, size - count)]])
            if not got:
                break
            running.update(self._view[:got])
            self._used = got
            self.flush()
            count += got
        return count, running.value()

    def flush(self) -> None:
        """Hash and write what is in the buffer."""
        piece = self._view[: self._used]
        self.sha256.update(piece)
        while piece:
            piece = piece[os.write(self._descriptor, piece) :]
        self._before += self._used
        self._used = 0


def write_shard(
    source: Path, entries: Sequence[Entry], target: Path, checksum: str, told: Callable[[int], None]
) -> Written:
    """Publish an archive of these entries, the same bytes for the same entries.

    Args:
        source: the folder that they lie below.
        entries: as the tree was read.
        target: where the archive is to lie; what is there is replaced.
        checksum: what the sums of the items are.
        told: gets the number of bytes after each file.

    Raises:
        StorageError: a file is gone, cannot be read, or is no longer what the tree said; or the disk is full.
    """
    with atomic.publish_file(target) as aside:
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        try:
            out = _Out(descriptor, checksum)
            folder = os.open(source, os.O_RDONLY | os.O_DIRECTORY)
            try:
                items = []
                for entry in entries:
                    out.put(header_of(entry))
                    if entry.kind is Kind.FILE:
                        items.append((out.position, entry.size, _add(out, folder, entry)))
                        told(entry.size)
            finally:
                os.close(folder)
            out.put(END)
            out.flush()
        except OSError as error:
            raise _full(target, error) from error
        finally:
            os.close(descriptor)
    return Written(bytes=out.position, sha256=out.sha256.hexdigest(), items=tuple(items))


def _add(out: _Out, folder: int, entry: Entry) -> int:
    """Add one file's content and its padding; return its sum."""
    try:
        descriptor = os.open(entry.name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=folder)
    except OSError as error:
        raise StorageError(
            _("{path} cannot be read: {error}").format(path=shown(entry.name), error=error.strerror),
            hint=_("nothing was removed; make it readable or move it away, and type the same again"),
        ) from error
    try:
        count, value = out.put_file(descriptor, entry.size)
        after = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    if (count, after.st_size, after.st_mtime_ns) != (entry.size, entry.size, entry.changed_ns):
        raise StorageError(
            _("{path} changed while it was being packed").format(path=shown(entry.name)),
            hint=_("nothing was removed; let what writes it finish, and type the same again"),
        )
    out.put(bytes(padding(entry.size)))
    return value


def _full(target: Path, error: OSError) -> StorageError:
    hint = (
        _("make room and type the same again: the shards that are whole stay, and the source is untouched")
        if atomic.is_full(error)
        else _("check the disk and its permissions; the source is untouched")
    )
    return StorageError(
        _("{path} cannot be written: {error}").format(path=target, error=error.strerror or error), hint=hint
    )
