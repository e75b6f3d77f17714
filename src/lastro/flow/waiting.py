"""What a campaign that waits for a decision shows: measured and planned, new options, what waiting costs."""

from __future__ import annotations

from lastro.clock import Clock
from lastro.flow.freeze import Draft, Durations, Sources, draw_up
from lastro.flow.session import Session
from lastro.flow.still_billing import Billing, still_billing
from lastro.journal.views import DecisionView
from lastro.plan.model import Plan
from lastro.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """A decision that has to come before anything goes on.

    `planned`: the frozen plan. `updated`: the same campaign drawn up again, with durations as they were
    measured; nobody has frozen it, and it begins at its beginning: what is done and paid is not taken off.
    """

    decision: DecisionView
    why: str
    planned: Plan
    updated: Plan
    billing: tuple[Billing, ...]


def waiting_for(session: Session, plan: Plan, why: str, draft: Draft, clock: Clock) -> Waiting | None:
    """Return what is waited for; None when it is nothing.

    Args:
        session: the campaign.
        plan: the frozen one.
        why: what has to come.
        draft: of the campaign file as it is now.
        clock: for the date of the plan that is drawn up again.
    """
    view = session.view()
    if view.open_decision is None:
        return None
    again = draw_up(
        draft.loaded,
        clock,
        on=plan.provider,
        disk=draft.disk,
        sources=Sources(durations=Durations.MEASURED),
    )
    return Waiting(
        decision=view.open_decision,
        why=why,
        planned=plan,
        updated=again.plan,
        billing=tuple(still_billing(view)),
    )
