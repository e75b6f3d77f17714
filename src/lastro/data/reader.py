"""Reads items of a pack by number: one pread each, and their sum is checked. No tar is parsed.

While reads come from the disk it is told of a whole batch before the first of it is waited for.
"""

from __future__ import annotations

import errno
import os
import resource
import struct
import threading
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from lastro.data.warmth import Warmth
from lastro.errors import StorageError
from lastro.locale import _
from lastro.storage.pack.checksum import summer
from lastro.storage.pack.index import Index
from lastro.storage.pack.layout import ROW, PackManifest
from lastro.storage.pack.names import shown
from lastro.storage.system import ask_for, forget

_PIECE = 8 << 20
#: Where the name of the file before ends, and then a row: what has to be known of one file, in one go.
_PLACE = struct.Struct("<QII" + ROW.format.removeprefix("<"))
_BEFORE = _PLACE.size - ROW.size
_OFFSET, _SIZE, _SHARD = 3, 4, 7
#: Of so many batches that are asked for ahead, one begins with a read that is not, and is timed.
_TIMED = 8


class Reader:
    """The open files of a pack in one process. Threads may share it; a process that was forked may not."""

    def __init__(self, folder: Path, manifest: PackManifest) -> None:
        """Map the index. Raises StorageError when it is not that of the manifest."""
        self.process = os.getpid()
        self._folder, self._manifest = folder, manifest
        self.index = Index(folder, manifest)
        self._rows, self._begin = self.index.mapped, self.index.data_offset
        self._names = self.index.names
        self._sum = summer(manifest.checksum)
        self._descriptors: list[int | None] = [None] * len(manifest.shards)
        self._opening = threading.Lock()
        self._warmth, self._turn, self._asked = Warmth(), 0, -1

    def read(self, number: int) -> tuple[bytes, bytes]:
        """Return name and content of a file. Raises as `read_many`."""
        return self.read_many((number,))[0]

    def read_many(self, numbers: Sequence[int]) -> list[tuple[bytes, bytes]]:
        """Return name and content of each of these files. Few steps: an epoch takes them for all its items.

        The first one is timed, unless it was asked for: that says whether the disk is told of the others.

        Raises:
            StorageError: a shard is gone or cut, or content has another sum than the index says.
        """
        places = self._places(numbers)
        if not self._warmth.warm and len(places) > 1:
            self._ask_for(places[1:])
        names, descriptors, check = self._names, self._descriptors, self._sum
        found: list[tuple[bytes, bytes]] = []
        began = time.perf_counter()
        for number, place in zip(numbers, places, strict=True):
            begin, _shard, _sample, offset, size, checksum, end, shard, _sample = place
            data = os.pread(descriptors[shard] or self._open(shard), size, offset)
            if len(data) != size:
                data = self._read_on(data, shard, size, offset)
            if not found and number != self._asked:
                self._warmth.took(time.perf_counter() - began, size)
            if check(data) != checksum:
                raise self._damaged(number, _("its content has another sum than the index says"))
            found.append((names[begin if number else 0 : end - 1], data))
        return found

    def expect(self, numbers: Sequence[int]) -> None:
        """Tell the disk that these files are going to be read together, where that saves waiting."""
        if self._warmth.warm:
            return
        self._turn += 1
        left_out = self._turn % _TIMED == 0
        places = self._places(numbers)
        self._asked = -1 if left_out or not places else numbers[0]
        self._ask_for(places[left_out:])

    def _places(self, numbers: Sequence[int]) -> list[tuple[int, ...]]:
        """Return rows of `_PLACE`: where the name before ends, and what the index says of each file.

        Before the first row stands the header, so what is told of a name before it means nothing.
        """
        unpack, rows, begin, step = _PLACE.unpack_from, self._rows, self._begin - _BEFORE, ROW.size
        return [unpack(rows, begin + number * step) for number in numbers]

    def _ask_for(self, places: Iterable[tuple[int, ...]]) -> None:
        for place in places:
            ask_for(self._file(place[_SHARD]), place[_OFFSET], place[_SIZE])

    def _read_on(self, data: bytes, shard: int, size: int, offset: int) -> bytes:
        """Read what one call did not give: it stops at 2 GiB."""
        parts, count = [data], len(data)
        while count < size and (part := os.pread(self._file(shard), size - count, offset + count)):
            parts.append(part)
            count += len(part)
        return b"".join(parts)

    def touch(self, begin: int, end: int) -> None:
        """Read the files from one number to another in large pieces, so that the system holds them."""
        number = begin
        while number < end:
            first = self.index.row(number)
            last = number
            while last + 1 < end and self.index.row(last + 1).shard == first.shard:
                last += 1
            final = self.index.row(last)
            for offset in range(first.offset, final.offset + final.size, _PIECE):
                os.pread(self._file(first.shard), min(_PIECE, final.offset + final.size - offset), offset)
            number = last + 1

    def forget(self, begin: int, end: int) -> None:
        """Let the system drop the shards of these files, so that the next read comes from the disk."""
        for shard in {self.index.row(number).shard for number in range(begin, end)}:
            forget(self._file(shard))

    def _file(self, shard: int) -> int:
        return self._descriptors[shard] or self._open(shard)

    def _open(self, shard: int) -> int:
        with self._opening:
            known = self._descriptors[shard]
            if known is not None:
                return known
            sealed = self._manifest.shards[shard]
            path = self._folder / sealed.name
            try:
                descriptor = _open(path)
            except OSError as error:
                raise StorageError(
                    _("{path} cannot be read: {error}").format(path=path, error=error.strerror),
                    hint=_(
                        "check that the disk is attached; `lastro disk unpack --verify` reads the whole pack"
                    ),
                ) from error
            size = os.fstat(descriptor).st_size
            if size != sealed.bytes:
                os.close(descriptor)
                raise StorageError(
                    _("{path} has {found} bytes, and its manifest says {size}").format(
                        path=path, found=size, size=sealed.bytes
                    ),
                    hint=_("it was cut, or belongs to another pack; restore it from a copy"),
                )
            self._descriptors[shard] = descriptor
            return descriptor

    def _damaged(self, number: int, why: str) -> StorageError:
        name = shown(self.index.name(number))
        return StorageError(
            _("{name} in {folder} is damaged: {why}").format(name=name, folder=self._folder, why=why),
            hint=_("`lastro disk unpack --verify` tells what else is; restore the shard from a copy"),
        )

    def close(self) -> None:
        """Close all files."""
        for descriptor in self._descriptors:
            if descriptor is not None:
                os.close(descriptor)
        self._descriptors = [None] * len(self._descriptors)

    def __del__(self) -> None:
        if getattr(self, "_descriptors", None) and self.process == os.getpid():
            self.close()


def _open(path: Path) -> int:
    """Open a shard; a pack may have more of them than a process may hold open without asking for it."""
    try:
        return os.open(path, os.O_RDONLY)
    except OSError as error:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if error.errno != errno.EMFILE or soft == hard:
            raise
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        return os.open(path, os.O_RDONLY)
