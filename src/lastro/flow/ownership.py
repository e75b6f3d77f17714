"""Which home drives a campaign: numbered files on its disk, made by an atomic link; the highest counts.

Another home only reads, until a person says `lastro run --take-over`. The home that was replaced finds the
higher number at its next look, and leaves what runs to the new one.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from typing import Any

from lastro import atomic, strictjson
from lastro.clock import Clock, iso
from lastro.errors import Fenced, LastroError, StorageError
from lastro.flow.session import Session
from lastro.journal.events import EventType
from lastro.journal.streams import StreamWriter
from lastro.locale import _


def own(session: Session, writer: StreamWriter, clock: Clock, *, take_over: bool) -> None:
    """Become the home that drives a campaign, or go on being it.

    Raises:
        Fenced: another home drives it, and `take_over` was not asked for.
    """
    folder = session.on_disk
    atomic.make_folder(folder.owners)
    while (now := owner(session)) is None or now["home"] != session.stream_name:
        if now is not None and not take_over:
            raise _owned_by(now)
        number = 1 + (now["number"] if now else 0)
        facts = {
            "number": number,
            "home": session.stream_name,
            "host": platform.node(),
            "at": iso(clock.now()),
        }
        if atomic.claim(folder.owner(number), strictjson.pretty(facts).encode()) and now is not None:
            writer.append(
                EventType.HOME_TOOK_OVER, number=number, from_home=now["home"], from_host=now["host"]
            )


def require_owner(session: Session) -> None:
    """Refuse to change a campaign that another home drives; one that nobody drives yet is free.

    Raises:
        Fenced: another home drives it.
    """
    now = owner(session)
    if now is not None and now["home"] != session.stream_name:
        raise _owned_by(now)


def out_of_reach(session: Session) -> LastroError | None:
    """Return why this home cannot drive a campaign now: its disk is away, or another home drives it."""
    try:
        session.require_disk()
        require_owner(session)
    except (StorageError, Fenced) as error:
        return error
    return None


def owner(session: Session) -> Mapping[str, Any] | None:
    """Return which home drives a campaign (number, home, host, at); None when none does yet."""
    folder = session.on_disk
    numbers = [int(path.stem) for path in folder.owners.glob("*.json") if path.stem.isdigit()]
    if not numbers:
        return None
    facts: Mapping[str, Any] = strictjson.read(folder.owner(max(numbers)))
    return facts


def _owned_by(facts: Mapping[str, Any]) -> Fenced:
    return Fenced(
        _("this campaign is owned by another home: {home} on {host}, since {at}").format(
            home=facts["home"], host=facts["host"], at=facts["at"]
        ),
        hint=_("`lastro status` reads it from here; `lastro run --take-over` makes this home drive it"),
    )
