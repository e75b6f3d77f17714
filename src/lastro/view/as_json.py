"""A page for programs: the one object that `--json` prints and that report.json holds.

Keys and codes are English whatever the language. What is unknown or undefined is null beside a reason.
"""

from __future__ import annotations

from typing import Any

from lastro.journal.views import AttemptView, CheckpointView, DeliverableView, InterruptionView
from lastro.units import Money
from lastro.view.accounting import account_json, line_json
from lastro.view.outcome import outcome_json
from lastro.view.parts import DecisionRow, Evidence, MachineRow, NowRow, Page, RunRow
from lastro.view.telemetry import Use


def page_json(page: Page) -> dict[str, Any]:
    """Return the page as JSON values (floats may be NaN: print with `strictjson`)."""
    return {
        "campaign": page.campaign,
        "question": page.question,
        "state": page.headline.verdict,
        "decision": _decision(page),
        "runs": [_run(row) for row in page.runs],
        "deliverables": [_deliverable(item) for item in page.deliverables],
        "cost": _cost(page),
        "interruptions": [_interruption(item) for item in page.interruptions],
        "machines": [_machine(row) for row in page.machines],
        "faults": [dict(fault) for fault in page.faults],
        "now": [_now(row) for row in page.now],
        "plan": _plan(page),
        "outcome": outcome_json(page.outcome) if page.outcome else None,
        "report": page.provenance.report,
        "folder": page.provenance.folder,
        "root_digest": page.provenance.root_digest,
        "closed_at": page.closed_at,
        "closing": {"state": page.closing_state, "copies": [vars(one) for one in page.copies]},
        "at": page.provenance.at,
        "lastro": page.provenance.lastro,
        "journal": [
            {"stream": head.stream, "events": head.events, "digest": head.digest}
            for head in page.provenance.heads
        ],
    }


def _money(value: Money | None) -> dict[str, str] | None:
    return None if value is None else value.as_json()


def _decision(page: Page) -> dict[str, Any]:
    """Return the decision; before the conclusion its verdict is null, and `why` says what is going on."""
    found = page.conclusion
    return {
        "verdict": None if found is None else found.verdict,
        "run": None if found is None else found.run,
        "why": f"{page.headline.text}: {page.headline.why}" if found is None else found.why,
        "evidence": dict(found.evidence)
        if found is not None and found.evidence
        else _evidence(page.evidence),
    }


def _decided(row: DecisionRow) -> dict[str, Any]:
    return {
        "stage": row.stage,
        "awaited_at": row.awaited_at,
        "choice": row.choice,
        "why": row.why,
        "made_at": row.made_at,
        "followed_at": row.followed_at,
        "measured": dict(row.facts),
    }


def _evidence(evidence: Evidence | None) -> dict[str, Any]:
    """Return what the page compares the runs by; the closing's own evidence stands in its place."""
    if evidence is None:
        return {}
    return {
        "metric": evidence.metric,
        "better": evidence.better,
        "margin": evidence.margin,
        "over": evidence.over,
        "runs": [
            {
                "run": row.run,
                "name": row.name,
                "value": row.value,
                "source": row.source,
                "difference": row.difference,
            }
            for row in evidence.rows
        ],
    }


def _run(row: RunRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "name": row.name,
        "priority": row.priority,
        "status": row.status,
        "why": row.why,
        "config": dict(row.config),
        "changes": {change.key: {"control": change.control, "value": change.value} for change in row.changes},
        "superseded_by": row.superseded_by,
        "steps": row.steps,
        "lost_steps": row.lost_steps if row.lost_is_complete else None,
        "metric": row.metric,
        "metric_source": row.metric_source,
        "damaged_lines": row.damaged_lines,
        "attempts": [_attempt(life) for life in row.attempts],
        "telemetry": _use(row.use) if row.use else None,
    }


def _use(use: Use) -> dict[str, Any]:
    def spread(name: str) -> dict[str, float] | None:
        found = use.spreads.get(name)
        return {"mean": found.mean, "peak": found.peak} if found else None

    return {
        "seconds": use.seconds,
        "samples": use.samples,
        "cores": spread("cpu"),
        "memory": spread("rss"),
        "memory_share": use.memory_share,
        "read": use.read,
        "written": use.written,
        "free": use.free,
        "gpu_level": use.gpu_level,
        "gpus": list(use.devices),
        "gpu_use": spread("gpu_use"),
        "gpu_memory": spread("gpu_memory"),
        "gpu_power": spread("gpu_power"),
        "temperature": use.temperature,
        "held_back": dict(use.held_back),
    }


