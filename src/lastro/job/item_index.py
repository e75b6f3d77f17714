"""`items.jsonl`: one line for each published item. What stands in it is done, and is never done again.

A line is `{"id", "items", "path", "bytes", "sha256"}`: `items` is the name template that the item was made
by, `path` relative to the outputs; the digest of an item that is a folder is the SHA-256 over the sorted
sums of its files, as `sha256sum` prints them. The last line of an item counts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath

from lastro import atomic, strictjson
from lastro.journal.signals import LineWriter
from lastro.locale import _
from lastro.records import dataclass


@dataclass(frozen=True)
class Published:
    """One line of the index."""

    id: str
    items: str
    path: str
    bytes: int
    sha256: str


class ItemIndex:
    """The index of one run, with what it says. Made by `open_index`.

    `size`: bytes of the index that are known.
    """

    def __init__(self, path: Path, published: Iterable[Published], size: int) -> None:
        self._lines = LineWriter(path)
        self._done = {(line.items, line.id): line for line in published}
        self.size = size

    def __len__(self) -> int:
        return len(self._done)

    def find(self, items: str, item: str) -> Published | None:
        """Return the line of an item that was made by the template `items`; None when there is none."""
        return self._done.get((items, item))

    def paths(self) -> Iterable[str]:
        return (line.path for line in self._done.values())

    def of(self, items: str) -> Iterable[Published]:
        """Return the items that were made by the template `items`, in the order of their first lines."""
        return (line for line in self._done.values() if line.items == items)

    def count_of_others(self, items: str) -> int:
        """Return how many items were made by other templates."""
        return sum(line.items != items for line in self._done.values())

    def append(self, lines: Iterable[Published]) -> None:
        """Add lines, by one write and one fsync for all of them."""
        added = tuple(lines)
        text = "".join(strictjson.dumps(vars(line)) + "\n" for line in added).encode()
        self._lines.write(text)
        self._lines.sync()
        self.size += len(text)
        self._done.update(((line.items, line.id), line) for line in added)


def open_index(path: Path, mine: Callable[[], bool], tell: Callable[[str], None]) -> ItemIndex:
    """Open a run's index, which need not be there yet, for reading and appending.

    A torn last line was never acknowledged and is cut off. A line that cannot be read is told, and its item
    is done again.

    Args:
        path: the index.
        mine: whether the run still belongs to this attempt: only then may anything be cut.
        tell: what people are told.
    """
    atomic.make_folder(path.parent)
    data = path.read_bytes() if path.exists() else b""
    whole = data.rfind(b"\n") + 1
    if whole < len(data) and mine():
        tell(
            _("{path}: a torn last line of {count} bytes is cut off").format(
                path=path, count=len(data) - whole
            )
        )
        os.truncate(path, whole)
    lines = [_read(line) for line in data[:whole].split(b"\n")[:-1]]
    damaged = lines.count(None)
    if damaged:
        tell(
            _("{path}: {count} lines cannot be read; their items are done again").format(
                path=path, count=damaged
            )
        )
    index = ItemIndex(path, (line for line in lines if line is not None), whole)
    if not data:
        atomic.sync_folder(path.parent)
    return index


def _read(line: bytes) -> Published | None:
    try:
        found = Published(**strictjson.loads(line))
    except (ValueError, TypeError):
        return None
    texts = (found.id, found.items, found.path, found.sha256)
    if any(type(text) is not str for text in texts) or type(found.bytes) is not int:
        return None
    path = PurePosixPath(found.path)
    return None if path.is_absolute() or ".." in path.parts else found


def has_items(path: Path, items: str) -> bool:
    """Tell whether an index has a line of the template `items`."""
    try:
        return f'"items":{strictjson.dumps(items)},'.encode() in path.read_bytes()
    except FileNotFoundError:
        return False


def count_lines(path: Path, start: int = 0, end: int | None = None) -> tuple[int, int]:
    """Return how many whole lines an index has between two offsets, and where the last of them ends."""
    try:
        with path.open("rb") as file:
            file.seek(start)
            data = file.read() if end is None else file.read(max(0, end - start))
    except FileNotFoundError:
        return 0, start
    return data.count(b"\n"), start + data.rfind(b"\n") + 1
