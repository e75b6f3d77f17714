"""What explains a campaign's time, and what became of its doubts, folded from home's stream. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lastro.clock import from_iso
from lastro.journal.events import EventType
from lastro.journal.streams import Event
from lastro.journal.views import DoubtView, ExplanationView, WaitView

#: Kind of a wait, by the event that begins it, and the events that end it.
_WAITS: Mapping[EventType, tuple[str, tuple[EventType, ...]]] = {
    EventType.MACHINE_REFUSED: ("queue", (EventType.MACHINE_CREATED, EventType.CAMPAIGN_CONCLUDED)),
    EventType.CAMPAIGN_HALTED: ("paused", (EventType.CAMPAIGN_RESUMED, EventType.CAMPAIGN_CONCLUDED)),
    EventType.DECISION_AWAITED: ("decision", (EventType.DECISION_MADE, EventType.CAMPAIGN_CONCLUDED)),
}
#: Findings of a plan that are doubts about a price, see `spec.doubts`.
_PRICE_DOUBTS = ("stale", "undated", "later", "spot_not_cheaper")


def wait_views(home: Sequence[Event]) -> tuple[WaitView, ...]:
    """Return every wait: for a machine that was refused, a pause that was asked for, a decision.

    Refusals in a row are one wait. All times are of the clock of home, which may have been set.
    """
    found: list[WaitView] = []
    begun: dict[str, Event] = {}
    for event in home:
        for kind, ends in _WAITS.values():
            if event.type in ends and kind in begun:
                found.append(_wait(kind, begun.pop(kind), event))
        if event.type in _WAITS:
            begun.setdefault(_WAITS[event.type][0], event)
    found += [_wait(kind, start, None) for kind, start in begun.items()]
    return tuple(sorted(found, key=lambda wait: wait.at))


def _wait(kind: str, start: Event, end: Event | None) -> WaitView:
    seconds = (from_iso(end.at) - from_iso(start.at)).total_seconds() if end is not None else None
    return WaitView(
        kind=kind,
        at=start.at,
        seconds=seconds if seconds is None or seconds >= 0 else None,
        why=str(start.facts.get("why") or start.facts.get("stage") or ""),
    )


def explanation_views(home: Sequence[Event]) -> tuple[ExplanationView, ...]:
    """Return what was said of each stage; of the same one again, what was said last."""
    found: dict[tuple[str, str | None], ExplanationView] = {}
    for event in home:
        if event.type is EventType.STAGE_EXPLAINED:
            facts = event.facts
            found[facts["stage"], facts["run"]] = ExplanationView(
                stage=facts["stage"], run=facts["run"], why=facts["why"], hours=facts["hours"], at=event.at
            )
    return tuple(found.values())


def doubt_views(home: Sequence[Event]) -> tuple[DoubtView, ...]:
    """Return what any plan of the campaign was uncertain about: as its file says, and of its prices."""
    found: dict[str, DoubtView] = {}
    for event in home:
        facts = event.facts
        if event.type in (EventType.PLAN_FROZEN, EventType.PLAN_REVISED):
            plan = facts["plan"]
            prices = [one["text"] for one in plan.get("findings") or () if one["code"] in _PRICE_DOUBTS]
            for text in (*(plan.get("uncertainties") or ()), *prices):
                found.setdefault(text, DoubtView(text=text))
        elif event.type is EventType.DOUBT_SETTLED and facts["doubt"] in found:
            found[facts["doubt"]] = replace(found[facts["doubt"]], settled=facts["why"], at=event.at)
    return tuple(found.values())