def _attempt(life: AttemptView) -> dict[str, Any]:
    return {
        "number": life.number,
        "machine": life.machine,
        "node": life.node,
        "process": dict(life.process) if life.process else None,
        "started_at": life.started_at,
        "ended_at": life.ended_at,
        "end": life.end,
        "why": life.why,
        "resumed_step": life.resumed_step,
        "last_step": life.last_step,
        "committed_step": life.committed_step,
        "lost_steps": life.lost_steps,
        "items_done": life.items_done,
        "items_total": life.items_total,
        "checkpoints": [_checkpoint(saved) for saved in life.checkpoints],
        "passed_over": [{"folder": folder, "why": why} for folder, why in life.passed_over],
    }


def _checkpoint(saved: CheckpointView) -> dict[str, Any]:
    return {
        "step": saved.step,
        "folder": saved.folder,
        "bytes": saved.bytes,
        "seconds": saved.seconds,
        "why": saved.why,
        "at": saved.at,
        "healthy": saved.healthy,
    }


def _deliverable(item: DeliverableView) -> dict[str, Any]:
    return {
        "run": item.run,
        "name": item.name,
        "path": item.path,
        "status": item.status,
        "why": item.why,
        "level": item.level,
        "level_why": item.level_why,
        "loader": item.loader,
        "versions": dict(item.versions),
        "seconds": item.seconds,
        "digest": item.digest,
        "metric": item.metric,
        "duplicate_of": item.duplicate_of,
        "near": item.near,
        "bases": [dict(base) for base in item.bases],
        "warnings": list(item.warnings),
    }


def _cost(page: Page) -> dict[str, Any]:
    bill, each = page.cost.bill, page.cost.per_accepted
    return {
        "total": _money(bill.total),
        "total_reason": bill.reason,
        "per_accepted": _money(each.amount),
        "unit": each.unit,
        # Why the total is unknown is also why nothing can be divided by it.
        "reason": bill.reason if bill.total is None else each.reason,
        "by_currency": [_money(amount) for amount in bill.by_currency],
        "budget": _money(page.cost.budget),
        "planned": {
            "likely": _money(page.cost.forecast.likely),
            "low": _money(page.cost.forecast.low),
            "high": _money(page.cost.forecast.high),
            "reason": page.cost.forecast.reason,
        }
        if page.cost.forecast
        else None,
        "per_hour": _money(page.cost.rate),
        "per_hour_reason": page.cost.rate_reason,
        "used_seconds": page.cost.used_seconds,
        "idle_seconds": page.cost.idle_seconds,
        "lines": [line_json(line) for line in bill.lines],
        **account_json(bill),
    }


def _interruption(item: InterruptionView) -> dict[str, Any]:
    return {
        "run": item.run,
        "name": item.name,
        "attempt": item.attempt,
        "at": item.at,
        "end": item.end,
        "why": item.why,
        "step": item.step,
        "committed_step": item.committed_step,
        "lost_steps": item.lost_steps,
        "resumed_step": item.resumed_step,
        "seconds_to_next_step": item.seconds_to_next_step,
    }


def _machine(row: MachineRow) -> dict[str, Any]:
    view = row.view
    return {
        "id": view.id,
        "node": view.node,
        "level": view.level,
        "level_why": view.level_why,
        "tag": view.tag,
        "provider": view.provider,
        "state": view.state,
        "lease": view.lease.as_json() if view.lease else None,
        "created_at": view.created_at,
        "ready_at": view.ready_at,
        "gone_at": view.gone_at,
        "cause": view.cause,
        "seconds": view.seconds,
        "busy_seconds": row.busy_seconds,
        "preflight": row.preflight,
        "disk": row.disk,
    }


def _now(row: NowRow) -> dict[str, Any]:
    return {
        "run": row.run,
        "name": row.name,
        "attempt": row.attempt,
        "machine": row.machine,
        "since": row.since,
        "step": row.step,
        "committed_step": row.committed_step,
        "steps_at_risk": row.at_risk,
        "silent_seconds": row.silent_seconds,
        "telemetry": dict(row.sample) if row.sample else None,
        "pid": row.pid,
        "items_done": row.items_done,
        "items_total": row.items_total,
    }


def _plan(page: Page) -> dict[str, Any]:
    return {
        "digest": page.plan.digest,
        "frozen_at": page.plan.frozen_at,
        "window_hours": page.plan.window_hours,
        "revisions": [
            {"at": item.at, "digest": item.digest, "why": item.why} for item in page.plan.revisions
        ],
        "deviations": [
            {"run": row.run, "planned_hours": row.planned_hours, "observed_hours": row.observed_hours}
            for row in page.plan.deviations
        ],
        "drills": [vars(row) for row in page.plan.drills],
        "decisions": [_decided(row) for row in page.plan.decisions],
        "left_out": list(page.plan.left_out),
        "moves": [vars(move) for move in page.plan.moves],
        "no_offer_left": vars(page.plan.spent) if page.plan.spent is not None else None,
    }
