"""The decisions of a campaign in words: what was measured, what was chosen, and why. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lastro.journal.views import CampaignView, DecisionView
from lastro.locale import _
from lastro.units import Money
from lastro.view import show
from lastro.view.parts import DecisionRow


def decision_rows(campaign: CampaignView) -> tuple[DecisionRow, ...]:
    """Return the decisions of a campaign, oldest first."""
    return tuple(_row(decision) for decision in campaign.decisions)


def _row(decision: DecisionView) -> DecisionRow:
    return DecisionRow(
        stage=decision.stage,
        awaited_at=decision.awaited_at,
        measured=tuple(measured_text(decision.measured)),
        choice=decision.choice,
        why=decision.why,
        made_at=decision.made_at,
        followed_at=decision.followed_at,
        facts=decision.measured,
    )


def measured_text(facts: Mapping[str, Any]) -> Iterator[str]:
    """Give what was measured beside what was planned, a line each: a run, then the money."""
    for run in facts["runs"]:
        yield _run(run)
        yield _whole(run)
    amounts = [Money.from_json(amount) for amount in facts["cost"]]
    known = ", ".join(str(amount) for amount in amounts) or _("nothing is known")
    text = _("so far it has cost {amounts}").format(amounts=known)
    yield text if facts["unknown"] is None else f"{text}; {facts['unknown']}"


def _run(run: Mapping[str, Any]) -> str:
    text = _("{run} worked for {hours} of {planned} planned").format(
        run=run["name"], hours=_hours(run["worked_hours"]), planned=_hours(run["planned_hours"])
    )
    lost = run["lost_steps"]
    if run["items_done"] is not None:
        done = _("{text}, {done} of {total} items; in hand at its end: {lost}")
        return done.format(
            text=text,
            done=show.count(run["items_done"]),
            total=show.count(run["items_total"]),
            lost=show.count(lost),
        )
    if run["step"] is not None:
        text += ", " + _("step {step}").format(step=show.count(run["step"]))
    saved = show.count(run["committed_step"]) if run["committed_step"] is not None else _("nothing")
    return _("{text}; saved at: {saved}, steps lost: {lost}").format(
        text=text, saved=saved, lost=show.count(lost)
    )


def _whole(run: Mapping[str, Any]) -> str:
    planned = _hours(run["whole_planned_hours"])
    if run["whole_hours"] is None:
        return _("how long {run} takes in all cannot be told ({why}); planned: {planned}").format(
            run=run["name"], why=run["whole_why"], planned=planned
        )
    return _("{run} takes {hours} in all ({why}); planned: {planned}").format(
        run=run["name"], hours=_hours(run["whole_hours"]), why=run["whole_why"], planned=planned
    )


def _hours(hours: float | None) -> str:
    return show.seconds(None if hours is None else 3600 * hours)


def headline_why(decision: DecisionView) -> str:
    """Return what has to come before anything goes on."""
    if decision.choice is None:
        return _("`lastro decide continue`, `reduce` or `revise`, with --why")
    if decision.choice == "revise" and decision.revised_at is None:
        return _(
            "to revise ({why}): change the campaign file, then `lastro plan --freeze --revise WHY`"
        ).format(why=decision.why)
    return _("to {choice} ({why}); `lastro run` goes on by it").format(
        choice=decision.choice, why=decision.why
    )
