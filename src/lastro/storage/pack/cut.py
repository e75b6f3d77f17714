"""Where one shard ends and the next begins: a function of the entries alone, so it is the same again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from lastro.storage.pack.header import END, header_length, padding
from lastro.storage.pack.names import split
from lastro.storage.pack.tree import Entry, Kind

#: Large enough that a disk reads it in one go, small enough to be sent again.
SHARD_BYTES = 256 * 10**6


def taken(entry: Entry) -> int:
    """Return how many bytes an entry takes in an archive."""
    return header_length(entry) + entry.size + padding(entry.size)


def cut(entries: Sequence[Entry], shard_bytes: int = SHARD_BYTES) -> list[tuple[int, int]]:
    """Return (begin, end) of each shard's entries; files of one sample are never divided.

    A shard is ended before it would pass `shard_bytes`; one that holds a single larger sample does.
    """
    shards: list[tuple[int, int]] = []
    begin, size = 0, len(END)
    for first, last, group in _groups(entries):
        if first > begin and size + group > shard_bytes:
            shards.append((begin, first))
            begin, size = first, len(END)
        size += group
        if last == len(entries):
            shards.append((begin, last))
    return shards


def _groups(entries: Sequence[Entry]) -> Iterator[tuple[int, int, int]]:
    """Yield begin, end and bytes of each run of entries of one sample."""
    begin, size, key = 0, 0, None
    for number, entry in enumerate(entries):
        here = split(entry.name)[0]
        if number and here != key:
            yield begin, number, size
            begin, size = number, 0
        key = here
        size += taken(entry)
    if entries:
        yield begin, len(entries), size


def samples(entries: Iterable[Entry]) -> Iterator[int]:
    """Yield the number of the sample that each file belongs to; links and folders have none."""
    number, before = -1, None
    for entry in entries:
        if entry.kind is Kind.FILE:
            key = split(entry.name)[0]
            number += key != before
            before = key
            yield number
