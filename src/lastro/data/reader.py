"""Reads items of a pack by number: one pread each, and their sum is checked. No tar is parsed."""

from __future__ import annotations

import os
import struct
import threading
from pathlib import Path

from lastro.errors import StorageError
from lastro.locale import _
from lastro.storage.pack.checksum import summer
from lastro.storage.pack.index import Index
from lastro.storage.pack.layout import ROW, PackManifest
from lastro.storage.pack.names import shown
from lastro.storage.system import forget

_PIECE = 8 << 20
#: Where a row says where its name ends, and how far before the next row that is.
_NAME_END, _AFTER_NAME_END = struct.Struct("<Q"), ROW.size - 24


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

    def read(self, number: int) -> tuple[bytes, bytes]:
        """Return name and content of a file. Few steps: an epoch takes them for each of its items.

        Raises:
            StorageError: its shard is gone or cut, or its content has another sum than the index says.
        """
        place = self._begin + number * ROW.size
        offset, size, checksum, end, shard, _sample = ROW.unpack_from(self._rows, place)
        begin = _NAME_END.unpack_from(self._rows, place - _AFTER_NAME_END)[0] if number else 0
        data = os.pread(self._descriptors[shard] or self._open(shard), size, offset)
        if len(data) != size:
            data = self._read_on(data, shard, size, offset)
        if self._sum(data) != checksum:
            raise self._damaged(number, _("its content has another sum than the index says"))
        return self._names[begin : end - 1], data

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
                descriptor = os.open(path, os.O_RDONLY)
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
