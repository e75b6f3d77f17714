"""Finds what of value lies where it would be lost: scan, kinds, and everything that is lost for nobody."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from lastro.disk.guard import again, git, kinds
from lastro.disk.guard.copies import Copies
from lastro.disk.guard.held_open import held_open
from lastro.disk.guard.kinds import Kind, Tier
from lastro.disk.guard.packages import Packages
from lastro.disk.guard.places import programs_own
from lastro.disk.guard.scan import Candidate, Scanned, scan
from lastro.locale import _
from lastro.paths import Disk
from lastro.records import dataclass

#: A removed file of a weak kind that a process still holds is mostly its own scratch; not when it is large.
_REMOVED_BYTES = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Scope:
    """What is looked at.

    `machine`: whose storage it is. `roots`: absolute, without links; folders that are not entered are in
    `leave_out`. `since_ns`: what was there before is nobody's work. `disk`: where equal copies may lie.
    `system_root`: the one of the roots that is a machine's, whose folders are the system's; None: none is.
    `ours`: files that lastro itself keeps there. `not_looked_at`: mounts, with the reason.
    """

    machine: str
    roots: tuple[str, ...]
    since_ns: int = 0
    disk: Disk | None = None
    leave_out: frozenset[str] = frozenset()
    system_root: str | None = None
    ours: frozenset[str] = frozenset()
    not_looked_at: tuple[tuple[str, str], ...] = ()


def spelled(path: str) -> str:
    """Return a path as text: bytes that are no UTF-8 as escapes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


@dataclass(frozen=True, kw_only=True)
class Item:
    """A file (or a git tree) of value that lies nowhere else.

    `why`: what is special about it. `writer`: a process that may be writing it. `held`: of a file that was
    removed, the descriptor through which it can still be read.
    """

    path: str
    kind: Kind
    size: int
    key: str
    why: str | None = None
    writer: int | None = None
    held: str | None = None

    @property
    def id(self) -> str:
        """What it is called by a person: the same as long as it does not change."""
        return hashlib.sha256(os.fsencode(self.key)).hexdigest()[:8]

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "path": spelled(self.path),
            "kind": self.kind.value,
            "bytes": self.size,
            "why": self.why,
            "writer": self.writer,
            "removed": self.held is not None,
        }


@dataclass(frozen=True, kw_only=True)
class Passed:
    """How many files were passed over for one reason."""

    why: str
    files: int
    bytes: int

    def as_json(self) -> dict[str, Any]:
        return vars(self)


@dataclass(frozen=True, kw_only=True)
class Found:
    """What a scan has found. `items`: the most valuable first. `unreadable`: what was not looked into."""

    machine: str
    items: tuple[Item, ...]
    passed: tuple[Passed, ...]
    files: int
    candidates: int
    unreadable: tuple[str, ...]
    not_looked_at: tuple[tuple[str, str], ...]
    seconds: float

    @property
    def bytes(self) -> int:
        """The size of everything of value."""
        return sum(item.size for item in self.items)

    def as_json(self) -> dict[str, Any]:
        return {
            "machine": self.machine,
            "items": [item.as_json() for item in self.items],
            "bytes": self.bytes,
            "passed": [each.as_json() for each in self.passed],
            "files": self.files,
            "candidates": self.candidates,
            "unreadable": [spelled(path) for path in self.unreadable],
            "not_looked_at": [list(each) for each in self.not_looked_at],
            "seconds": self.seconds,
        }


@dataclass
class _Tally:
    """Counts what was passed over, by reason."""

    counts: dict[str, tuple[int, int]] = field(default_factory=dict)

    def add(self, why: str, size: int) -> None:
        files, total = self.counts.get(why, (0, 0))
        self.counts[why] = (files + 1, total + size)

    def passed(self) -> tuple[Passed, ...]:
        rows = [Passed(why=why, files=files, bytes=total) for why, (files, total) in self.counts.items()]
        return tuple(sorted(rows, key=lambda row: -row.bytes))


def find(scope: Scope, let_go: Collection[str] = ()) -> Found:
    """Return everything of value below the roots that lies nowhere else. Reads, never writes.

    Args:
        scope: what is looked at.
        let_go: keys of items that a person has let go of.
    """
    began = time.monotonic()
    tally = _Tally()
    found: list[Item] = []
    scans = [(root, scan(root, scope.since_ns, scope.leave_out)) for root in scope.roots]
    for root, scanned in scans:
        found += _valuables(scope, root, scanned, tally)
    found = _without_copies(scope, found, tally)
    found = _with_open_files(scope, found)
    kept = []
    for item in found:
        if spelled(item.key) in let_go:
            tally.add(_("let go"), item.size)
        else:
            kept.append(item)
    return Found(
        machine=scope.machine,
        items=tuple(sorted(kept, key=lambda item: (item.kind.rank, -item.size, item.path))),
        passed=tally.passed(),
        files=sum(scanned.files for _root, scanned in scans),
        candidates=sum(len(scanned.candidates) for _root, scanned in scans),
        unreadable=tuple(folder for _root, scanned in scans for folder in scanned.unreadable),
        not_looked_at=scope.not_looked_at,
        seconds=round(time.monotonic() - began, 3),
    )


