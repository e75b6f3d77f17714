"""Second copies of a closed campaign, from home's stream. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from lastro.journal.events import EventType
from lastro.journal.streams import Event
from lastro.journal.views import CopyView


def copy_views(home: Sequence[Event]) -> tuple[CopyView, ...]:
    """Return every copy that was read again, and every time that a person did without one."""
    found = []
    for event in home:
        facts = event.facts
        if event.type is EventType.COPY_VERIFIED:
            found.append(
                CopyView(
                    at=event.at,
                    where=facts["where"],
                    root_digest=facts["root_digest"],
                    apart=facts["apart"],
                    rehearsal=facts["rehearsal"],
                )
            )
        elif event.type is EventType.COPY_WAIVED:
            found.append(
                CopyView(
                    at=event.at,
                    where=None,
                    root_digest=None,
                    apart=False,
                    rehearsal=False,
                    waived=facts["why"],
                )
            )
    return tuple(found)
