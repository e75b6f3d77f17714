"""Copies what is of value to the disk: read once, written aside, read back, published, recorded."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from lastro import atomic, strictjson
from lastro.clock import Clock, iso
from lastro.disk.guard import git
from lastro.disk.guard.find import Item, spelled
from lastro.disk.guard.kinds import Kind
from lastro.errors import LastroError, StorageError
from lastro.locale import _
from lastro.paths import Disk
from lastro.records import dataclass
from lastro.storage.digest import sha256_file

_PIECE = 1 << 20
#: A file that changes while it is copied is copied again so often.
_TRIES = 3


@dataclass(frozen=True, kw_only=True)
class Rescued:
    """What became of an item. `copy`: where it lies now. `problem`: why there is none, or what it lacks."""

    item: Item
    copy: str | None = None
    sha256: str | None = None
    problem: str | None = None

    @property
    def safe(self) -> bool:
        """Whether the item can go: a whole copy of it lies on the disk."""
        return self.copy is not None and self.problem is None

    def as_json(self) -> dict[str, Any]:
        return {
            **self.item.as_json(),
            "copy": None if self.copy is None else spelled(self.copy),
            "sha256": self.sha256,
            "problem": self.problem,
        }


def rescue(items: Sequence[Item], disk: Disk, machine: str, clock: Clock) -> list[Rescued]:
    """Copy items to the disk, below `rescued/<machine>` and the path that each had.

    A full disk ends it: what was copied stays, the rest is told with its problem. Nothing is removed.

    Raises:
        StorageError: the disk is not there, or not to be written.
    """
    if not disk.facts.exists():
        raise StorageError(
            _("{path} is no disk of lastro: nothing is rescued to an unknown place").format(path=disk.root),
            hint=_("name the disk with --disk, or mark it with `lastro disk prove`"),
        )
    folder = disk.rescued(machine)
    done: list[Rescued] = []
    full: str | None = None
    for item in items:
        if full is not None:
            done.append(Rescued(item=item, problem=full))
            continue
        try:
            one = _of_tree(item, folder) if item.kind is Kind.GIT else _of_file(item, folder)
        except OSError as error:
            one = Rescued(item=item, problem=str(error.strerror or error))
            if atomic.is_full(error):
                full = _("the disk is full")
        except LastroError as error:
            one = Rescued(item=item, problem=error.message)
        done.append(one)
        if one.copy is not None:
            _record(disk, machine, one, clock)
    return done


def _of_tree(item: Item, folder: Path) -> Rescued:
    target = _place(folder, item.path, item.id, ".bundle")
    with _aside(target) as aside:
        problem = git.bundle(item.path, aside)
        if problem is not None:
            raise StorageError(problem)
    return Rescued(item=item, copy=str(target), sha256=sha256_file(target))


def _of_file(item: Item, folder: Path) -> Rescued:
    target = _place(folder, item.path, item.id)
    for _attempt in range(_TRIES):
        with _aside(target) as aside:
            digest, changed = _copy(item.held or item.path, aside, follow=item.held is not None)
            if sha256_file(aside) != digest:
                raise StorageError(_("other bytes came back from the disk"))
        if not changed:
            break
    problem = None
    if changed:
        problem = _("it changed while it was copied; end what writes it, then rescue it again")
    elif item.writer is not None:
        problem = _("process {pid} still has it open; end it, then rescue it again").format(pid=item.writer)
    return Rescued(item=item, copy=str(target), sha256=digest, problem=problem)


@contextlib.contextmanager
def _aside(target: Path) -> Iterator[Path]:
    """Give a path to write to, with a short name: that of the target may be as long as names can be."""
    aside = target.with_name(f"{atomic.TEMPORARY}{secrets.token_hex(6)}")
    try:
        yield aside
        atomic.sync_file(aside)
        aside.replace(target)
        atomic.sync_folder(target.parent)
    finally:
        aside.unlink(missing_ok=True)


def _copy(source: str, target: Path, *, follow: bool) -> tuple[str, bool]:
    """Copy the bytes with their holes; return their SHA-256, and whether the source changed meanwhile."""
    digest = hashlib.sha256()
    descriptor = os.open(source, os.O_RDONLY | os.O_NONBLOCK | (0 if follow else os.O_NOFOLLOW))
    try:
        before = os.fstat(descriptor)
        with target.open("wb") as file:
            done = 0
            while done < before.st_size:
                piece = os.pread(descriptor, min(_PIECE, before.st_size - done), done)
                if not piece:
                    break
                digest.update(piece)
                if piece.count(0) != len(piece):  # a hole stays one: it costs no room on the disk either
                    file.seek(done)
                    file.write(piece)
                done += len(piece)
            file.truncate(done)
        after = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    os.utime(target, ns=(before.st_atime_ns, before.st_mtime_ns))
    seen = [(each.st_size, each.st_mtime_ns) for each in (before, after)]
    return digest.hexdigest(), seen[0] != seen[1] or done != after.st_size


def _place(folder: Path, path: str, identity: str, suffix: str = "") -> Path:
    """Return where a copy goes: its path below the folder; beside what an earlier rescue has put there."""
    target = folder / (os.path.normpath(path).lstrip("/") + suffix)
    atomic.make_folder(target.parent)
    if os.path.lexists(target):
        target = target.with_name(f"{target.name}.{identity}")
    return target


def _record(disk: Disk, machine: str, one: Rescued, clock: Clock) -> None:
    path = disk.rescue_record(machine)
    line = strictjson.dumps({"at": iso(clock.now()), **one.as_json()}) + "\n"
    with path.open("a", encoding="utf-8") as file:
        file.write(line)
        file.flush()
        os.fsync(file.fileno())
