"""The view model: `page_of` turns a campaign into the one page that every face shows. Pure.

The report, the terminal and JSON for programs are made from a `Page` and from nothing else, so they cannot
disagree. What the journal does not hold (curves, heartbeats, heads of streams) is handed in.
"""

from __future__ import annotations

import gettext
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lastro import __version__
from lastro.billing import LeaseKind
from lastro.clock import from_iso, iso
from lastro.journal.streams import Head
from lastro.journal.views import AttemptView, CampaignView, MachineView, RunView
from lastro.locale import _, catalogue, language
from lastro.rules import End
from lastro.units import Money
from lastro.view import show, words
from lastro.view.calendar import calendar_of
from lastro.view.parts import (
    Change,
    Chart,
    CostPart,
    Curve,
    Deviation,
    Forecast,
    Live,
    MachineRow,
    NowRow,
    Page,
    PerAccepted,
    PlanPart,
    Provenance,
    Revision,
    RunRow,
    StreamHead,
)
from lastro.view.series import Measured, Series
from lastro.view.verdict import Value, control_of, decision_of, evidence_of, headline_of, metric_of

__all__ = ["Live", "Page", "PerAccepted", "page_of"]

_NOT_LOST = (End.DONE.value, End.STOP_RULE.value)


def page_of(
    campaign: CampaignView,
    measured: Mapping[str, Measured | Mapping[str, Series]] | None = None,
    *,
    per_accepted: PerAccepted | None = None,
    live: Mapping[str, Live] | None = None,
    heads: Mapping[str, Head] | None = None,
    folder: str | None = None,
    report: str | None = None,
) -> Page:
    """Return the page of a campaign.

    Args:
        campaign: what the journal says.
        measured: what each run measured, by run id (see `series.read_run`).
        per_accepted: what the closing's account says an accepted unit cost.
        live: what is seen of living attempts, by run id.
        heads: the ends of the journal's streams, by name.
        folder: the campaign's folder on the disk, for the commands that the report prints.
        report: path of the report.
    """
    curves = {run: _as_measured(found) for run, found in (measured or {}).items()}
    rule = decision_of(campaign.plan)
    values = {run.id: metric_of(run, campaign, curves.get(run.id, Measured())) for run in campaign.runs}
    index = {run.id: position for position, run in enumerate(campaign.runs)}
    seen = live or {}
    runs = _run_rows(campaign, values, index, curves, seen)
    return Page(
        language=_language(),
        campaign=campaign.name,
        question=campaign.plan.get("question") if campaign.plan else None,
        headline=headline_of(campaign),
        conclusion=campaign.conclusion,
        evidence=evidence_of(campaign, values, index),
        cost=_cost(campaign, per_accepted),
        runs=runs,
        charts=_charts(runs, curves, rule.get("metric")),
        calendar=calendar_of(campaign, runs),
        interruptions=campaign.interruptions,
        faults=campaign.faults,
        machines=tuple(_machine_row(machine, campaign) for machine in campaign.machines),
        deliverables=campaign.deliverables,
        plan=_plan_part(campaign),
        now=_now(campaign, seen),
        provenance=Provenance(
            lastro=__version__,
            at=iso(campaign.at),
            heads=tuple(
                StreamHead(stream=n, events=h.seq, digest=h.digest) for n, h in sorted((heads or {}).items())
            ),
            folder=folder,
            report=report,
        ),
        closed_at=campaign.closed["at"] if campaign.closed else None,
        reload_commands=_reload_commands(campaign.plan),
    )


def _as_measured(found: Measured | Mapping[str, Series]) -> Measured:
    return found if isinstance(found, Measured) else Measured(series=found)


def _language() -> str:
    """Return the language that the texts are really in: English where there is no catalogue."""
    name = language()
    found = isinstance(catalogue(name), gettext.GNUTranslations)
    return name.replace("_", "-") if found else "en"


# --- runs -----------------------------------------------------------------------------------------------


