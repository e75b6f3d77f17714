"""What a supervisor pays attention to beside the job's own signals, each in a few lines of its own.

A watcher is asked at every look and answers with a reason to leave, once; the list at the end names them
all. What follows from a reason (ask, wait, end) is the attempt's business.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import field
from pathlib import Path
from typing import Protocol

from lastro import strictjson
from lastro.journal.events import EventType
from lastro.journal.streams import StreamWriter
from lastro.locale import _
from lastro.paths import AttemptFolder
from lastro.records import dataclass
from lastro.rules import End, Leave, Order, Stay
from lastro.run.hang import HangWatch
from lastro.run.limits import LimitWatch
from lastro.run.mirror import MirrorWatch
from lastro.run.noticed import Noticed
from lastro.run.notices import listener_of_this_machine
from lastro.run.seat import Seat
from lastro.run.seen import Seen
from lastro.run.telemetry import Telemetry
from lastro.run.valuables import ValuablesWatch


class Watcher(Protocol):
    """Looks at one thing."""

    def look(self, seen: Seen) -> Leave | Stay | None:
        """Return a reason for the job to leave, or that a notice was taken back; asked at every look."""
        ...


@dataclass
class SeatLost:
    """Another process has taken the supervisor's place: this machine was thought to be gone."""

    seat: Seat

    def look(self, seen: Seen) -> Leave | None:
        if self.seat.is_mine():
            return None
        return Leave(end=End.FENCED, why=_("a later attempt owns this run"), seconds=0.0)


@dataclass
class Requested:
    """A person has asked for save and stop."""

    folder: AttemptFolder
    order: Order
    stream: StreamWriter
    told: bool = False
    _path: str = field(init=False)

    def __post_init__(self) -> None:
        self._path = os.fspath(self.folder.run.stop_request)

    def look(self, seen: Seen) -> Leave | None:
        if self.told or not os.path.exists(self._path):  # noqa: PTH110 - asked at every look
            return None
        try:
            why = str(strictjson.read(Path(self._path))["why"])
        except FileNotFoundError:
            return None
        self.told = True
        self.stream.append(EventType.ATTEMPT_ASKED, why=why)
        text = _("stopped on request: {why}").format(why=why)
        return Leave(end=End.ASKED, why=text, seconds=self.order.grace_seconds)


def watchers(
    folder: AttemptFolder,
    order: Order,
    seat: Seat,
    stream: StreamWriter,
    tree: set[int],
    mirror: MirrorWatch,
) -> Sequence[Watcher]:
    """Return everything that is looked at, the most urgent first. `tree`: see `Telemetry`."""
    return (
        SeatLost(seat),
        Noticed(folder, stream, listener_of_this_machine()),
        LimitWatch(folder, order, stream, mirror.way_out_seconds),
        Requested(folder, order, stream),
        HangWatch(folder, order, stream),
        Telemetry(folder, tree),
        ValuablesWatch(order, stream),
        mirror,
    )
