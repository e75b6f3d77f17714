"""All campaigns of a home at once, read from the index where it may be believed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from lastro import __version__
from lastro.clock import Clock
from lastro.errors import JournalDamaged
from lastro.flow.session import Facts, Session, known_sessions
from lastro.journal.index import made_from, read_index, write_index
from lastro.journal.projections import project
from lastro.locale import language
from lastro.paths import Home
from lastro.records import dataclass
from lastro.view.summary import Summary, summary_of

#: What does not change in this time is taken to change by events only.
_LATER = timedelta(days=1)


@dataclass(frozen=True)
class Listed:
    """A campaign, where its parts are, and what is to be said of it; `damage`: why nothing can be."""

    facts: Facts
    summary: Summary | None
    damage: str | None = None


def overview(home: Home, clock: Clock, text: str = "") -> list[Listed]:
    """Return the campaigns of this home that hold every word of `text`, the one used last at the end.

    A campaign whose journal is damaged is never left out: nobody knows what it holds.
    """
    known = read_index(home.index)
    fresh: dict[str, tuple[str, str]] = {}
    listed = []
    for session in known_sessions(home, clock):
        key = session.facts.key
        source = made_from(
            (session.at_home.journal, session.on_disk.journal), session.facts.name, __version__, language()
        )
        before = known.get(key)
        if before is not None and before[0] == source:
            fresh[key] = before
            listed.append(Listed(session.facts, Summary.from_json(json.loads(before[1]))))
            continue
        try:
            summary, lasting = _folded(session, clock)
        except JournalDamaged as error:
            listed.append(Listed(session.facts, None, error.message))
            continue
        listed.append(Listed(session.facts, summary))
        if lasting:
            fresh[key] = (source, json.dumps(summary.as_json(), sort_keys=True))
    if fresh != known:
        write_index(home.index, fresh)
    return [one for one in listed if one.summary is None or one.summary.holds(text)]


def _folded(session: Session, clock: Clock) -> tuple[Summary, bool]:
    """Return the summary of a campaign now, and whether it stays so until something happens."""
    events, now = session.events(), clock.stamp()
    summary = summary_of(project(events, now.at, now), session.facts.name)
    later = replace(now, at=now.at + _LATER, seconds=now.seconds + _LATER.total_seconds())
    return summary, summary == summary_of(project(events, later.at, later), session.facts.name)


def as_json(listed: Sequence[Listed]) -> list[dict[str, object]]:
    """Return the campaigns as JSON values; of one that is damaged there is the reason, and no guess."""
    return [
        {
            **(one.summary.as_json() if one.summary else {"campaign": one.facts.name, "state": None}),
            "damage": one.damage,
            "campaign_file": one.facts.campaign_file,
            "disk": one.facts.disk,
        }
        for one in listed
    ]
