"""Puts the forecast beside what came of it, stage by stage and in all. Pure; the forecast stays as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from lastro.clock import from_iso
from lastro.journal.views import AttemptView, CampaignView, RunView
from lastro.locale import _, ngettext
from lastro.rules import End
from lastro.units import Money
from lastro.view import show
from lastro.view.moves import move_text
from lastro.view.outcome_parts import CostBeside, Explanation, Outcome, StageRow

_KINDS: Mapping[str, str] = {
    End.NOTICE.value: "interrupted",
    End.LOST.value: "interrupted",
    End.CRASHED.value: "crashed",
    End.KILLED.value: "crashed",
    End.HUNG.value: "hung",
    End.ASKED.value: "paused",
    End.LIMIT.value: "limit",
    End.DISK_FULL.value: "disk",
    End.DISK_GONE.value: "disk",
}


def outcome_of(campaign: CampaignView) -> Outcome | None:
    """Return forecast and actual; None before anything was frozen."""
    plan = campaign.forecast
    if plan is None:
        return None
    stages = tuple(_row(slot, plan, campaign) for slot in plan.get("calendar") or ())
    end = plan.get("total_hours")
    elapsed, window, slack = _elapsed(campaign), plan.get("window_hours"), plan.get("slack_hours")
    left = window - elapsed if window is not None and elapsed is not None else None
    return Outcome(
        digest=campaign.forecast_digest,
        stages=stages,
        window=window,
        planned_end=(end["low"], end["likely"], end["high"]) if end else None,
        elapsed=elapsed,
        slack=slack,
        slack_used=slack - left if slack is not None and left is not None else None,
        slack_left=left,
        cost=_cost(plan, campaign.cost.total),
        waits=campaign.waits,
        doubts=campaign.doubts,
        off=tuple(row.name for row in stages if row.outside),
        moves=campaign.offers.moves,
    )


def _elapsed(campaign: CampaignView) -> float | None:
    """Return the hours from the freezing to the last sign of work; None while nothing has begun."""
    lives = [life for run in campaign.runs for life in run.attempts]
    if not lives or campaign.frozen_at is None:
        return None
    ends = [from_iso(life.ended_at) if life.ended_at else campaign.at for life in lives]
    hours = (max(ends) - from_iso(campaign.frozen_at)).total_seconds() / 3600
    return hours if hours >= 0 else None


def _cost(plan: Mapping[str, Any], total: Money | None) -> CostBeside:
    option = plan.get("option") or ""
    taken = next((one for one in plan.get("options") or () if one.get("name") == option), None)
    cost = taken["cost"] if taken else {}
    low, likely, high = (show.amount_of(cost.get(key)) for key in ("low", "total", "high"))
    comparable = total is not None and likely is not None and likely.currency == total.currency
    difference, outside = None, None
    if comparable and total is not None and likely is not None:
        difference = Money(total.amount - likely.amount, total.currency)
        known = low is not None and high is not None
        outside = not low.amount <= total.amount <= high.amount if known and low and high else None
    return CostBeside(
        low=low, likely=likely, high=high, observed=total, difference=difference, outside=outside
    )


# --- one stage ----------------------------------------------------------------------------------------


def _row(slot: Mapping[str, Any], plan: Mapping[str, Any], campaign: CampaignView) -> StageRow:
    low, likely, high = (
        round(float(slot[f"end{case}_hours"]) - float(slot[f"start{case}_hours"]), 9)
        if f"end{case}_hours" in slot
        else round(float(slot["end_hours"]) - float(slot["start_hours"]), 9)
        for case in ("_low", "", "_high")
    )
    stage, name = str(slot["stage"]), slot.get("run")
    mine = [one for one in campaign.runs if name is not None and name in (one.id, one.name)]
    run = next((one for one in mine if one.superseded_by is None), mine[0] if mine else None)
    observed, source = _observed(slot, plan, campaign, run)
    return StageRow(
        stage=stage,
        run=name,
        low=low,
        likely=likely,
        high=high,
        origin=str(slot.get("origin", "")),
        observed=observed,
        source=source,
        deviation=observed - likely if observed is not None else None,
        outside=not low <= observed <= high if observed is not None else None,
        explanations=tuple(_explained(stage, name, campaign, run if _is_whole(slot, plan) else None)),
    )


def _is_whole(slot: Mapping[str, Any], plan: Mapping[str, Any]) -> bool:
    """Say whether an interval is all of its run: the longest of them is; a pilot is a part of it."""
    if slot.get("run") is None:
        return False
    mine = [one for one in plan["calendar"] if one.get("run") == slot["run"]]
    return bool(max(mine, key=lambda one: float(one["end_hours"]) - float(one["start_hours"])) == slot)


def _observed(
    slot: Mapping[str, Any], plan: Mapping[str, Any], campaign: CampaignView, run: RunView | None
) -> tuple[float | None, str | None]:
    if run is not None and _is_whole(slot, plan):
        worked = [life.worked_seconds for life in run.attempts]
        known = [seconds for seconds in worked if seconds is not None]
        over = run.status == "completed"
        return (
            (sum(known) / 3600, "measured") if over and known and len(known) == len(worked) else (None, None)
        )
    for decision in campaign.decisions if run is not None else ():
        for told in decision.measured.get("runs") or ():
            if decision.stage == slot["stage"] and run is not None and told["run"] == run.id:
                return float(told["worked_hours"]), "measured"
    typed = [one.hours for one in campaign.explanations if _is_of(one.stage, one.run, slot)]
    hours = next((one for one in reversed(typed) if one is not None), None)
    return (hours, "typed") if hours is not None else (None, None)


def _is_of(stage: str, run: str | None, slot: Mapping[str, Any]) -> bool:
    return stage == slot["stage"] and run in (None, slot.get("run"))


def _explained(
    stage: str, name: str | None, campaign: CampaignView, run: RunView | None
) -> Iterator[Explanation]:
    yield from _from_events(run) if run is not None else ()
    yield from _from_moves(run, campaign) if run is not None else ()
    for one in campaign.explanations:
        if one.stage == stage and one.run in (None, name):
            yield Explanation(kind="typed", text=one.why, hours=None, origin="typed")


def _from_events(run: RunView) -> Iterator[Explanation]:
    """Yield what the attempts of a run say of its time, a line for each kind of end."""
    by_kind: dict[str, list[AttemptView]] = {}
    for life in run.attempts:
        kind = _KINDS.get(life.end or "")
        if kind is not None:
            by_kind.setdefault(kind, []).append(life)
    for kind, lives in by_kind.items():
        lost = [life.lost_steps for life in lives]
        text = ngettext("{count} attempt: {why}", "{count} attempts: {why}", len(lives)).format(
            count=len(lives), why=lives[-1].why or kind
        )
        again = sum(steps or 0 for steps in lost)
        if again and None not in lost:
            text = _("{text}; {steps} steps were done again").format(text=text, steps=again)
        yield Explanation(kind=kind, text=text, hours=_lost_hours(lives), origin="events")
    waits = sum(life.waits for life in run.attempts)
    if waits:
        text = ngettext("it waited {count} time for room", "it waited {count} times for room", waits)
        yield Explanation(kind="disk", text=text.format(count=waits), hours=None, origin="events")


def _from_moves(run: RunView, campaign: CampaignView) -> Iterator[Explanation]:
    """Yield the moves to an offer on whose machines the run has worked: other hours, at another price."""
    offer_of = {one.id: one.lease.offer for one in campaign.machines if one.lease is not None}
    worked = {offer_of.get(life.machine) for life in run.attempts}
    for move in campaign.offers.moves:
        if move.to in worked:
            yield Explanation(kind="offer", text=move_text(move), hours=None, origin="events")


def _lost_hours(lives: Sequence[AttemptView]) -> float | None:
    """Return the hours that were worked for nothing: the share of lost steps in those that were done."""
    total = 0.0
    for life in lives:
        if life.worked_seconds is None or life.lost_steps is None or life.last_step is None:
            return None
        done = life.last_step - (life.resumed_step or 0)
        if life.items_done is None and done > 0:
            total += life.worked_seconds * min(1.0, life.lost_steps / done)
    return total / 3600


# --- for programs -------------------------------------------------------------------------------------


def outcome_json(outcome: Outcome) -> dict[str, Any]:
    """Return forecast and actual for programs."""
    money = {
        key: value.as_json() if isinstance(value, Money) else value
        for key, value in vars(outcome.cost).items()
    }
    end = outcome.planned_end
    return {
        "digest": outcome.digest,
        "stages": [asdict(row) for row in outcome.stages],
        "window_hours": outcome.window,
        "planned_end_hours": {"low": end[0], "likely": end[1], "high": end[2]} if end else None,
        "elapsed_hours": outcome.elapsed,
        "slack_hours": outcome.slack,
        "slack_used_hours": outcome.slack_used,
        "slack_left_hours": outcome.slack_left,
        "cost": money,
        "waits": [asdict(wait) for wait in outcome.waits],
        "doubts": [asdict(doubt) for doubt in outcome.doubts],
        "off": list(outcome.off),
        "moves": [asdict(move) for move in outcome.moves],
    }
