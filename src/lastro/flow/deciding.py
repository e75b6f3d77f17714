"""Where a campaign stands with its decision points: what is held, what was reached, what is awaited. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lastro.flow.pace import pace_of, worked_hours
from lastro.journal.views import CampaignView, DecisionView, RunView
from lastro.locale import _
from lastro.plan.model import Plan
from lastro.plan.points import DecisionPoint, Share
from lastro.records import dataclass

CONTINUE, REDUCE, REVISE = "continue", "reduce", "revise"
CHOICES = (CONTINUE, REDUCE, REVISE)
#: Ends after which nothing has to be done again.
_NOT_LOST = ("done", "stop_rule")
_OVER = ("completed", "stopped", "failed", "superseded")
#: What was worked is recorded to a thousandth of a second.
_ROUNDED_SECONDS = 0.01


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Where a campaign stands.

    reached: the point whose work is done and that nobody has recorded yet. awaits: why nothing more is
    started; None when nothing is awaited. held: ids of the runs that begin after a decision only; by: the
    stage that the first of them waits for.
    """

    reached: DecisionPoint | None = None
    awaits: str | None = None
    held: frozenset[str] = frozenset()
    by: str | None = None


def standing_of(plan: Plan, view: CampaignView) -> Standing:
    """Return where a campaign stands with the decision points of its frozen plan."""
    undecided = _undecided(plan, view)
    names = {name for point in undecided for name in point.holds}
    decision = view.open_decision
    first = undecided[0] if undecided else None
    is_due = decision is None and first is not None and _is_reached(first, plan, view)
    return Standing(
        reached=first if is_due else None,
        awaits=why_awaited(decision) if decision is not None else None,
        held=frozenset(run.id for run in plan.runs if run.name in names),
        by=first.stage if first is not None else None,
    )


def next_point(plan: Plan, view: CampaignView) -> DecisionPoint | None:
    """Return the first point at which nobody has decided yet; None when there is none left."""
    return next(iter(_undecided(plan, view)), None)


def why_awaited(decision: DecisionView) -> str:
    """Say what has to come before anything more is started."""
    if decision.choice == REVISE and decision.revised_at is None:
        return _(
            "after {stage} it was decided to revise: change the campaign file, then "
            "`lastro plan --freeze --revise WHY`"
        ).format(stage=decision.stage)
    if decision.choice is not None:
        return _("after {stage} it was decided to {choice}; `lastro run` goes on by it").format(
            stage=decision.stage, choice=decision.choice
        )
    return _(
        "{stage} is over, and a person decides: `lastro decide continue`, `reduce` or `revise`, with --why"
    ).format(stage=decision.stage)


def work_limit(plan: Plan, view: CampaignView, run: RunView) -> float | None:
    """Return for how many seconds a run may work, over all its attempts, before somebody decides.

    None: nothing is decided while it is at work.
    """
    hours = [
        share.hours
        for point in _undecided(plan, view)
        for share in point.shares
        if share.run == run.name and share.hours is not None
    ]
    return min(hours) * 3600 if hours else None


def _undecided(plan: Plan, view: CampaignView) -> tuple[DecisionPoint, ...]:
    decided = {decision.stage for decision in view.decisions if decision.followed_at is not None}
    return tuple(point for point in plan.decision_points if point.stage not in decided)


def _is_reached(point: DecisionPoint, plan: Plan, view: CampaignView) -> bool:
    return all(_is_done(share, run) for share, run in _shared(point, plan, view))


def _shared(point: DecisionPoint, plan: Plan, view: CampaignView) -> Iterator[tuple[Share, RunView]]:
    """Give the shares of a point with their runs; a run that the plan leaves out has none."""
    ids = {run.name: run.id for run in plan.runs}
    for share in point.shares:
        if share.run in ids:
            yield share, view.run(ids[share.run])


def _is_done(share: Share, run: RunView) -> bool:
    if run.status in _OVER:
        return True
    enough = share.hours is not None and worked_hours(run) * 3600 >= share.hours * 3600 - _ROUNDED_SECONDS
    return enough and run.status != "running"


# --- what was measured --------------------------------------------------------------------------------


def measured(point: DecisionPoint, plan: Plan, view: CampaignView) -> dict[str, Any]:
    """Return the facts of `decision.awaited`: measured beside planned, and what it has cost so far."""
    return {
        "stage": point.stage,
        "runs": [_measured(share, run, plan) for share, run in _shared(point, plan, view)],
        "cost": [amount.as_json() for amount in view.cost.by_currency],
        "unknown": view.cost.reason if view.cost.total is None else None,
    }


def _measured(share: Share, run: RunView, plan: Plan) -> dict[str, Any]:
    last = run.attempts[-1] if run.attempts else None
    pace = pace_of(run, share.steps)
    whole = planned_hours(plan, run.name)
    lost = [life.lost_steps for life in run.attempts if life.end not in _NOT_LOST]
    return {
        "run": run.id,
        "name": run.name,
        "status": run.status,
        "why": run.why,
        "attempts": len(run.attempts),
        "worked_hours": round(worked_hours(run), 9),
        "planned_hours": share.hours if share.hours is not None else whole,
        "step": _highest(run),
        "committed_step": last.committed_step if last else None,
        "lost_steps": None if None in lost else sum(steps or 0 for steps in lost),
        "items_done": last.items_done if last else None,
        "items_total": last.items_total if last else None,
        "whole_hours": None if pace.hours is None else round(pace.hours, 9),
        "whole_why": pace.why,
        "whole_planned_hours": whole,
    }


def pace_in(run: RunView, view: CampaignView) -> float | None:
    """Return how many hours a run takes in all, measured or by its pilot's pace; None: it does not tell.

    A part counts where a decision was awaited after it: what was cut off anywhere else may have just begun.
    """
    if run.status == "completed":
        return pace_of(run, None).hours
    awaited = (facts for decision in view.decisions for facts in decision.measured["runs"])
    told = [facts for facts in awaited if facts["run"] == run.id]
    hours = told[-1]["whole_hours"] if told else None
    return None if hours is None else float(hours)


def _highest(run: RunView) -> int | None:
    return max((life.last_step for life in run.attempts if life.last_step is not None), default=None)


def planned_hours(plan: Plan, name: str) -> float | None:
    """Return how long a run was planned to take: its longest slot, of which a pilot is a part."""
    mine = (round(slot.end_hours - slot.start_hours, 9) for slot in plan.calendar if slot.run == name)
    return max(mine, default=None)
