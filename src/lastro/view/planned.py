"""What was fixed before anything was rented, and how far the facts went from it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lastro.clock import from_iso
from lastro.journal.views import CampaignView, RunView
from lastro.locale import _
from lastro.view import show, words
from lastro.view.decided import decision_rows
from lastro.view.parts import Deviation, DrillRow, PlanPart, Revision
from lastro.view.verdict import decision_of


def plan_part(campaign: CampaignView) -> PlanPart:
    """Return the frozen plan in words, its revisions, and planned hours beside observed ones."""
    plan = campaign.plan or {}
    hours = plan.get("window_hours")
    return PlanPart(
        digest=campaign.plan_digest,
        frozen_at=campaign.frozen_at,
        window_hours=None if hours is None else float(hours),
        decision=_decision_text(decision_of(campaign.plan)),
        stop_rules=tuple(_stop_text(rule) for rule in plan.get("stop") or ()),
        revisions=tuple(
            Revision(at=item["at"], digest=item["digest"], why=item["why"]) for item in campaign.revisions
        ),
        deviations=tuple(
            _deviation(run, plan, campaign) for run in campaign.runs if run.status != "superseded"
        ),
        decisions=decision_rows(campaign),
        left_out=tuple(plan.get("left_out") or ()),
        moves=campaign.offers.moves,
        spent=campaign.offers.spent,
        drills=tuple(
            DrillRow(
                run=str(facts["run"]),
                at=str(facts["drilled_at"]),
                verdict=str(facts["verdict"]),
                why=str(facts["why"]),
                updates=int(facts["updates"]),
                current=facts["code_digest"] == plan.get("code_digest"),
            )
            for facts in campaign.drills
        ),
    )


def _decision_text(rule: Mapping[str, Any]) -> str | None:
    if not rule.get("metric"):
        return None
    better = _("lower") if rule.get("better") == "lower" else _("higher")
    text = _("{metric}, {better} is better").format(metric=rule["metric"], better=better)
    if rule.get("adopt_margin") is None:
        return text
    return _("{rule}; adopt a run that is better than {over} by at least {margin}").format(
        rule=text, over=rule.get("over") or "control", margin=show.number(float(rule["adopt_margin"]))
    )


def _stop_text(rule: Any) -> str:
    if not isinstance(rule, Mapping):
        return words.stop_kind(str(rule))
    text = words.stop_kind(str(rule.get("kind", "")))
    if rule.get("metric"):
        text += f": {rule['metric']}"
    if rule.get("below") is not None:
        text += " " + _("below {value}").format(value=show.number(float(rule["below"])))
    if rule.get("after_steps"):
        text += " " + _("after {count} steps").format(count=rule["after_steps"])
    return text


def _deviation(run: RunView, plan: Mapping[str, Any], campaign: CampaignView) -> Deviation:
    mine = [item for item in plan.get("calendar") or () if item.get("run") in (run.id, run.name)]
    # The longest slot is the run itself: a pilot is a part of it, and no more work.
    planned = max((float(item["end_hours"]) - float(item["start_hours"]) for item in mine), default=None)
    spent = [
        max(
            0.0,
            (
                (from_iso(life.ended_at) if life.ended_at else campaign.at) - from_iso(life.started_at)
            ).total_seconds(),
        )
        for life in run.attempts
    ]
    return Deviation(
        run=run.id, name=run.name, planned_hours=planned, observed_hours=sum(spent) / 3600 if spent else None
    )


def reload_commands(plan: Mapping[str, Any] | None) -> Mapping[str, str]:
    """Return the commands that use an output again, by its name."""
    promised = (plan.get("deliverables") or ()) if plan else ()
    return {item["name"]: str(item["reload"]) for item in promised if item.get("reload")}
