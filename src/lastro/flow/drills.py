"""What drills have shown of a campaign's code: kept at home, and recorded in the journal by `lastro run`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lastro import atomic, strictjson
from lastro.clock import Clock, iso
from lastro.drill.verdict import DrillResult
from lastro.errors import StorageError
from lastro.flow.session import Session
from lastro.journal.events import EventType
from lastro.journal.streams import StreamWriter
from lastro.paths import Home
from lastro.plan.model import Plan, PlannedRun

_FACTS = (
    "campaign",
    "run",
    "code_digest",
    "drilled_at",
    "verdict",
    "why",
    "updates",
    "different_from",
    "cause",
)


def keep_drill(home: Home, key: str, plan: Plan, run: PlannedRun, result: DrillResult, clock: Clock) -> None:
    """Keep what a drill has shown; the last one of a job counts."""
    value = result.as_json()
    facts = {
        "campaign": plan.campaign,
        "run": run.name,
        "code_digest": plan.code_digest,
        "drilled_at": iso(clock.now()),
        **{name: value[name] for name in ("verdict", "why", "updates", "different_from", "cause")},
    }
    atomic.write_text(home.drill_record(key), strictjson.pretty({**facts, "result": value}))


def drills_of(home: Home, plan: Plan) -> tuple[Mapping[str, Any], ...]:
    """Return what drills of this very code have shown, the oldest first; a record that is damaged is none."""
    found = []
    for path in home.drill_records():
        try:
            record = strictjson.read(path)
            same = (record["campaign"], record["code_digest"]) == (plan.campaign, plan.code_digest)
            facts = {name: record[name] for name in _FACTS}
        except (OSError, StorageError, KeyError, TypeError):
            continue
        if same:
            found.append(facts)
    return tuple(sorted(found, key=lambda facts: str(facts["drilled_at"])))


def record_drills(session: Session, writer: StreamWriter, plan: Plan) -> None:
    """Write into the journal what drills have shown and it does not tell yet."""
    known = {(drill["run"], drill["drilled_at"]) for drill in session.view().drills}
    for facts in drills_of(session.home, plan):
        if (facts["run"], facts["drilled_at"]) not in known:
            writer.append(
                EventType.DRILL_DONE, **{name: facts[name] for name in _FACTS if name != "campaign"}
            )
