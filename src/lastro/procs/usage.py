"""What a tree of processes uses: one pass over the process table, and a look at each member."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection

from lastro.procs.killtree import descendants
from lastro.records import dataclass

_TICK = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
#: A line of /proc/PID/stat is shorter by far.
_STAT_BYTES = 4096


@dataclass(frozen=True)
class TreeUse:
    """What a tree has used so far. Children that have ended count with those that waited for them.

    `cpu`: seconds of processors; `resident`: bytes, pages that are shared counted in each process; `read`,
    `written`: bytes from and to disks, None where the kernel does not tell.
    """

    pids: frozenset[int]
    cpu: float
    resident: int
    read: int | None
    written: int | None

    @property
    def processes(self) -> int:
        return len(self.pids)


def tree_use(roots: Collection[int], strangers: set[int] | None = None) -> TreeUse:
    """Return what these processes and all that descends from them have used.

    Args:
        roots: pids.
        strangers: pids that are known to be none of the tree, and are not asked again; brought up to date.
            A number can be given out again, so a caller that keeps the set empties it now and then.
    """
    strangers = set() if strangers is None else strangers
    there: set[int] = set()
    found: dict[int, tuple[int, float, int]] = {}
    with contextlib.suppress(FileNotFoundError):
        there.update(int(name) for name in os.listdir("/proc") if name.isdigit())  # noqa: PTH208 - a hot loop
    for pid in there - strangers:
        if (use := _use_of(pid)) is not None:
            found[pid] = use
    parents = {pid: use[0] for pid, use in found.items()}
    tree = (descendants(parents, roots) | set(roots)) & found.keys()
    # Of one whose parent has just gone nobody knows yet where it belongs.
    known = strangers | found.keys() | {0}
    strangers.update(pid for pid in found.keys() - tree if parents[pid] in known)
    strangers &= there
    moved = [both for pid in tree if (both := _moved(pid)) is not None]
    return TreeUse(
        pids=frozenset(tree),
        cpu=sum(found[pid][1] for pid in tree),
        resident=sum(found[pid][2] for pid in tree),
        read=sum(both[0] for both in moved) if moved else None,
        written=sum(both[1] for both in moved) if moved else None,
    )


def _use_of(pid: int) -> tuple[int, float, int] | None:
    """Return parent, processor seconds (with those of waited-for children) and resident bytes."""
    try:  # by descriptor: half the time of a file object, and this is done for each process of the machine
        descriptor = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        text = os.read(descriptor, _STAT_BYTES)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    # The command's name stands in parentheses and may hold spaces and parentheses; fields as in proc(5).
    fields = text[text.rindex(b")") + 2 :].split(None, 22)
    ticks = int(fields[11]) + int(fields[12]) + int(fields[13]) + int(fields[14])
    return int(fields[1]), ticks / _TICK, int(fields[21]) * _PAGE


def _moved(pid: int) -> tuple[int, int] | None:
    """Return bytes read from and written to disks; None when the process has gone or belongs to another."""
    try:
        with open(f"/proc/{pid}/io") as file:  # noqa: PTH123
            facts = dict(line.split(": ") for line in file.read().splitlines())
        return int(facts["read_bytes"]), int(facts["write_bytes"])
    except (OSError, ValueError, KeyError):
        return None
