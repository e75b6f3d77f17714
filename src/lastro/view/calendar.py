"""The calendar: what was planned and what happened, on one axis of seconds. Pure.

Each moment is taken from the clock of its writer. Between machines these clocks may differ, so the picture
is for people: nothing is computed from it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from lastro.clock import from_iso
from lastro.journal.views import AttemptView, CampaignView, MachineView
from lastro.locale import _
from lastro.rules import End
from lastro.units import show_bytes
from lastro.view import show, words
from lastro.view.parts import Bar, Calendar, Lane, Mark, RunRow

_MARK_OF_END = {
    End.DONE.value: "done",
    End.STOP_RULE.value: "stop",
    End.NOTICE.value: "notice",
    End.ASKED.value: "notice",
    End.SAVED.value: "notice",
}


def calendar_of(campaign: CampaignView, runs: Sequence[RunRow]) -> Calendar:
    """Return the calendar of a campaign; an empty one when nothing is planned and nothing happened."""
    planned = _planned(campaign.plan)
    starts = [machine.created_at or machine.intended_at for machine in campaign.machines]
    starts += [life.started_at for row in runs for life in row.attempts]
    zero = min((from_iso(at) for at in starts), default=None)
    lanes = _stage_lanes(planned, runs)
    for row in runs:
        mine = [entry for entry in planned if entry.get("run") in (row.id, row.name)]
        lanes.append(_run_lane(row, mine, zero, campaign.at))
    lanes.sort(key=_planned_start)
    if zero is not None:
        lanes += [_machine_lane(machine, zero, campaign.at) for machine in campaign.machines]
    ends = [bar.end for lane in lanes for bar in lane.actual]
    return Calendar(
        zero_at=min(starts) if starts else None,
        planned_seconds=max((float(entry["end_hours"]) * 3600 for entry in planned), default=None),
        actual_seconds=max(ends) if ends else None,
        lanes=tuple(lanes),
    )


def _planned_start(lane: Lane) -> float:
    """Return when a lane was to begin; one without a plan keeps its place among those that are late."""
    return min((bar.start for bar in lane.planned), default=math.inf)


def _planned(plan: Mapping[str, Any] | None) -> Sequence[Mapping[str, Any]]:
    return tuple(plan.get("calendar") or ()) if plan else ()


def _planned_bar(entry: Mapping[str, Any], index: int | None = None) -> Bar:
    start, end = float(entry["start_hours"]) * 3600, float(entry["end_hours"]) * 3600
    text = _("planned: {stage}, {start} to {end} from the start, lane {lane}").format(
        stage=entry["stage"], start=show.seconds(start), end=show.seconds(end), lane=entry.get("lane") or "–"
    )
    return Bar(start=start, end=end, text=text, index=index)


def _stage_lanes(planned: Sequence[Mapping[str, Any]], runs: Sequence[RunRow]) -> list[Lane]:
    known = {row.id for row in runs} | {row.name for row in runs}
    by_stage: dict[str, list[Bar]] = {}
    for entry in planned:
        if entry.get("run") not in known:
            by_stage.setdefault(str(entry["stage"]), []).append(_planned_bar(entry))
    return [Lane(kind="stage", label=name, planned=tuple(bars)) for name, bars in by_stage.items()]


def _run_lane(
    row: RunRow, planned: Sequence[Mapping[str, Any]], zero: datetime | None, now: datetime
) -> Lane:
    bars, marks = [], []
    for life in row.attempts if zero is not None else ():
        assert zero is not None
        bars.append(_attempt_bar(row, life, zero, now))
        marks += _attempt_marks(life, zero)
    return Lane(
        kind="run",
        label=row.name,
        planned=tuple(_planned_bar(entry, row.index) for entry in planned),
        actual=tuple(bars),
        marks=tuple(marks),
    )


def _attempt_bar(row: RunRow, life: AttemptView, zero: datetime, now: datetime) -> Bar:
    start = _since(life.started_at, zero)
    end = _since(life.ended_at, zero) if life.ended_at else max(0.0, (now - zero).total_seconds())
    text = _("{run}, attempt {number} on {machine}: {seconds}, {end}").format(
        run=row.name,
        number=life.number,
        machine=life.machine,
        seconds=show.seconds(max(0.0, end - start)),
        end=words.attempt_end(life.end),
    )
    return Bar(start=start, end=max(start, end), text=text, index=row.index, open_ended=life.alive)


def _attempt_marks(life: AttemptView, zero: datetime) -> list[Mark]:
    marks = [
        Mark(
            at=_since(saved.at, zero),
            kind="checkpoint",
            text=_("checkpoint at step {step}, {size}").format(step=saved.step, size=show_bytes(saved.bytes))
            + (_(", values not finite") if saved.healthy is False else ""),
        )
        for saved in life.checkpoints
    ]
    if life.ended_at is not None:
        text = words.attempt_end(life.end)
        if life.lost_steps and life.end not in (End.DONE.value, End.STOP_RULE.value):
            text += ", " + _("{count} steps lost").format(count=life.lost_steps)
        marks.append(
            Mark(at=_since(life.ended_at, zero), kind=_MARK_OF_END.get(str(life.end), "loss"), text=text)
        )
    return marks


def _machine_lane(machine: MachineView, zero: datetime, now: datetime) -> Lane:
    name = machine.id or machine.tag
    start = _since(machine.created_at or machine.intended_at, zero)
    alive = machine.state != "gone"
    end = (now - zero).total_seconds() if machine.gone_at is None else _since(machine.gone_at, zero)
    if machine.gone_at is not None and machine.seconds is not None and machine.created_at:
        end = start + machine.seconds
    text = _("machine {id}: {seconds}, {state}").format(
        id=name,
        seconds=show.seconds(machine.seconds),
        state=machine.cause or words.machine_state(machine.state),
    )
    bar = Bar(start=start, end=max(start, end), text=text, open_ended=alive)
    booted = machine.ready_at
    boot = (
        Mark(at=_since(booted, zero), kind="ready", text=_("machine {id} is ready").format(id=name))
        if booted
        else None
    )
    return Lane(
        kind="machine", label=_("machine {id}").format(id=name), actual=(bar,), marks=(boot,) if boot else ()
    )


def _since(at: str, zero: datetime) -> float:
    """Return seconds since the beginning; a clock that was set back leads to no place before it."""
    return max(0.0, (from_iso(at) - zero).total_seconds())
