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
import queue
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

#: Bytes of one slice: long calls that release the interpreter's lock, and few of them.
SLICE = 16 << 20
#: Direct transfers begin and end at a multiple of this, in memory and in the file.
BLOCK = 4096
#: Slices that are read ahead of what is used, and the one that is.
_BUFFERS = 3
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

    Another thread reads ahead, so that the disk works while what has come is heeded and copied.
    """

    def __init__(self, path: Path, heed: Callable[[memoryview], object]) -> None:
        self._ahead = _Ahead(path)
        self._heed = heed
        self._rest = memoryview(b"")
        self.size = self._ahead.size
        self._left = self.size

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_error: object) -> None:
        self._rest = memoryview(b"")
        self._ahead.close()

    def into(self, memory: memoryview) -> None:
        """Fill memory with the next bytes. Raises EOFError when there are not so many."""
        done = 0
        while done < len(memory):
            if not self._rest:
                self._rest = self._ahead.next()
                if not self._rest:
                    raise EOFError(self.size - self._left)
                self._heed(self._rest)
            count = min(len(self._rest), len(memory) - done)
            memory[done : done + count] = self._rest[:count]
            self._rest = self._rest[count:]
            self._left -= count
            done += count

    def bytes(self, count: int) -> bytes:
        """Return the next bytes. Raises EOFError when there are not so many."""
        if count > self._left:
            raise EOFError(self.size - self._left)
        data = bytearray(count)
        self.into(memoryview(data))
        return bytes(data)


class _Ahead:
    """Reads a file in slices on a thread of its own, a few ahead; past the page cache if it is not there."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb", buffering=0)
        self.size = os.fstat(self._file.fileno()).st_size
        self._direct = -1 if _is_cached(self._file.fileno(), self.size) else _open(path, os.O_RDONLY)
        length = min(SLICE, max(BLOCK, -(-self.size // BLOCK) * BLOCK))
        self._free: queue.SimpleQueue[memoryview | None] = queue.SimpleQueue()
        for _buffer in range(min(_BUFFERS, max(1, -(-self.size // SLICE)))):
            self._free.put(memoryview(mmap.mmap(-1, length)))
        self._full: queue.SimpleQueue[tuple[memoryview, int] | OSError] = queue.SimpleQueue()
        self._given: memoryview | None = None
        self._ended = False
        self._thread = threading.Thread(target=self._read, daemon=True, name="lastro-read")
        self._thread.start()

    def next(self) -> memoryview:
        """Return the next slice, empty at the end; the one before is void then. Raises what the disk says."""
        if self._given is not None:
            self._free.put(self._given)
            self._given = None
        if self._ended:
            return memoryview(b"")
        told = self._full.get()
        if isinstance(told, OSError):
            self._ended = True
            raise told
        self._given, count = told
        self._ended = count == 0
        return self._given[:count]

    def close(self) -> None:
        self._free.put(None)
        self._thread.join()
        self._file.close()
        if self._direct >= 0:
            os.close(self._direct)

    def _read(self) -> None:
        descriptor = self._direct if self._direct >= 0 else self._file.fileno()
        offset = 0
        try:
            while (buffer := self._free.get()) is not None:
                count = _read(descriptor, buffer, offset)
                self._full.put((buffer, count))
                if not count:
                    return
                offset += count
                if count % BLOCK:  # only the end of a file is no whole block
                    _through_the_cache(descriptor)
        except OSError as error:
            self._full.put(error)


def _is_cached(descriptor: int, size: int) -> bool:
    """Tell whether a file seems to lie in the page cache: its beginning, its middle and its end do."""
    flag = getattr(os, "RWF_NOWAIT", None)
    if flag is None:
        return False
    byte = bytearray(1)
    try:
        return all(os.preadv(descriptor, [byte], at, flag) for at in (0, size // 2, size - 1) if at < size)
    except OSError:
        return False


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
