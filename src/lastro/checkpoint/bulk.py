"""Large files in slices, past the page cache where the file system can do that.

A gigabyte that goes through the page cache is copied once more by the processor that trains beside it, and
pushes out what the job has cached. And what is read again right after it was written would come from memory:
past the cache it comes from the disk.
"""

from __future__ import annotations

import errno
import fcntl
import mmap
import os
from collections.abc import Callable, Iterator
from pathlib import Path

#: Bytes of one slice: long calls that release the interpreter's lock, and few of them.
SLICE = 16 << 20
#: Direct transfers begin and end at a multiple of this, in memory and in the file.
BLOCK = 4096
_DIRECT: int = getattr(os, "O_DIRECT", 0)


def write(path: Path, memory: memoryview, heed: Callable[[memoryview], object]) -> None:
    """Write a new file out of memory that begins at a page; `heed` is given each slice as it is written.

    The bytes are durable after an fsync, like any others. Raises FileExistsError and what the disk refuses.
    """
    descriptor = _open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        whole = len(memory) // BLOCK * BLOCK
        for start in range(0, whole, SLICE):
            piece = memory[start : min(start + SLICE, whole)]
            _write_all(descriptor, piece, start)
            heed(piece)
        if whole < len(memory):
            _through_the_cache(descriptor)
            _write_all(descriptor, memory[whole:], whole)
            heed(memory[whole:])
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, piece: memoryview, start: int) -> None:
    done = 0
    while done < len(piece):
        try:
            done += os.pwrite(descriptor, piece[done:], start + done)
        except OSError as error:
            if error.errno != errno.EINVAL or not _through_the_cache(descriptor):
                raise


def from_disk(path: Path) -> Iterator[memoryview]:
    """Yield a file's bytes in slices, from the disk itself where the file system can.

    A slice is void when the next one is asked for. Where the file system cannot, what the cache holds of the
    file is dropped first, as far as the kernel heeds that.
    """
    buffer = memoryview(mmap.mmap(-1, SLICE))
    descriptor = _open(path, os.O_RDONLY)
    try:
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        offset = 0
        while count := _read(descriptor, buffer, offset):
            yield buffer[:count]
            offset += count
            if count % BLOCK:  # only the end of a file is no whole block
                _through_the_cache(descriptor)
    finally:
        os.close(descriptor)


def _read(descriptor: int, buffer: memoryview, offset: int) -> int:
    try:
        return os.preadv(descriptor, [buffer], offset)
    except OSError as error:
        if error.errno != errno.EINVAL or not _through_the_cache(descriptor):
            raise
    return os.preadv(descriptor, [buffer], offset)


class Reader:
    """Reads a file once, from its beginning to its end, into given memory; `heed` sees each byte.

    The kernel is asked for what comes next while what has come is heeded.
    """

    def __init__(self, path: Path, heed: Callable[[memoryview], object]) -> None:
        self._file = path.open("rb", buffering=0)
        self._heed = heed
        self._offset = self._asked = 0
        self.size = os.fstat(self._file.fileno()).st_size

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_error: object) -> None:
        self._file.close()

    def into(self, memory: memoryview) -> None:
        """Fill memory with the next bytes. Raises EOFError when there are not so many."""
        for start in range(0, len(memory), SLICE):
            piece = memory[start : start + SLICE]
            self._ask_ahead()
            done = 0
            while done < len(piece):
                count = self._file.readinto(piece[done:])
                if not count:
                    raise EOFError(self._offset)
                done += count
                self._offset += count
            self._heed(piece)

    def bytes(self, count: int) -> bytes:
        """Return the next bytes. Raises EOFError when there are not so many."""
        if count > self.size - self._offset:
            raise EOFError(self._offset)
        data = bytearray(count)
        self.into(memoryview(data))
        return bytes(data)

    def _ask_ahead(self) -> None:
        if self._offset + SLICE >= self._asked and hasattr(os, "posix_fadvise"):
            os.posix_fadvise(self._file.fileno(), self._asked, 2 * SLICE, os.POSIX_FADV_WILLNEED)
            self._asked += 2 * SLICE


def _open(path: Path, flags: int) -> int:
    """Open for direct transfers where that can be done."""
    try:
        return os.open(path, flags | os.O_CLOEXEC | _DIRECT, 0o644)
    except OSError as error:
        if error.errno != errno.EINVAL or not _DIRECT:
            raise
    # Some file systems make the file and then refuse: then it is there already.
    return os.open(path, (flags & ~os.O_EXCL) | os.O_CLOEXEC, 0o644)


def _through_the_cache(descriptor: int) -> bool:
    """Go on without direct transfers; False when it was so already."""
    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    if not flags & _DIRECT:
        return False
    fcntl.fcntl(descriptor, fcntl.F_SETFL, flags & ~_DIRECT)
    return True
