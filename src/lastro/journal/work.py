"""For how long an attempt has worked, from its own stream alone. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from lastro.clock import from_iso
from lastro.journal.events import EventType
from lastro.journal.streams import Event


def worked_seconds(events: Sequence[Event]) -> float | None:
    """Return for how long the job of one stream was at work; None before it has started.

    From its start to its end by the machine's own clock, set-up and restoring with it, without the time for
    which it waited for room on the disk. Of one that has not told its end (it lives, or its machine went
    away) it is what lies between the first and the last thing that it has recorded: at least so long.
    """
    started = next((event for event in events if event.type is EventType.ATTEMPT_STARTED), None)
    if started is None:
        return None
    waited, last = 0.0, started
    for event in events:
        if event.type is EventType.ATTEMPT_ENDED and "seconds" in event.facts:
            return max(0.0, float(event.facts["seconds"]) - waited)
        if event.type is EventType.DISK_ROOM:
            waited += float(event.facts["seconds"])
        last = event
    return max(0.0, (from_iso(last.at) - from_iso(started.at)).total_seconds() - waited)
