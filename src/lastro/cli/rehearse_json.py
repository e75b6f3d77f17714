"""The result of a rehearsal as one JSON object."""

from __future__ import annotations

from typing import Any

from lastro.cli.rehearse_words import limits
from lastro.flow.rehearsal import Played, Rehearsal, drawn_of
from lastro.plan.rehearsal_account import Blow
from lastro.plan.rehearsal_promises import Promise


def rehearsal_json(done: Rehearsal) -> dict[str, Any]:
    """Return what `lastro rehearse --json` prints. Hours and money are those of the plan."""
    return {
        "campaign": done.campaign,
        "seed": done.seed,
        "plan": done.plan,
        "frozen": done.frozen,
        "notes": list(done.notes),
        "failed": list(done.failed),
        **(_played(done.played) if done.played else {"verdict": None}),
        "cannot_show": list(limits()),
        "folder": str(done.folder) if done.folder else None,
    }


def _played(played: Played) -> dict[str, Any]:
    weather, scale = played.weather, played.scale
    return {
        "verdict": played.verdict.value,
        "promises": [_promise(one) for one in played.promises],
        "faults": [_fault(played, blow) for blow in played.blows],
        "weather": {
            "origin": weather.origin if weather else None,
            "assumed": [*(weather.assumed if weather else ()), *played.shape.pauses.said],
            "expected_losses": played.forecast.expected,
            "cut": played.forecast.cut,
        },
        "scale": {
            "runs": [
                {"run": one.run, "steps": one.steps, "hours": one.hours, "step_hours": one.step_hours}
                for one in scale.runs.values()
            ],
            "saves_every_steps": scale.every,
            "unseen": list(scale.unseen),
            "notes": list(scale.notes),
        },
        "machines": played.machines,
        "seconds": {"undisturbed": round(played.seconds[0], 3), "disturbed": round(played.seconds[1], 3)},
    }


def _promise(one: Promise) -> dict[str, Any]:
    value: dict[str, Any] = {
        "name": one.name,
        "answer": one.answer.value,
        "promised": one.promised,
        "seen": one.seen,
        "why": one.why,
        "condition": one.condition or None,
        "faults": [None if index is None else index + 1 for index in one.faults],
    }
    if one.hours is not None:
        value["hours"] = {"promised": one.hours[0], "seen": one.hours[1]}
    if one.money is not None:
        promised, seen = one.money
        value["money"] = {
            "promised": promised.as_json() if promised else None,
            "seen": seen.as_json() if seen else None,
        }
    return value


def _fault(played: Played, blow: Blow) -> dict[str, Any]:
    drawn = drawn_of(played, blow.index)
    return {
        "number": None if blow.index is None else blow.index + 1,
        "kind": blow.kind.value if blow.kind else None,
        "run": blow.run or None,
        "step": blow.step if blow.run else None,
        "notice_seconds": drawn.notice if drawn else None,
        "create": drawn.create if drawn else None,
        "added": drawn.added if drawn else False,
        "happened": blow.happened,
        "lost_steps": blow.lost_steps,
        "lost_hours": blow.lost,
        "delay_hours": blow.delay,
        "why": blow.why,
    }
