"""The early warning: what a job writes where it would be lost, told while there is time to do otherwise."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from lastro.disk.guard.find import Found, Scope, find, spelled
from lastro.errors import LastroError
from lastro.journal.events import EventType
from lastro.journal.streams import StreamWriter
from lastro.paths import CampaignFolder, Disk
from lastro.providers.environment import MACHINE
from lastro.providers.own_storage import scope_within
from lastro.rules import Order
from lastro.run.seen import Seen

#: Seconds until the first look, and between two: a result in the wrong place is told within minutes.
FIRST_SECONDS, EVERY_SECONDS = 60.0, 300.0
#: A look may take this part of the time at most, so that a home of a million files is looked at less often.
_MOST_OF_TIME = 0.01
_NAMED = 10


class ValuablesWatch:
    """Looks at home and working folder in a thread of its own; never a reason to leave."""

    def __init__(self, order: Order, stream: StreamWriter) -> None:
        self._order, self._stream = order, stream
        self._disk = CampaignFolder(Path(order.campaign_folder)).disk
        self._began_ns = time.time_ns()
        self._next = time.monotonic() + FIRST_SECONDS
        self._thread: threading.Thread | None = None
        self._found: Found | None = None
        self._told: frozenset[str] = frozenset()

    def look(self, seen: Seen) -> None:
        if self._thread is None:
            if seen.now >= self._next:
                self._thread = threading.Thread(target=self._scan, daemon=True)
                self._thread.start()
        elif not self._thread.is_alive():
            self._thread = None
            took = self._found.seconds if self._found is not None else 0.0
            self._next = seen.now + max(EVERY_SECONDS, took / _MOST_OF_TIME)
            self._tell()

    def _scan(self) -> None:
        try:
            scope = watched(self._order, self._disk, self._began_ns, os.environ)
            self._found = None if scope is None else find(scope)
        except (OSError, LastroError):
            self._found = None  # the closing scan is the guarantee; this is only earlier news of it

    def _tell(self) -> None:
        found = self._found
        if found is None or {item.path for item in found.items} <= self._told:
            return
        self._told = frozenset(item.path for item in found.items)
        self._stream.append(
            EventType.GUARD_WARNED,
            files=len(found.items),
            bytes=found.bytes,
            what=[spelled(item.path) for item in found.items[:_NAMED]],
        )


def watched(order: Order, disk: Disk, began_ns: int, environment: Mapping[str, str]) -> Scope | None:
    """Return what is looked at while a job runs; None where nothing goes with the machine but the disk.

    A machine that lastro deletes: all of its own storage. Another one: home and working folder, as far as
    they lie on another file system than the disk; on the same one they live as long as it does.
    """
    own = scope_within(environment, disk)
    if own is not None:
        return own
    roots = {os.path.realpath(path) for path in (Path.home(), Path(order.workdir)) if path.is_dir()}
    apart = [root for root in sorted(roots) if os.stat(root).st_dev != os.stat(disk.root).st_dev]  # noqa: PTH116
    outer = [one for one in apart if not any(Path(one).is_relative_to(each) for each in apart if each != one)]
    if not outer:
        return None
    return Scope(
        machine=environment.get(MACHINE, order.machine),
        roots=tuple(outer),
        since_ns=began_ns,
        disk=disk,
        leave_out=frozenset({os.path.realpath(disk.root)}),
    )
