"""What a disk may hold after a power cut, computed from the system calls that a process made.

The model is strict: data is there for certain only after fsync of its file, a name only after fsync of its
folder; until then each write and each change of a name may have reached the disk or not, a write also in
part. Real file systems keep more; nothing may depend on it.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

CALLS = (
    "openat,creat,write,pwrite64,ftruncate,truncate,rename,renameat,renameat2,link,linkat,unlink,unlinkat,"
    "mkdir,mkdirat,rmdir,fsync,fdatasync,syncfs,close"
)
TRACER = ("strace", "-qq", "-xx", "-y", "-s", "1000000", "-e", f"trace={CALLS}")

_LINE = re.compile(r"(\w+)\((.*)\)\s*=\s*(-?\d+)")
_STRING = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
_DESCRIPTOR = re.compile(r"(\d+|AT_FDCWD)<((?:\\x[0-9a-f]{2}|[^>])*)>")


@dataclass(frozen=True)
class Call:
    """One successful system call. `paths`: absolute; `descriptor`: its first one, or the one it returned."""

    name: str
    paths: tuple[str, ...]
    data: bytes
    descriptor: int | None
    flags: str
    numbers: tuple[int, ...]


def _bytes(text: str) -> bytes:
    return bytes.fromhex(text.replace("\\x", "")) if "\\x" in text else text.encode()


def parse_calls(trace: str) -> Iterator[Call]:
    """Read what the tracer wrote, failed calls left out."""
    for line in trace.splitlines():
        match = _LINE.search(line)
        if not match or int(match[3]) < 0:
            continue
        name, arguments, result = match[1], match[2], int(match[3])
        strings = [_bytes(text) for text in _STRING.findall(arguments)]
        bases = [(number, os.fsdecode(_bytes(path))) for number, path in _DESCRIPTOR.findall(arguments)]
        first = int(bases[0][0]) if bases and bases[0][0].isdigit() else None
        data = strings[0] if name in ("write", "pwrite64") and strings else b""
        names = [] if data or name in ("write", "pwrite64") else [os.fsdecode(text) for text in strings]
        folders = [path for _number, path in bases] or [""]
        paths = tuple(
            os.path.normpath(os.path.join(folders[min(index, len(folders) - 1)], text))  # noqa: PTH118
            for index, text in enumerate(names)
        )
        rest = _STRING.sub("", _DESCRIPTOR.sub("", arguments))
        numbers = tuple(int(number) for number in re.findall(r"\b\d+\b", rest))
        yield Call(name, paths, data, result if name in ("openat", "creat") else first, rest, numbers)


@dataclass
class Node:
    """A file or a folder: what is certain of it, and what is not yet."""

    is_folder: bool
    data: bytes = b""
    length: int = 0
    writes: list[tuple[int, bytes]] = field(default_factory=list)
    entries: dict[str, Node] = field(default_factory=dict)
    certain: dict[str, Node] = field(default_factory=dict)
    changes: list[tuple[str, str, Node | None]] = field(default_factory=list)

    def content(self, writes: list[tuple[int, bytes]]) -> bytes:
        whole = bytearray(self.data)
        for offset, piece in writes:
            whole.extend(b"\0" * max(0, offset + len(piece) - len(whole)))
            whole[offset : offset + len(piece)] = piece
        return bytes(whole)

    def sync(self) -> None:
        self.data, self.writes = self.content(self.writes), []
        self.certain, self.changes = dict(self.entries), []

    def sync_all(self) -> None:
        """Make everything certain: `syncfs`."""
        self.sync()
        for node in self.entries.values():
            node.sync_all()

    def change(self, old: str, new: str, node: Node | None) -> None:
        """Take a name away (`old`) and give one (`new`), as one change; either may be empty."""
        self.entries.pop(old, None)
        if new and node is not None:
            self.entries[new] = node
        self.changes.append((old, new, node))


class Disk:
    """The part of a disk below `root`, as its calls change it."""

    def __init__(self, root: str) -> None:
        self.root_path, self.root = root, Node(is_folder=True)
        self.open: dict[int, tuple[Node, int]] = {}

    def _find(self, path: str) -> tuple[Node, str] | None:
        """Return the folder of a path and the name in it; None for what lies elsewhere."""
        relative = os.path.relpath(path, self.root_path)
        if relative.startswith("..") or relative == ".":
            return None
        node = self.root
        *folders, name = relative.split("/")
        for folder in folders:
            node = node.entries[folder]
        return node, name

    def apply(self, call: Call) -> None:
        """Let one call happen."""
        place = self._find(call.paths[0]) if call.paths else None
        if call.name == "syncfs":
            self.root.sync_all()
        elif call.name in ("write", "pwrite64", "ftruncate", "fsync", "fdatasync", "close"):
            self._apply_open(call)
        elif call.name in ("openat", "creat"):
            self._apply_openat(call, place)
        elif place is None:
            return
        elif call.name in ("mkdir", "mkdirat"):
            place[0].change("", place[1], Node(is_folder=True))
        elif call.name in ("unlink", "unlinkat", "rmdir"):
            place[0].change(place[1], "", None)
        elif call.name == "truncate":
            node = place[0].entries[place[1]]
            node.sync()
            node.data = node.data[: call.numbers[0]]
        else:
            target = self._find(call.paths[1])
            assert target is not None and target[0] is place[0], "names change within one folder"
            old = "" if call.name.startswith("link") else place[1]
            place[0].change(old, target[1], place[0].entries[place[1]])

    def _apply_open(self, call: Call) -> None:
        opened = self.open.get(call.descriptor if call.descriptor is not None else -1)
        if opened is None:
            return
        node, offset = opened
        assert call.descriptor is not None
        if call.name == "close":
            del self.open[call.descriptor]
        elif call.name in ("fsync", "fdatasync"):
            node.sync()
        elif call.name == "write":
            offset = node.length if offset < 0 else offset
            node.writes.append((offset, call.data))
            node.length = max(node.length, offset + len(call.data))
            self.open[call.descriptor] = (node, offset + len(call.data) if opened[1] >= 0 else -1)
        elif call.name == "pwrite64":
            node.writes.append((call.numbers[-1], call.data))

    def _apply_openat(self, call: Call, place: tuple[Node, str] | None) -> None:
        assert call.descriptor is not None
        self.open.pop(call.descriptor, None)
        at_root = bool(call.paths) and call.paths[0] == self.root_path
        if place is None and not at_root:
            return
        if at_root or place is None:
            self.open[call.descriptor] = (self.root, 0)
            return
        folder, name = place
        if name not in folder.entries:
            assert "O_CREAT" in call.flags, call
            folder.change("", name, Node(is_folder=False))
        self.open[call.descriptor] = (folder.entries[name], -1 if "O_APPEND" in call.flags else 0)

    def image(self, target: Path, draw: random.Random | None, share: float) -> None:
        """Write one disk that a power cut now may leave.

        Args:
            target: an empty folder.
            draw: chooses what of the uncertain has happened; None: the same for all of it.
            share: how much of it; 0.0 nothing, 1.0 all.
        """
        _write(self.root, target, draw, share)


def _happened(draw: random.Random | None, share: float) -> bool:
    return share >= 1.0 if draw is None else draw.random() < share


def _write(node: Node, target: Path, draw: random.Random | None, share: float) -> None:
    entries = dict(node.certain)
    for old, new, moved in node.changes:
        if _happened(draw, share):
            entries.pop(old, None)
            if new and moved is not None:
                entries[new] = moved
    for name, entry in entries.items():
        path = target / name
        if entry.is_folder:
            path.mkdir()
            _write(entry, path, draw, share)
        else:
            writes = []
            for offset, piece in entry.writes:
                if _happened(draw, share):
                    cut = len(piece) if draw is None else draw.randint(0, len(piece))
                    writes.append((offset, piece[:cut]))
            path.write_bytes(entry.content(writes))
