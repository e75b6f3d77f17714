"""What is new in a campaign's folder since the last look: appended lines, and small rewritten files.

Large files (checkpoints, outputs, code) are no part of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: Files that only grow; of all others the whole is told when it has changed.
_GROWING = (".jsonl", ".txt", ".log")
#: A rewritten file that is larger is none of ours.
_LARGEST = 1 << 20
#: What of each folder of a run is looked at: folders below it, and files by name.
_OF_RUN = ("supervisor.beat", "supervisor.log", "stop.json")
_INDEX = "items.jsonl"
#: What of an open shell is looked at: which machine it holds, and whether it is there.
_OF_SHELL = ("order.json", "sign")


@dataclass
class News:
    """What a look has found: where each piece belongs, and all pieces one after the other."""

    files: list[dict[str, Any]] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    body: bytes = b""
    more: bool = False


class Looker:
    """Looks at one campaign again and again.

    Args:
        root: the campaign's folder.
        mine: names of the streams that home writes itself.
        known: what home has of each file already: its size, and whether it may have been rewritten since.
    """

    def __init__(self, root: Path, mine: list[str], known: Mapping[str, int]) -> None:
        self._root = root
        self._mine = {f"{name}.jsonl" for name in mine}
        self._known: dict[str, tuple[int, int | None]] = {name: (size, None) for name, size in known.items()}

    def look(self, most: int) -> News:
        """Return what is new, of it at most about `most` bytes; the rest is for the next look."""
        news = News()
        pieces: list[bytes] = []
        room = most
        seen = set()
        for name, path in self._files():
            seen.add(name)
            if room <= 0:
                news.more = True
                continue
            piece = self._piece(name, path, room)
            if piece is not None:
                told, data = piece
                news.files.append(told)
                pieces.append(data)
                room -= len(data)
                news.more |= bool(told["more"])
        for name in self._known.keys() - seen:
            del self._known[name]
            news.gone.append(name)
        news.body = b"".join(pieces)
        return news

    def _piece(self, name: str, path: str, room: int) -> tuple[dict[str, Any], bytes] | None:
        try:
            stat = os.stat(path)  # noqa: PTH116 - asked for each file at every look
            size, changed = self._known.get(name, (0, None))
            if (stat.st_size, stat.st_mtime_ns) == (size, changed):
                return None
            growing = name.endswith(_GROWING)
            offset = size if growing and stat.st_size >= size else 0
            if growing and changed is None and offset == stat.st_size and offset:
                self._known[name] = (stat.st_size, stat.st_mtime_ns)
                return None
            with open(path, "rb") as file:  # noqa: PTH123 - as above
                file.seek(offset)
                data = file.read(min(room, stat.st_size - offset) if growing else _LARGEST)
        except OSError:
            return None  # gone between the look and the reading; the next look tells
        more = growing and offset + len(data) < stat.st_size
        self._known[name] = (offset + len(data), None if more else stat.st_mtime_ns)
        return {"path": name, "offset": offset, "length": len(data), "more": more}, data

    def _files(self) -> Iterator[tuple[str, str]]:
        root = str(self._root)
        for name in _names(f"{root}/journal"):
            if name.endswith(".jsonl") and name not in self._mine:
                yield f"journal/{name}", f"{root}/journal/{name}"
        yield from _in(root, "owners")
        for name in ("plan.json", "campaign.yaml", "lastro.lock"):
            if os.path.exists(f"{root}/{name}"):  # noqa: PTH110
                yield name, f"{root}/{name}"
        for shell in _names(f"{root}/shells"):
            for name in _OF_SHELL:
                if os.path.exists(f"{root}/shells/{shell}/{name}"):  # noqa: PTH110
                    yield f"shells/{shell}/{name}", f"{root}/shells/{shell}/{name}"
        for run in _names(f"{root}/runs"):
            yield from self._of_run(f"runs/{run}")

    def _of_run(self, run: str) -> Iterator[tuple[str, str]]:
        root = str(self._root)
        for name in _names(f"{root}/{run}"):
            if name in _OF_RUN:
                yield f"{run}/{name}", f"{root}/{run}/{name}"
        for folder in ("seats", "claims", "setup"):
            yield from _in(root, f"{run}/{folder}")
        for number in _names(f"{root}/{run}/attempts"):
            yield from _in(root, f"{run}/attempts/{number}")
        if os.path.exists(f"{root}/{run}/outputs/{_INDEX}"):  # noqa: PTH110
            yield f"{run}/outputs/{_INDEX}", f"{root}/{run}/outputs/{_INDEX}"


def _names(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if not name.startswith("."))  # noqa: PTH208
    except OSError:
        return []


def _in(root: str, folder: str) -> Iterator[tuple[str, str]]:
    for name in _names(f"{root}/{folder}"):
        path = f"{root}/{folder}/{name}"
        if os.path.isfile(path):  # noqa: PTH113
            yield f"{folder}/{name}", path
