"""The complete scan: every regular file of a tree whose inode was changed since a moment.

The change time (ctime) is taken, because programs that unpack or download set the other one back, and nobody
can set this one. Links are not followed, other mounts not entered, and what cannot be listed is told.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from dataclasses import field

from lastro.records import dataclass

_MARKS = frozenset({".git", "CACHEDIR.TAG"})


@dataclass(frozen=True)
class Candidate:
    """A file that was written or moved since. `path`: as the system spells it, which need not be UTF-8."""

    path: str
    size: int
    blocks: int
    mtime_ns: int
    ctime_ns: int
    device: int
    inode: int


@dataclass
class Scanned:
    """What a scan has seen. `unreadable`: folders that could not be listed; `git`: folders with a `.git`."""

    candidates: list[Candidate] = field(default_factory=list)
    files: int = 0
    unreadable: list[str] = field(default_factory=list)
    git: list[str] = field(default_factory=list)
    tagged: list[str] = field(default_factory=list)


def scan(root: str, since_ns: int, leave_out: Collection[str] = ()) -> Scanned:
    """Look at every file below `root`.

    Args:
        root: an absolute path without links.
        since_ns: files whose ctime is this or later are candidates; nanoseconds since 1970.
        leave_out: folders that are not entered, such as other mounts and the disk itself.

    Returns:
        The candidates in no order. Empty files are none.
    """
    found = Scanned()
    # A float's 100 ns of blur must not lose a file that was written in the first of them.
    since = since_ns / 1e9 - 1e-6
    barred = frozenset(leave_out) - {root}
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        if folder in barred:
            continue
        try:
            entries = os.scandir(folder)
        except FileNotFoundError:
            continue  # gone between its parent's listing and now
        except OSError:
            found.unreadable.append(folder)
            continue
        with entries:
            _look(found, folder, entries, since, waiting)
    return found


def _look(
    found: Scanned, folder: str, entries: Iterable[os.DirEntry[str]], since: float, waiting: list[str]
) -> None:
    """Take in one folder: files that were changed since, marks of trees and caches, folders to go on with."""
    keep, later, count = found.candidates.append, waiting.append, 0
    for entry in entries:
        try:
            if entry.is_dir(follow_symlinks=False):
                later(entry.path)
            elif entry.is_file(follow_symlinks=False):
                count += 1
                status = entry.stat(follow_symlinks=False)
                if status.st_ctime >= since and status.st_size:
                    keep(candidate(entry.path, status))
            else:
                continue
        except OSError:
            continue  # gone meanwhile
        if entry.name in _MARKS:
            (found.git if entry.name == ".git" else found.tagged).append(folder)
    found.files += count


def candidate(path: str, status: os.stat_result) -> Candidate:
    """Return a file as a candidate."""
    return Candidate(
        path=path,
        size=status.st_size,
        blocks=status.st_blocks,
        mtime_ns=status.st_mtime_ns,
        ctime_ns=status.st_ctime_ns,
        device=status.st_dev,
        inode=status.st_ino,
    )
