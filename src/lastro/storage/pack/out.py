"""An archive as it grows: hashed while it is in the processor's own memory, and written past the system's.

The system's copy of what is written costs more than all else in packing, and nobody reads a shard before it
was verified from the disk. Where a file system does not take direct writes they go the usual way.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import mmap
import os
from pathlib import Path

from lastro.storage.pack.checksum import Running, summer

#: Written in pieces of so much: a direct write waits for the disk each time.
_BUFFER = 4 << 20
#: Direct writes begin and end at multiples of this.
_ALIGN = 4096


class Out:
    """A new file that takes content in order, and knows its own SHA-256 and the sums of its items."""

    def __init__(self, path: Path, checksum: str) -> None:
        """Open it. Raises OSError, as all methods do."""
        self._direct = getattr(os, "O_DIRECT", 0)
        self._descriptor = self._open(path)
        self._checksum, self._sum = checksum, summer(checksum)
        self._view = memoryview(mmap.mmap(-1, _BUFFER))  # which begins at a page
        self._used, self._hashed, self._before = 0, 0, 0
        self._sha256 = hashlib.sha256()

    def _open(self, path: Path) -> int:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        try:
            return os.open(path, flags | self._direct, 0o644)
        except OSError as error:
            if error.errno != errno.EINVAL or not self._direct:
                raise
        self._direct = 0
        path.unlink(missing_ok=True)  # some file systems make it before they refuse
        return os.open(path, flags, 0o644)

    @property
    def position(self) -> int:
        """How many bytes the archive has so far."""
        return self._before + self._used

    def put(self, data: bytes) -> None:
        """Add a few bytes."""
        if self._used + len(data) > _BUFFER:
            self._flush()
        self._view[self._used : self._used + len(data)] = data
        self._used += len(data)

    def put_file(self, descriptor: int, size: int) -> tuple[int, int]:
        """Add the content of a file; return how much there was of it, and its sum."""
        if size > _BUFFER - self._used:
            self._flush()
        if size > _BUFFER - self._used:
            return self._put_large(descriptor, size)
        target = self._view[self._used : self._used + size]
        count = os.readv(descriptor, [target]) if size else 0
        while 0 < count < size and (got := os.readv(descriptor, [target[count:]])):
            count += got
        self._used += count
        value = self._sum(target)
        self._hash()
        return count, value

    def _put_large(self, descriptor: int, size: int) -> tuple[int, int]:
        running, count = Running(self._checksum), 0
        while count < size:
            room = self._view[self._used : self._used + min(_BUFFER - self._used, size - count)]
            got = os.readv(descriptor, [room])
            if not got:
                break
            running.update(room[:got])
            self._used += got
            count += got
            if self._used == _BUFFER:
                self._flush()
        return count, running.value()

    def finish(self) -> str:
        """Write what is left, and return the SHA-256 of all."""
        self._flush()
        if self._used:
            self._write_usually()
            self._write(self._view[: self._used])
            self._before, self._used = self.position, 0
        return self._sha256.hexdigest()

    def close(self) -> None:
        """Close it, finished or not."""
        os.close(self._descriptor)

    def _hash(self) -> None:
        self._sha256.update(self._view[self._hashed : self._used])
        self._hashed = self._used

    def _flush(self) -> None:
        """Write what fills whole blocks; the rest moves to the front."""
        self._hash()
        whole = self._used - self._used % _ALIGN
        self._write(self._view[:whole])
        rest = self._used - whole
        self._view[:rest] = bytes(self._view[whole : self._used])
        self._before += whole
        self._used = self._hashed = rest

    def _write(self, piece: memoryview) -> None:
        while piece:
            try:
                piece = piece[os.write(self._descriptor, piece) :]
            except OSError as error:
                if error.errno != errno.EINVAL or not self._direct:
                    raise
                self._write_usually()

    def _write_usually(self) -> None:
        """Take the way through the system's memory from here on."""
        flags = fcntl.fcntl(self._descriptor, fcntl.F_GETFL)
        fcntl.fcntl(self._descriptor, fcntl.F_SETFL, flags & ~self._direct)
        self._direct = 0
