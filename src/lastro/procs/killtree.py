"""Ending everything that belongs together, whatever it did: new sessions, double forks, forking storms.

Three rungs: the PID namespace (everything in one that a member lives in, when it is not the caller's own),
descent (children of children of the roots) and the environment (processes that inherited NAME=VALUE). The
first needs somebody to have made a namespace, the second misses orphans where no subreaper takes them in, the
third misses what cleared its environment; what one finds is a root for the others.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import Enum

from lastro.clock import boot_id
from lastro.errors import ProviderError
from lastro.locale import _
from lastro.procs.hunt import hunt, inherits, newest_pid
from lastro.procs.identity import Entry, ProcessId, is_alive, send, table
from lastro.records import dataclass

#: After so many looks that each found new processes, stopping them first is given up: kill what is there.
_FREEZING_LOOKS = 20
#: A process in the middle of exec shows no environment, so one empty look is no proof.
_EMPTY_LOOKS = 3


class Rung(str, Enum):
    """A way to find what belongs together; which of them can be had depends on the machine."""

    NAMESPACE = "namespace"
    DESCENT = "descent"
    ENVIRONMENT = "environment"


@dataclass(frozen=True)
class Members:
    """What belongs to a tree, by the rung that found it. One process can stand in several."""

    descent: frozenset[ProcessId]
    environment: frozenset[ProcessId]
    namespace: frozenset[ProcessId] = frozenset()

    @property
    def all(self) -> frozenset[ProcessId]:
        return self.descent | self.environment | self.namespace

    def __or__(self, other: Members) -> Members:
        return Members(
            self.descent | other.descent,
            self.environment | other.environment,
            self.namespace | other.namespace,
        )


NOBODY = Members(frozenset(), frozenset())


def descendants(parents: Mapping[int, int], roots: Iterable[int]) -> set[int]:
    """Return all pids that descend from `roots`, without the roots, given each pid's parent."""
    children: dict[int, list[int]] = {}
    for pid, parent in parents.items():
        children.setdefault(parent, []).append(pid)
    found: set[int] = set()
    todo = list(roots)
    while todo:
        fresh = [pid for pid in children.get(todo.pop(), ()) if pid not in found]
        found.update(fresh)
        todo.extend(fresh)
    return found - set(roots)


def members(
    marker: tuple[str, str],
    roots: Sequence[ProcessId | int] = (),
    *,
    spare: Sequence[ProcessId] = (),
    rungs: Collection[Rung] = frozenset(Rung),
) -> Members:
    """Return the living processes that belong to a tree; never the caller, nor what the caller descends from.

    Args:
        marker: NAME and VALUE that members inherited in their environment.
        roots: members themselves, with all that descends from them. A bare pid must be one that cannot have
            been used again: the caller, or a child that was not waited for.
        spare: processes that are left out, though not what descends from them: a shim that is to tell
            how its job ended.
        rungs: the ways to look.
    """
    entries = {pid: entry for pid, entry in table().items() if not entry.dead}
    spared = _ancestry(entries, os.getpid()) | {process.pid for process in spare}
    marked = set()
    if Rung.ENVIRONMENT in rungs:
        marked = {pid for pid in entries if pid not in spared and inherits(pid, marker)}
    known = {root if isinstance(root, int) else root.pid for root in roots if _is_root(root)} & entries.keys()
    apart = _in_namespaces_of(known | marked, entries) - spared if Rung.NAMESPACE in rungs else set()
    descent = set()
    if Rung.DESCENT in rungs:
        parents = {pid: entry.parent for pid, entry in entries.items()}
        left_out = {process.pid for process in spare if is_alive(process)}
        descent = (known | descendants(parents, known | marked | apart | left_out)) - spared
    return Members(_identities(entries, descent), _identities(entries, marked), _identities(entries, apart))


def _in_namespaces_of(pids: Iterable[int], entries: Iterable[int]) -> set[int]:
    """Return all processes of the PID namespaces that these live in, the caller's own left out."""
    own = _pid_namespace(os.getpid())
    wanted = {_pid_namespace(pid) for pid in pids} - {own, None}
    return {pid for pid in entries if _pid_namespace(pid) in wanted} if wanted else set()


