"""One shard is written: each file read once, and known to be what the tree said of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from lastro import atomic
from lastro.errors import StorageError
from lastro.locale import _
from lastro.records import dataclass
from lastro.storage.pack.header import END, header_of, padding
from lastro.storage.pack.names import shown
from lastro.storage.pack.out import Out
from lastro.storage.pack.tree import Entry, Kind


@dataclass(frozen=True, kw_only=True)
class Written:
    """A shard that lies on the disk. `items`: offset, size and sum of each file, in order."""

    bytes: int
    sha256: str
    items: tuple[tuple[int, int, int], ...]


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
        try:
            out = Out(aside, checksum)
            try:
                items = _fill(out, source, entries, told)
                sha256 = out.finish()
            finally:
                out.close()
        except OSError as error:
            raise _full(target, error) from error
    return Written(bytes=out.position, sha256=sha256, items=items)


def _fill(
    out: Out, source: Path, entries: Sequence[Entry], told: Callable[[int], None]
) -> tuple[tuple[int, int, int], ...]:
    items = []
    folder = os.open(source, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for entry in entries:
            out.put(header_of(entry))
            if entry.kind is Kind.FILE:
                items.append((out.position, entry.size, _add(out, folder, entry)))
                told(entry.size)
    finally:
        os.close(folder)
    out.put(END)
    return tuple(items)


def _add(out: Out, folder: int, entry: Entry) -> int:
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
