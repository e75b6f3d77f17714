"""The source of a pack is removed: each file only after it was read again and equals what was packed."""

from __future__ import annotations

import os
import stat
import tarfile
from collections.abc import Iterator
from pathlib import Path

from lastro.records import dataclass
from lastro.storage.pack.checksum import Running
from lastro.storage.pack.index import Index
from lastro.storage.pack.layout import PackManifest
from lastro.storage.pack.names import shown

_PIECE = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Removed:
    """What became of a source. `kept`: names of what stays, because it is not what the pack holds."""

    files: int
    bytes: int
    kept: tuple[str, ...]


def remove_source(source: Path, folder: Path) -> Removed:
    """Remove the files of a source that a verified pack holds to the byte, and folders that are then empty.

    What came or changed after the pack was made stays, and so does what was left out of it.

    Raises:
        StorageError: the pack has no manifest, or its index cannot be read.
    """
    manifest = PackManifest.read(folder)
    index = Index(folder, manifest)
    root, count, size = os.fsencode(source), 0, 0
    for number in range(len(index)):
        name, row = index.name(number), index.row(number)
        path = os.path.join(root, name)
        if _sum_of(path, row.size, manifest.checksum) == row.checksum:
            os.unlink(path)
            count, size = count + 1, size + row.size
    for name, target in _links(folder, manifest):
        path = os.path.join(root, name)
        if os.path.islink(path) and os.readlink(path) == target:
            os.unlink(path)
    return Removed(files=count, bytes=size, kept=tuple(_rest(root)))


def _links(folder: Path, manifest: PackManifest) -> Iterator[tuple[bytes, bytes]]:
    """Yield name and target of each link in the shards; the index tells of files only."""
    for sealed in manifest.shards if manifest.links else ():
        with tarfile.open(folder / sealed.name, "r:", encoding="utf-8", errors="surrogateescape") as tar:
            yield from ((os.fsencode(one.name), os.fsencode(one.linkname)) for one in tar if one.issym())


def _sum_of(path: bytes, size: int, checksum: str) -> int | None:
    """Return the sum of a file; None where it is gone, is no file, or has another size."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size != size:
            return None
        running = Running(checksum)
        while piece := os.read(descriptor, _PIECE):
            running.update(piece)
        return running.value()
    finally:
        os.close(descriptor)


def _rest(root: bytes) -> list[str]:
    """Remove folders that hold nothing but folders; return the names of what else they hold."""
    left = []
    for folder, folders, files in os.walk(root, topdown=False):
        names = files + [name for name in folders if os.path.islink(os.path.join(folder, name))]
        left += [shown(os.path.relpath(os.path.join(folder, name), root)) for name in names]
        try:
            os.rmdir(folder)
        except OSError:  # it holds what stays
            continue
    return left