def _pid_namespace(pid: int) -> str | None:
    """Return the name of a process's PID namespace; None when it has gone or must not be asked."""
    try:
        return os.readlink(f"/proc/{pid}/ns/pid")  # noqa: PTH115 - asked of every process at every look
    except OSError:
        return None


def end_tree(
    marker: tuple[str, str],
    roots: Sequence[ProcessId | int] = (),
    *,
    spare: Sequence[ProcessId] = (),
    grace_seconds: float = 0.0,
    seconds: float = 30.0,
    rungs: Collection[Rung] = frozenset(Rung),
) -> Members:
    """End a tree (see `members`) for good and return what was ended, by the rung that found it.

    With a grace, TERM goes to the roots alone, and the rest follows when all are gone or the grace is over.
    Then members are stopped until no new one appears (a stopped parent forks no more, and keeps its
    children findable) and killed, until several looks in a row find nothing, nor a hunt for what lives too
    briefly for a look.

    Raises:
        ProviderError: something was still alive after `seconds`.
    """
    if grace_seconds > 0:
        _ask(marker, roots, grace_seconds)
    deadline = time.monotonic() + seconds
    ended = NOBODY
    looks, empty = 0, 0
    spared = _ancestry(table(), os.getpid()) | {process.pid for process in spare}
    while empty < _EMPTY_LOOKS:
        since = newest_pid()
        found = members(marker, (*roots, *ended.all), spare=spare, rungs=rungs)
        fresh = found.all - ended.all
        ended |= found
        looks += 1
        if fresh and looks <= _FREEZING_LOOKS:
            _signal_all(fresh, signal.SIGSTOP)
        elif found.all:
            _signal_all(found.all, signal.SIGKILL)
        # What forks and exits faster than a look takes is found by its fresh pid, or not at all.
        hunted = Rung.ENVIRONMENT in rungs and not found.all and not empty
        caught = hunt(marker, spared, since) if hunted else frozenset()
        empty = 0 if found.all | caught else empty + 1
        if (left := found.all | caught) and time.monotonic() > deadline:
            raise _immortal(left, seconds)
        if not fresh and empty < _EMPTY_LOOKS:
            time.sleep(0.002)
    return ended


def freeze(marker: tuple[str, str], roots: Sequence[ProcessId | int] = ()) -> Members:
    """Stop a tree (see `members`) without ending it; return what was stopped. It never thaws by itself."""
    stopped = NOBODY
    for _look in range(_FREEZING_LOOKS):
        found = members(marker, roots)
        fresh = found.all - stopped.all
        stopped |= found
        _signal_all(fresh, signal.SIGSTOP)
        if not fresh:
            break
    return stopped


def _ask(marker: tuple[str, str], roots: Sequence[ProcessId | int], grace_seconds: float) -> None:
    own = {root if isinstance(root, int) else root.pid for root in roots}
    asked = [process for process in members(marker, roots).all if process.pid in own]
    _signal_all(asked, signal.SIGTERM)
    deadline = time.monotonic() + grace_seconds
    while any(map(is_alive, asked)) and time.monotonic() < deadline:
        time.sleep(0.02)


def _signal_all(processes: Iterable[ProcessId], number: signal.Signals) -> None:
    for process in processes:
        send(process, number)


def _immortal(left: frozenset[ProcessId], seconds: float) -> ProviderError:
    pids = ", ".join(str(process.pid) for process in sorted(left, key=lambda process: process.pid)[:10])
    return ProviderError(
        _("{count} processes were still alive after {seconds:g} s of killing: {pids}").format(
            count=len(left), seconds=seconds, pids=pids
        ),
        hint=_("they may hang in a driver or a network disk, or belong to another user; restart the machine"),
    )


def _is_root(root: ProcessId | int) -> bool:
    return isinstance(root, int) or is_alive(root)


def _identities(entries: Mapping[int, Entry], pids: Iterable[int]) -> frozenset[ProcessId]:
    return frozenset(ProcessId(boot_id(), pid, entries[pid].start_ticks) for pid in pids)


def _ancestry(entries: Mapping[int, Entry], pid: int) -> set[int]:
    """Return `pid` and all that it descends from."""
    line: set[int] = set()
    while pid in entries and pid not in line:
        line.add(pid)
        pid = entries[pid].parent
    return line
