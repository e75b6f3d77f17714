"""The first sentence of every face: the verdict, or what the campaign is doing, with its evidence. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from lastro.journal.views import CampaignView, RunView
from lastro.locale import _, ngettext
from lastro.records import dataclass
from lastro.view.decided import headline_why
from lastro.view.parts import Evidence, EvidenceRow, Headline
from lastro.view.series import Measured


@dataclass(frozen=True)
class Value:
    """A metric's value and where it comes from (see parts.EvidenceRow)."""

    value: float | None = None
    source: str | None = None


def headline_of(campaign: CampaignView) -> Headline:
    """Return the verdict of a concluded campaign, else what is going on."""
    conclusion = campaign.conclusion
    if conclusion is None:
        return _unconcluded(campaign)
    name = next((run.name for run in campaign.runs if run.id == conclusion.run), conclusion.run)
    texts = {
        "adopt": _("Adopt {name}").format(name=name),
        "keep_control": _("Keep the control"),
        "undecided": _("Undecided"),
        "stopped": _("Stopped"),
    }
    return Headline(
        verdict=conclusion.verdict,
        text=texts.get(conclusion.verdict, conclusion.verdict),
        why=conclusion.why,
        run=conclusion.run,
    )


def _unconcluded(campaign: CampaignView) -> Headline:
    runs = [run for run in campaign.runs if run.status != "superseded"]
    done = sum(run.status == "completed" for run in runs)
    progress = ngettext(
        "{done} of {count} run completed", "{done} of {count} runs completed", len(runs)
    ).format(done=done, count=len(runs))
    # Between two attempts, or while the next one waits for room on the disk, a run runs too.
    alive = [run.name for run in runs if run.status == "running"]
    if alive:
        waiting = [run.name for run in runs if run.status == "running" and run.attempts[-1].no_room]
        if waiting:
            progress = _("{progress}; {names} waits for room on the disk").format(
                progress=progress, names=", ".join(waiting)
            )
        return Headline(
            verdict="running", text=_("Running: {names}").format(names=", ".join(alive)), why=progress
        )
    if campaign.halted is not None:
        text = _("{progress}; stopped on request: {why}; `lastro run` goes on")
        progress = text.format(progress=progress, why=campaign.halted)
    if campaign.plan is None:
        return Headline(verdict="waiting", text=_("No plan is frozen yet"), why=_("nothing was rented"))
    if (decision := campaign.open_decision) is not None:
        waits = _("A person decides after {stage}") if decision.choice is None else _("Decided after {stage}")
        why = f"{headline_why(decision)}; {progress}"
        return Headline(verdict="waiting", text=waits.format(stage=decision.stage), why=why)
    if all(not run.attempts for run in runs):
        return Headline(verdict="waiting", text=_("Nothing has started yet"), why=progress)
    if (single := _single(campaign, runs)) is not None:
        return single
    if any(run.status in ("waiting", "interrupted", "paused") for run in runs):
        return Headline(verdict="open", text=_("Not running now"), why=progress)
    why = _("{progress}; no output counts before the closing has reloaded it").format(progress=progress)
    return Headline(verdict="open", text=_("Ended, not closed"), why=why)


def _single(campaign: CampaignView, runs: Sequence[RunView]) -> Headline | None:
    """Return the end of a campaign of one run that promises nothing, by its name; None for any other."""
    promises = campaign.plan and (campaign.plan.get("deliverables") or campaign.plan.get("decision"))
    if promises or len(runs) != 1:
        return None
    texts = {
        "completed": _("Completed"),
        "failed": _("Failed"),
        "stopped": _("Stopped by a rule"),
        "paused": _("Paused"),
        "interrupted": _("Interrupted"),
    }
    text = texts.get(runs[0].status)
    return Headline(verdict="open", text=text, why=runs[0].why or "") if text is not None else None


def metric_of(run: RunView, campaign: CampaignView, measured: Measured) -> Value:
    """Return the value of the decision's metric for one run: the closing's before the job's own."""
    metric = decision_of(campaign.plan).get("metric")
    outputs = _outputs_with(metric, campaign.plan)
    judged = [
        item
        for item in campaign.deliverables
        if item.run == run.id and item.metric is not None and (outputs is None or item.name in outputs)
    ]
    accepted = [item for item in judged if item.status == "accepted"]
    if accepted:
        return Value(accepted[0].metric, "recomputed")
    if judged:
        return Value(judged[0].metric, "rejected" if judged[0].status == "rejected" else "unproven")
    logged = measured.series.get(metric) if metric else None
    return Value(logged.last, "logged") if logged else Value()


def _outputs_with(metric: Any, plan: Mapping[str, Any] | None) -> set[str] | None:
    """Return the outputs whose metric is the decision's; None when the plan does not say."""
    promised = [item for item in (plan.get("deliverables") or ()) if item.get("metric")] if plan else []
    return {item["name"] for item in promised if item["metric"]["name"] == metric} if promised else None


def decision_of(plan: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the decision rule of a plan; an empty one where there is none."""
    return (plan.get("decision") or {}) if plan else {}


def control_of(campaign: CampaignView) -> str | None:
    """Return the id of the run that the others are compared with: named by the plan, else `control`."""
    over = decision_of(campaign.plan).get("over") or "control"
    runs = [run for run in campaign.runs if run.status != "superseded"]
    return next((run.id for run in runs if over in (run.id, run.name)), None)


def evidence_of(
    campaign: CampaignView, values: Mapping[str, Value], index: Mapping[str, int]
) -> Evidence | None:
    """Return each run's metric against the control's and the margin; None without a decision's metric.

    Args:
        campaign: whose plan holds the decision rule.
        values: the decision's metric by run id.
        index: position of each run, for its colour.
    """
    rule = decision_of(campaign.plan)
    metric = rule.get("metric")
    if not metric:
        return None
    control = control_of(campaign)
    base = values.get(control, Value()) if control else Value()
    margin = rule.get("adopt_margin")
    better = str(rule.get("better") or "higher")
    adopted = _adopted(campaign)
    rows = []
    for run in campaign.runs:
        if run.status == "superseded":
            continue
        mine = values[run.id]
        gap = None
        if run.id != control and mine.value is not None and base.value is not None:
            gap = mine.value - base.value
        rows.append(
            EvidenceRow(
                run=run.id,
                name=run.name,
                index=index[run.id],
                is_control=run.id == control,
                adopted=run.id == adopted,
                value=mine.value,
                source=mine.source,
                difference=gap,
                reaches=_reaches(gap, margin, better),
            )
        )
    return Evidence(
        metric=str(metric),
        better=better,
        margin=None if margin is None else float(margin),
        over=next((run.name for run in campaign.runs if run.id == control), None),
        rows=tuple(rows),
    )


def _adopted(campaign: CampaignView) -> str | None:
    found = campaign.conclusion
    return found.run if found is not None and found.verdict == "adopt" else None


def _reaches(gap: float | None, margin: Any, better: str) -> bool | None:
    """Say whether a difference reaches the margin; for the eye only, the verdict is the closing's."""
    if gap is None or margin is None or math.isnan(gap):
        return None
    gain = gap if better == "higher" else -gap
    return gain > float(margin) or abs(gain - float(margin)) <= 1e-12 * max(1.0, abs(float(margin)))
