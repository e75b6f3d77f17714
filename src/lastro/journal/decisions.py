"""The decisions of a campaign, from home's stream. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lastro.journal.events import EventType
from lastro.journal.streams import Event
from lastro.journal.views import DecisionView

#: Choices that change the plan before anything goes on.
_CHANGES_THE_PLAN = ("reduce", "revise")


def decision_views(home: Sequence[Event]) -> tuple[DecisionView, ...]:
    """Return every decision that was awaited, oldest first. What is decided is always the last of them."""
    found: list[DecisionView] = []
    for event in home:
        if event.type is EventType.DECISION_AWAITED:
            stage = str(event.facts["stage"])
            found.append(DecisionView(stage=stage, awaited_at=event.at, measured=dict(event.facts)))
        elif found:
            found[-1] = _fold(found[-1], event)
    return tuple(found)


def _fold(view: DecisionView, event: Event) -> DecisionView:
    if event.type is EventType.DECISION_MADE:
        return replace(view, choice=event.facts["choice"], why=event.facts["why"], made_at=event.at)
    if event.type is EventType.DECISION_FOLLOWED:
        return replace(view, followed_at=event.at)
    unheeded = view.followed_at is None and view.choice in _CHANGES_THE_PLAN
    if event.type is EventType.PLAN_REVISED and unheeded:
        return replace(view, revised_at=event.at)
    return view
