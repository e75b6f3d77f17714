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
from lastro.clock import from_iso, iso
from lastro.journal.streams import Head
from lastro.journal.views import CampaignView, RunView
from lastro.locale import catalogue, language
from lastro.rules import End
from lastro.view.burn import burn_of
from lastro.view.calendar import calendar_of
from lastro.view.money import cost_part, machine_row
from lastro.view.outcome import outcome_of
from lastro.view.parts import (
    Change,
    Chart,
    Curve,
    Live,
    NowRow,
    Page,
    PerAccepted,
    Provenance,
    RunRow,
    StreamHead,
)
from lastro.view.planned import plan_part, reload_commands
from lastro.view.series import Measured, Series
from lastro.view.telemetry import CURVES, Use
from lastro.view.telemetry_text import curve_title
from lastro.view.verdict import Value, control_of, decision_of, evidence_of, headline_of, metric_of

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
    root_digest: str | None = None,
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
        root_digest: of everything that the campaign has left, once it is closed.
    """
    curves = {run: _as_measured(found) for run, found in (measured or {}).items()}
    rule = decision_of(campaign.plan)
    values = {run.id: metric_of(run, campaign, curves.get(run.id, Measured())) for run in campaign.runs}
    index = {run.id: position for position, run in enumerate(campaign.runs)}
    outcome = outcome_of(campaign)
    seen = live or {}
    runs = _run_rows(campaign, values, index, curves, seen)
    return Page(
        language=page_language(),
        campaign=campaign.name,
        question=campaign.plan.get("question") if campaign.plan else None,
        headline=headline_of(campaign),
        conclusion=campaign.conclusion,
        evidence=evidence_of(campaign, values, index),
        cost=cost_part(campaign, per_accepted),
        runs=runs,
        charts=_charts(runs, curves, rule.get("metric")),
        calendar=calendar_of(campaign, runs),
        interruptions=campaign.interruptions,
        faults=campaign.faults,
        machines=tuple(machine_row(machine, campaign) for machine in campaign.machines),
        deliverables=campaign.deliverables,
        plan=plan_part(campaign),
        now=_now(campaign, seen),
        provenance=Provenance(
            lastro=__version__,
            at=iso(campaign.at),
            heads=tuple(
                StreamHead(stream=n, events=h.seq, digest=h.digest) for n, h in sorted((heads or {}).items())
            ),
            folder=folder,
            report=report,
            root_digest=root_digest,
        ),
        closed_at=campaign.closed["at"] if campaign.closed else None,
        reload_commands=reload_commands(campaign.plan),
        outcome=outcome,
        burn=burn_of(campaign, outcome),
        closing_state=campaign.closing_state,
        copies=campaign.copies,
    )


def _as_measured(found: Measured | Mapping[str, Series]) -> Measured:
    return found if isinstance(found, Measured) else Measured(series=found)


def page_language() -> str:
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


def _use_charts(runs: Sequence[RunRow]) -> tuple[Chart, ...]:
    """Return a chart for each thing that any run is known to have used, over its running time."""
    charts = []
    for name in CURVES:
        lines = tuple(
            Curve(run=row.id, name=row.name, index=row.index, series=row.use.curves[name], breaks=())
            for row in runs
            if row.use is not None and name in row.use.curves
        )
        if lines:
            charts.append(Chart(metric=curve_title(name), curves=lines, over_time=True))
    return tuple(charts)


def _now(campaign: CampaignView, live: Mapping[str, Live]) -> tuple[NowRow, ...]:
    rows = []
    for run in campaign.runs:
        life = run.attempts[-1] if run.attempts else None
        if life is None or not life.alive:
            continue
        seen = live.get(run.id, Live())
        step = seen.step if seen.step is not None else life.last_step
        items = seen.items_done if seen.items_done is not None else life.items_done
        kept = items if items is not None else life.committed_step
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
                at_risk=None if step is None else max(0, step - (kept or 0)),
                silent_seconds=seen.silent_seconds,
                pid=life.process["pid"] if life.process else None,
                items_done=items,
                items_total=life.items_total,
                sample=seen.sample,
            )
        )
    return tuple(rows)


def with_uses(page: Page, uses: Mapping[str, Use]) -> Page:
    """Return the page with what runs have used of their machines, by run id (see `telemetry.read_use`)."""
    runs = tuple(replace(row, use=uses.get(row.id)) for row in page.runs)
    return replace(page, runs=runs, use_charts=_use_charts(runs))


def with_report(page: Page, report: str) -> Page:
    """Return the page with the path of its report, once that is known."""
    return replace(page, provenance=replace(page.provenance, report=report))
