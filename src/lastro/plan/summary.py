"""A plan as `lastro plan --json` tells it: hours, options with their cost lines, disk, findings."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from lastro.plan.model import Plan
from lastro.plan.parts import DiskNeed

_GB = 10**9


def summary(plan: Plan) -> dict[str, Any]:
    """Return the parts of a plan that people ask for. Hours are hours, money is text with its currency."""
    total = plan.total_hours
    return {
        "calendar": {
            "reserved_hours": total.likely if total else None,
            "low_hours": total.low if total else None,
            "high_hours": total.high if total else None,
            "window_hours": plan.window_hours,
            "slack_hours": plan.slack_hours,
            "slots": [asdict(slot) for slot in plan.calendar],
            "unplaced": [asdict(one) for one in plan.unplaced],
        },
        "options": [{**option.as_json(), "fits": option.fits} for option in plan.options],
        "taken": {"option": plan.option, "why": plan.lease_why},
        "ladder": [rung.as_json() for rung in plan.ladder],
        "move_on": asdict(plan.move_on),
        "runs": [
            {"id": run.id, "name": run.name, "priority": run.priority, "decides": run.decides}
            for run in plan.runs
        ],
        "left_out": list(plan.left_out),
        "estimates": [one.as_json() for one in plan.estimates],
        "disk": _disk(plan.disk_need),
        "findings": [asdict(finding) for finding in plan.findings],
        "uncertainties": list(plan.uncertainties),
    }


def _disk(need: DiskNeed | None) -> dict[str, Any] | None:
    if need is None:
        return None
    return {
        "needed_gb": None if need.needed is None else need.needed / _GB,
        "recommended_gb": None if need.recommended is None else need.recommended / _GB,
        "complete": need.complete,
        "row": need.row,
        "why": need.why,
        "parts": [
            {"name": part.name, "gb": None if part.bytes is None else part.bytes / _GB, "files": part.files}
            | {"why": part.why}
            for part in need.parts
        ],
    }