def _run_rows(
    campaign: CampaignView,
    values: Mapping[str, Value],
    index: Mapping[str, int],
    curves: Mapping[str, Measured],
    live: Mapping[str, Live],
) -> tuple[RunRow, ...]:
    control = control_of(campaign)
    base = next((run.config for run in campaign.runs if run.id == control), None)
    adopted = campaign.conclusion
    rows = []
    for run in campaign.runs:
        lost = [life.lost_steps for life in run.attempts if not life.alive and life.end not in _NOT_LOST]
        measured = curves.get(run.id, Measured())
        rows.append(
            RunRow(
                id=run.id,
                name=run.name,
                index=index[run.id],
                is_control=run.id == control,
                adopted=adopted is not None and adopted.verdict == "adopt" and adopted.run == run.id,
                priority=run.priority,
                status=run.status,
                why=run.why,
                config=run.config,
                changes=_changes(base, run.config) if run.id != control else (),
                attempts=run.attempts,
                steps=_steps(run, measured, live.get(run.id, Live())),
                lost_steps=sum(steps for steps in lost if steps is not None),
                lost_is_complete=None not in lost,
                metric=values[run.id].value,
                metric_source=values[run.id].source,
                deliverables=tuple(item for item in campaign.deliverables if item.run == run.id),
                first_at=run.attempts[0].started_at if run.attempts else None,
                last_at=run.attempts[-1].ended_at if run.attempts else None,
                damaged_lines=measured.damaged_lines,
                superseded_by=run.superseded_by,
            )
        )
    return tuple(rows)


def _changes(base: Mapping[str, Any] | None, config: Mapping[str, Any]) -> tuple[Change, ...]:
    if base is None:
        return ()
    keys = [*config, *(key for key in base if key not in config)]
    return tuple(
        Change(key=key, control=base.get(key), value=config.get(key))
        for key in keys
        if key not in base or key not in config or base[key] != config[key]
    )


def _steps(run: RunView, measured: Measured, seen: Live) -> int | None:
    known = [life.last_step for life in run.attempts if life.last_step is not None]
    known += [life.committed_step for life in run.attempts if life.committed_step is not None]
    if any(life.alive for life in run.attempts):
        known += [series.last_step for series in measured.series.values()]
        known += [seen.step] if seen.step is not None else []
    return max(known, default=None)


def _charts(runs: Sequence[RunRow], curves: Mapping[str, Measured], metric: str | None) -> tuple[Chart, ...]:
    """Return a chart a metric: the decision's first, the others by name."""
    names = {name for row in runs if row.id in curves for name in curves[row.id].series}
    charts = []
    for name in sorted(names, key=lambda item: (item != metric, item)):
        lines = [
            Curve(
                run=row.id,
                name=row.name,
                index=row.index,
                series=curves[row.id].series[name],
                breaks=tuple(
                    life.last_step
                    for life in row.attempts
                    if life.last_step is not None and life.end not in (None, End.DONE.value)
                ),
            )
            for row in runs
            if row.id in curves and name in curves[row.id].series
        ]
        charts.append(Chart(metric=name, curves=tuple(lines)))
    return tuple(charts)


def _now(campaign: CampaignView, live: Mapping[str, Live]) -> tuple[NowRow, ...]:
    rows = []
    for run in campaign.runs:
        life = run.attempts[-1] if run.attempts else None
        if life is None or not life.alive:
            continue
        seen = live.get(run.id, Live())
        step = seen.step if seen.step is not None else life.last_step
        rows.append(
            NowRow(
                run=run.id,
                name=run.name,
                attempt=life.number,
                machine=life.machine,
                since=life.started_at,
                running_seconds=max(0.0, (campaign.at - from_iso(life.started_at)).total_seconds()),
                step=step,
                committed_step=life.committed_step,
                at_risk=None if step is None else max(0, step - (life.committed_step or 0)),
                silent_seconds=seen.silent_seconds,
            )
        )
    return tuple(rows)


# --- machines and money ---------------------------------------------------------------------------------


def _machine_row(machine: MachineView, campaign: CampaignView) -> MachineRow:
    checks = [facts for facts in campaign.preflights if machine.id and facts["machine"] == machine.id]
    last = checks[-1] if checks else None
    findings = [_finding(item) for item in (last or {}).get("findings") or () if not _is_quiet(item)]
    return MachineRow(
        view=machine,
        busy_seconds=_busy(machine, campaign),
        preflight=str(last["verdict"]) if last else None,
        findings=tuple(findings),
    )


def _is_quiet(item: Any) -> bool:
    """Say whether a finding is one that a reader of the report need not see: the check passed."""
    if not isinstance(item, Mapping):
        return False
    return str(item.get("verdict") or item.get("level") or item.get("status")) in (
        "pass",
        "ok",
        "note",
        "skip",
    )


