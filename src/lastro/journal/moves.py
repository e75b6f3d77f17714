"""How a campaign went through its offers, folded from home's stream. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lastro.journal.events import EventType
from lastro.journal.streams import Event
from lastro.journal.views import MoveView, OffersView, SpentView


def offers_view(home: Sequence[Event]) -> OffersView:
    """Return which offers were left for which, and what became of it when none was left."""
    moves: list[MoveView] = []
    asked, since, spent = 0, 0, None
    for event in home:
        facts = event.facts
        if event.type is EventType.MACHINE_INTENDED:
            asked += 1
        elif event.type is EventType.MACHINE_CREATED:
            spent = None
        elif event.type is EventType.OFFER_LEFT:
            spent = None
            moves.append(
                MoveView(
                    offer=facts["offer"],
                    to=facts["to"],
                    what=facts["what"],
                    why=facts["why"],
                    at=event.at,
                    asked=asked,
                    figures=facts["figures"],
                )
            )
        elif event.type is EventType.OFFERS_SPENT:
            spent = SpentView(why=facts["why"], then=facts["then"], at=event.at, figures=facts["figures"])
        elif event.type is EventType.OFFERS_REOPENED:
            since, spent = facts["asked"], None
            moves = [replace(one, reopened=one.reopened or facts["why"]) for one in moves]
    return OffersView(moves=tuple(moves), since=since, spent=spent)