def _valuables(scope: Scope, root: str, scanned: Scanned, tally: _Tally) -> Iterator[Item]:
    packages = Packages.around(root, scanned.candidates)
    tagged = [folder for folder in scanned.tagged if again.is_cache_tag(f"{folder}/CACHEDIR.TAG")]
    trees = _trees(scanned)
    yield from (_of_tree(tree) for tree in trees.values() if tree.work is not None)
    clean = {path: tree for tree in trees.values() for path in tree.clean}
    inside_git = tuple(f"{path}/.git" for path in trees)
    for file in scanned.candidates:
        if file.path in scope.ours:
            continue
        if inside_git and file.path.startswith(inside_git):
            continue  # the tree stands for it
        if file.path in clean:
            tally.add(_("committed in a git tree"), file.size)
        elif packages.owns(file):
            tally.add(_("installed by a package, unchanged"), file.size)
        else:
            kind = kind_in(file.path)
            why = _why_not(scope, root, file, kind, tagged)
            if why is None:
                yield _item(file, kind)
            else:
                tally.add(why, file.size)


def _why_not(scope: Scope, root: str, file: Candidate, kind: Kind, tagged: Sequence[str]) -> str | None:
    """Return why a file is of no value; None when it is of value."""
    if kind.tier is Tier.NEVER:
        return _("programs, which can be built again")
    strong = kind.tier is Tier.ALWAYS
    why = again.had_again(file, tagged, strong=strong)
    if why is None and not strong:
        why = programs_own(file.path, root, has_system=root == scope.system_root)
    return why


def _item(file: Candidate, kind: Kind) -> Item:
    return Item(path=file.path, kind=kind, size=file.size, key=key_of(file))


def key_of(file: Candidate) -> str:
    """Return what a file is let go of by: when it changes it is another one."""
    return f"{file.path}\0{file.size}\0{file.mtime_ns}\0{file.inode}"


def kind_in(path: str) -> Kind:
    """Return the kind of a file; UNKNOWN when it cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return Kind.UNKNOWN
    try:
        head = os.pread(descriptor, kinds.HEAD_BYTES, 0)
        tail = b""
        if len(head) == kinds.HEAD_BYTES:
            size = os.fstat(descriptor).st_size
            tail = os.pread(descriptor, kinds.TAIL_BYTES, max(0, size - kinds.TAIL_BYTES))
        return kinds.kind_of(os.path.basename(path), head, tail)  # noqa: PTH119 - a scan's string
    except OSError:
        return Kind.UNKNOWN
    finally:
        os.close(descriptor)


# --- git trees ----------------------------------------------------------------------------------------


def _trees(scanned: Scanned) -> Mapping[str, git.Tree]:
    """Return the work trees in which something has changed."""
    touched = {}
    for path in scanned.git:
        inside = path.rstrip("/") + "/"
        if any(file.path.startswith(inside) for file in scanned.candidates):
            touched[path] = git.look_at(path)
    return touched


def _of_tree(tree: git.Tree) -> Item:
    size = sum(file.size for file in scan(f"{tree.path}/.git", 0).candidates)
    return Item(
        path=tree.path,
        kind=Kind.GIT,
        size=size,
        key=f"{tree.path}\0{tree.work}\0{size}",
        why=tree.work,
    )


# --- copies, and files that are held open ---------------------------------------------------------------


def _without_copies(scope: Scope, items: Sequence[Item], tally: _Tally) -> list[Item]:
    copies = Copies(scope.disk, (item.size for item in items if item.kind is not Kind.GIT))
    kept = []
    for item in items:
        if item.kind is not Kind.GIT and copies.of(item.path, item.size) is not None:
            tally.add(_("an equal copy lies on the disk"), item.size)
        else:
            kept.append(item)
    return kept


def _with_open_files(scope: Scope, items: Sequence[Item]) -> list[Item]:
    """Mark what is being written, and add what was removed and is still there while a process holds it."""
    devices = {os.stat(root).st_dev for root in scope.roots if os.path.isdir(root)}  # noqa: PTH112, PTH116
    held = held_open(devices)
    marked = [_marked(item, held.writers) for item in items]
    for file, descriptor in held.removed:
        if not file.path.startswith(tuple(root.rstrip("/") + "/" for root in scope.roots)):
            continue
        kind = _kind_held(descriptor, file)
        if kind.tier is Tier.ALWAYS or (kind.tier is Tier.OWN and file.size >= _REMOVED_BYTES):
            why = _("removed, and a process still holds it")
            marked.append(replace(_item(file, kind), why=why, held=descriptor))
    return marked


def _marked(item: Item, writers: Mapping[tuple[int, int], int]) -> Item:
    try:
        status = os.lstat(item.path)
    except OSError:
        return item
    writer = writers.get((status.st_dev, status.st_ino))
    return item if writer is None else replace(item, writer=writer, why=_("still being written"))


def _kind_held(descriptor: str, file: Candidate) -> Kind:
    try:
        with open(descriptor, "rb") as source:  # noqa: PTH123
            return kinds.kind_of(os.path.basename(file.path), source.read(kinds.HEAD_BYTES))  # noqa: PTH119
    except OSError:
        return Kind.UNKNOWN
