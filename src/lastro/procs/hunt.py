"""Catching processes that live too briefly for a look at the whole process table.

One that forks and exits every millisecond is under another pid before its line is read. But each new process
moves the number of the newest pid, so that the newest ones can be asked at once. A signal that is pending
makes a fork start again, so what was stopped has not slipped away into a child.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import time
from collections.abc import Collection

from lastro.procs.identity import ProcessId, identity_of, send

#: Longer than the life of anything that a look at the table (3 to 10 ms) could miss for good.
_SECONDS = 0.03
#: A box on which others start short-lived processes all the time is not watched for longer.
_SECONDS_AT_MOST = 0.5
_PAUSE = 0.0002
#: Further apart than this, two pids are a wrap-around or a flood: only the newest ones are asked.
_MOST = 64


def inherits(pid: int, marker: tuple[str, str]) -> bool | None:
    """Say whether a process inherited NAME=VALUE; None when it has gone or shows none (exec, zombie).

    Another user's process cannot be asked, and is not ours.
    """
    chunks = []
    try:
        descriptor = os.open(f"/proc/{pid}/environ", os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        return False if error.errno == errno.EACCES else None
    try:
        while chunk := os.read(descriptor, 1 << 17):
            chunks.append(chunk)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    name, value = marker
    return f"\0{name}={value}\0".encode() in b"\0" + b"".join(chunks) + b"\0" if chunks else None


def hunt(marker: tuple[str, str], spared: Collection[int], since: int | None) -> frozenset[ProcessId]:
    """Watch for new processes with the marker; stop (SIGSTOP) and return those that come.

    Ends after a moment without processes that were gone before they could be asked.

    Args:
        marker: NAME and VALUE that the processes inherited.
        spared: pids that are left alone.
        since: the newest pid before the last look at the whole table. Who was born during that look may have
            been missed by it, and may not be given a processor again for longer than a moment.
    """
    caught: set[ProcessId] = set()
    last = since
    now = time.monotonic()
    until, at_last = now + _SECONDS, now + _SECONDS_AT_MOST
    while last is not None and (now := time.monotonic()) < min(until, at_last):
        newest = newest_pid()
        if newest is None or newest == last:
            time.sleep(_PAUSE)
            continue
        first = last + 1 if last < newest <= last + _MOST else max(1, newest - _MOST)
        last = newest
        for pid in range(newest, first - 1, -1):
            found = None if pid in spared else inherits(pid, marker)
            process = identity_of(pid) if found else None
            if process is not None and send(process, signal.SIGSTOP):
                caught.add(process)
            elif found is None and pid not in spared:
                until = now + _SECONDS
    return frozenset(caught)


def newest_pid() -> int | None:
    """Return the pid that was given out last: the last field of /proc/loadavg."""
    with contextlib.suppress(OSError, ValueError):
        descriptor = os.open("/proc/loadavg", os.O_RDONLY | os.O_CLOEXEC)
        try:
            return int(os.read(descriptor, 128).split()[-1])
        finally:
            os.close(descriptor)
    return None