def _finding(item: Any) -> str:
    """Return one finding of preflight as a text, whatever keys the check has used."""
    if not isinstance(item, Mapping):
        return str(item)
    said = [str(item[key]) for key in ("name", "check", "verdict", "why", "message", "text") if item.get(key)]
    return ": ".join(said) if said else ", ".join(f"{key} {text}" for key, text in show.flattened(item))


def _lives(campaign: CampaignView) -> list[AttemptView]:
    return [life for run in campaign.runs for life in run.attempts]


def _busy(machine: MachineView, campaign: CampaignView) -> float:
    """Return the seconds in which at least one attempt ran on a machine, at most its own life."""
    spans = sorted(
        (from_iso(life.started_at), from_iso(life.ended_at) if life.ended_at else campaign.at)
        for life in _lives(campaign)
        if life.machine == machine.id
    )
    total, until = 0.0, None
    for start, end in spans:
        begun = start if until is None else max(start, until)
        total += max(0.0, (end - begun).total_seconds())
        until = end if until is None else max(until, end)
    return total if machine.seconds is None else min(total, machine.seconds)


def _cost(campaign: CampaignView, per_accepted: PerAccepted | None) -> CostPart:
    created = [machine for machine in campaign.machines if machine.created_at is not None]
    uses = [machine.seconds for machine in created]
    known = [use for use in uses if use is not None]
    used = sum(known) if created and len(known) == len(uses) else None
    busy = sum(_busy(machine, campaign) for machine in created)
    billing = [machine for machine in created if machine.state != "gone"]
    rate, why = _rate(billing)
    unit = decision_of(campaign.plan).get("unit")
    return CostPart(
        bill=campaign.cost,
        per_accepted=per_accepted or _undefined(campaign, unit),
        budget=show.amount_of(campaign.plan.get("budget")) if campaign.plan else None,
        used_seconds=used,
        idle_seconds=None if used is None else max(0.0, used - busy),
        forecast=_forecast(campaign.plan),
        rate=rate,
        rate_reason=why,
        bills_now=bool(billing),
    )


def _forecast(plan: Mapping[str, Any] | None) -> Forecast | None:
    """Return what the plan expected its chosen offer to cost; None when it chose none."""
    chosen = (plan.get("lease") or {}).get("offer") if plan else None
    for option in (plan.get("options") or ()) if plan else ():
        if chosen is not None and option["offer"] == chosen:
            low, likely, high = (show.amount_of(option.get(key)) for key in ("cost_low", "cost", "cost_high"))
            return Forecast(low=low, likely=likely, high=high, reason=option.get("reason"))
    return None


def _undefined(campaign: CampaignView, unit: Any) -> PerAccepted:
    """Say why a cost per accepted unit is not there when the closing's account gave none."""
    if unit in (None, "none"):
        return PerAccepted(reason=_("the campaign counts no unit"))
    if campaign.conclusion is None:
        return PerAccepted(reason=_("the campaign is not closed"), unit=str(unit))
    return PerAccepted(reason=_("the closing gave none"), unit=str(unit))


def _rate(machines: Sequence[MachineView]) -> tuple[Money | None, str | None]:
    """Return what an hour of these machines costs, or why that is not known. A lot is paid already."""
    total: Money | None = None
    for machine in machines:
        name = machine.id or machine.tag
        if machine.lease is None or machine.lease.price is None:
            return None, _("the price of machine {id} is unknown").format(id=name)
        if machine.lease.kind is LeaseKind.LOT:
            continue
        price = machine.lease.price
        if total is not None and total.currency != price.currency:
            return None, _("machines are billed in several currencies")
        total = price if total is None else total + price
    return total, None


# --- plan -----------------------------------------------------------------------------------------------


def _plan_part(campaign: CampaignView) -> PlanPart:
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
        (
            (from_iso(life.ended_at) if life.ended_at else campaign.at) - from_iso(life.started_at)
        ).total_seconds()
        for life in run.attempts
    ]
    return Deviation(
        run=run.id, name=run.name, planned_hours=planned, observed_hours=sum(spent) / 3600 if spent else None
    )


def _reload_commands(plan: Mapping[str, Any] | None) -> Mapping[str, str]:
    promised = (plan.get("deliverables") or ()) if plan else ()
    return {item["name"]: str(item["reload"]) for item in promised if item.get("reload")}


def with_report(page: Page, report: str) -> Page:
    """Return the page with the path of its report, once that is known."""
    return replace(page, provenance=replace(page.provenance, report=report))
