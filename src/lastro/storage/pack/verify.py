"""A pack is read again, every byte of it, and compared with its manifest and its index."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lastro.errors import StorageError
from lastro.locale import _
from lastro.records import dataclass
from lastro.storage.digest import sha256_file
from lastro.storage.pack.checksum import Running, summer
from lastro.storage.pack.index import Index
from lastro.storage.pack.layout import PackManifest, Row, Sealed
from lastro.storage.pack.names import shown
from lastro.storage.system import forget

_PIECE = 8 << 20


@dataclass(frozen=True, kw_only=True)
class Verified:
    """What a verification found. `wrong`: a sentence for each difference; none of them: the pack is whole."""

    manifest: PackManifest
    wrong: tuple[str, ...]


def verify_pack(
    folder: Path, *, workers: int = 1, told: Callable[[int], None] = lambda _count: None
) -> Verified:
    """Read a pack again.

    Args:
        folder: where it lies.
        workers: how many shards are read at once.
        told: gets the size of each shard that was read; called by several threads.

    Raises:
        StorageError: it has no manifest, its index does not fit, or a file of it cannot be read.
    """
    manifest = PackManifest.read(folder)
    wrong = [sentence for one in (manifest.index, manifest.names) for sentence in _whole(folder, one)]
    if wrong:
        return Verified(manifest=manifest, wrong=tuple(wrong))
    index = Index(folder, manifest)
    parts = _parts(index, len(manifest.shards))

    def check(number: int) -> list[str]:
        sealed = manifest.shards[number]
        found = list(_shard(folder, sealed, manifest.checksum, index, parts[number]))
        told(sealed.bytes)
        return found

    with ThreadPoolExecutor(max_workers=max(workers, 1)) as pool:
        for found in pool.map(check, range(len(manifest.shards))):
            wrong += found
    return Verified(manifest=manifest, wrong=tuple(wrong))


def damaged(folder: Path, wrong: tuple[str, ...]) -> StorageError:
    """Return the error for a pack that is not whole."""
    return StorageError(
        _("{folder} is not whole: {first} ({count} differences in all)").format(
            folder=folder, first=wrong[0], count=len(wrong)
        ),
        hint=_("restore it from a copy, or pack again; whoever holds the source must not remove it"),
    )


def _whole(folder: Path, sealed: Sealed) -> Iterator[str]:
    try:
        found = sha256_file(folder / sealed.name)
    except FileNotFoundError:
        yield _("{name} is not there").format(name=sealed.name)
        return
    if found != sealed.sha256:
        yield _("{name} has other bytes than the manifest says").format(name=sealed.name)


def _parts(index: Index, shards: int) -> list[range]:
    """Return the numbers of the files in each shard. Rows lie in the order of the shards."""
    parts, begin = [], 0
    for shard in range(shards):
        low, high = begin, len(index)
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if index.row(middle).shard <= shard else (low, middle)
        parts.append(range(begin, low))
        begin = low
    return parts


def _shard(folder: Path, sealed: Sealed, checksum: str, index: Index, files: range) -> Iterator[str]:
    try:
        descriptor = os.open(folder / sealed.name, os.O_RDONLY)
    except FileNotFoundError:
        yield _("{name} is not there").format(name=sealed.name)
        return
    try:
        # What the system holds in memory is no proof of what lies on the disk.
        forget(descriptor)
        if _sha256(descriptor) != sealed.sha256:
            yield _("{name} has other bytes than the manifest says").format(name=sealed.name)
        for number in files:
            row = index.row(number)
            name = index.name(number)
            if sum_at(descriptor, row, checksum) != row.checksum or not _headed(descriptor, row, name):
                yield _("{name} in {shard} is not what the index says").format(
                    name=shown(name), shard=sealed.name
                )
    finally:
        os.close(descriptor)


def _sha256(descriptor: int) -> str:
    digest = hashlib.sha256()
    view = memoryview(bytearray(_PIECE))
    while count := os.readv(descriptor, [view]):
        digest.update(view[:count])
    return digest.hexdigest()


def sum_at(descriptor: int, row: Row, checksum: str) -> int:
    """Return the sum of an item's content as it lies in its shard now."""
    if row.size <= _PIECE:
        return summer(checksum)(os.pread(descriptor, row.size, row.offset))
    running = Running(checksum)
    for begin in range(0, row.size, _PIECE):
        running.update(os.pread(descriptor, min(_PIECE, row.size - begin), row.offset + begin))
    return running.value()


def _headed(descriptor: int, row: Row, name: bytes) -> bool:
    """Say whether the block before the content is that of a file with this name, as far as it holds it."""
    block = os.pread(descriptor, 512, row.offset - 512)
    short = block[:100].rstrip(b"\0")
    prefix = block[345:500].rstrip(b"\0")
    told = prefix + b"/" + short if prefix else short
    plain = name.isascii() and len(name) <= 100
    return block[257:262] == b"ustar" and (told == name or not plain)
