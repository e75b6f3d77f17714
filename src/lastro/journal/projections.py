"""The only sums: fold the events of all streams into what a campaign looks like. Pure.

Order is certain within a stream only, so each fact is taken from the stream that owns it: machines,
verdicts and the plan from home's, a life of a process from that attempt's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from lastro.billing import Lease
from lastro.clock import Stamp, elapsed, from_iso
from lastro.journal.copies import copy_views
from lastro.journal.costs import Told, cost_view
from lastro.journal.decisions import decision_views
from lastro.journal.events import EventType
from lastro.journal.expenses import expense_views, invoice_views
from lastro.journal.explained import doubt_views, explanation_views, wait_views
from lastro.journal.leases import lease_views
from lastro.journal.moves import offers_view
from lastro.journal.streams import Event
from lastro.journal.views import (
    AttemptView,
    CampaignView,
    CheckpointView,
    ConclusionView,
    DeliverableView,
    InterruptionView,
    MachineView,
    Rejection,
    RunView,
)
from lastro.journal.work import worked_seconds
from lastro.rules import End, Verdict

_STATUS = {
    Verdict.COMPLETED: "completed",
    Verdict.INTERRUPTED: "interrupted",
    Verdict.PAUSED: "paused",
    Verdict.STOPPED: "stopped",
    Verdict.FAILED: "failed",
    Verdict.FENCED: "interrupted",
}


def project(
    streams: Mapping[str, Sequence[Event]], now: datetime, stamp: Stamp | None = None
) -> CampaignView:
    """Return the campaign that these streams tell. `now` ends what is still running, for cost only.

    `stamp`: the same moment, where it can be measured by a clock that is not set.
    """
    homes = sorted(name for name in streams if name.startswith("home-"))
    homes.sort(key=lambda name: _took_over(streams[name]))
    home = [event for name in homes for event in streams[name]]
    lost = {
        (event.facts["run"], event.facts["attempt"]): event
        for event in home
        if event.type is EventType.ATTEMPT_LOST
    }
    attempts: dict[str, list[AttemptView]] = {}
    ended: dict[str, tuple[str, str]] = {}
    outputs: dict[str, dict[str, str]] = {}
    for name in sorted(streams, key=_natural):
        view = None if name.startswith("home-") else attempt_view(streams[name], lost)
        if view is None:
            continue
        attempts.setdefault(view.run, []).append(view)
        for event in streams[name]:
            if event.type is EventType.OUTPUT_PUBLISHED:
                outputs.setdefault(view.run, {})[event.facts["path"]] = event.facts["sha256"]
            if event.type is EventType.RUN_ENDED:
                ended[view.run] = (_STATUS[Verdict(event.facts["verdict"])], event.facts["why"])
        if (view.run, view.number) in lost:
            ended[view.run] = (_STATUS[Verdict.INTERRUPTED], view.why or "")
        elif all(event.type is not EventType.RUN_ENDED for event in streams[name]):
            # Alive, or between its end and what its supervisor makes of it.
            ended.pop(view.run, None)
    plan, digest, frozen_at, revisions = _plan(home)
    machines = machine_views(home, stamp or Stamp(now))
    leases = lease_views(home)
    closed = _last(home, EventType.CAMPAIGN_CLOSED)
    gone = frozenset(machine.id for machine in machines if machine.state == "gone")
    runs = _runs(plan, home, attempts, ended, outputs, gone)
    preflights = tuple(
        {"at": event.at, **event.facts} for event in home if event.type is EventType.PREFLIGHT_DONE
    )
    told = Told(
        home=home,
        plan=plan,
        machines=machines,
        leases=leases,
        runs=runs,
        preflights=preflights,
        # What a closed campaign has cost is what it had cost then.
        until=from_iso(closed["at"]) if closed is not None else now,
        closed=closed is not None,
    )
    return CampaignView(
        name=str(plan["campaign"]) if plan else "",
        plan=plan,
        plan_digest=digest,
        frozen_at=frozen_at,
        revisions=revisions,
        runs=runs,
        machines=machines,
        cost=cost_view(told),
        leases=leases,
        halted=_halted(home),
        decisions=decision_views(home),
        interruptions=_interruptions(runs),
        deliverables=_deliverables(plan, home, runs),
        preflights=preflights,
        disks=tuple(
            {"at": event.at, **event.facts} for event in home if event.type is EventType.DISK_ATTACHED
        ),
        drills=tuple(dict(event.facts) for event in home if event.type is EventType.DRILL_DONE),
        locks=tuple(dict(event.facts) for event in home if event.type is EventType.LOCK_WRITTEN),
        faults=tuple(
            {"at": event.at, **event.facts} for event in home if event.type is EventType.FAULT_FIRED
        ),
        conclusion=_conclusion(home),
        closed=closed,
        expenses=expense_views(home),
        invoices=invoice_views(home),
        forecast=_first(home, "plan"),
        forecast_digest=_first(home, "digest"),
        waits=wait_views(home),
        explanations=explanation_views(home),
        doubts=doubt_views(home),
        copies=copy_views(home),
        offers=offers_view(home),
        at=now,
    )


def _took_over(home: Sequence[Event]) -> int:
    """Return the number of a home's last taking over: the order in which homes drove the campaign."""
    return max((e.facts["number"] for e in home if e.type is EventType.HOME_TOOK_OVER), default=0)


def _natural(name: str) -> tuple[str, int]:
    """Sort attempts of a run by number, not by spelling."""
    stem, _dash, number = name.rpartition("-")
    return (stem, int(number)) if number.isdigit() else (name, 0)


def _last(events: Iterable[Event], kind: EventType) -> Mapping[str, Any] | None:
    found = None
    for event in events:
        if event.type is kind:
            found = {"at": event.at, **event.facts}
    return found


def _first(home: Sequence[Event], fact: str) -> Any:
    """Return a fact of the first freezing: revisions stand beside it and change it never."""
    return next((event.facts[fact] for event in home if event.type is EventType.PLAN_FROZEN), None)


def _plan(
    home: Sequence[Event],
) -> tuple[Mapping[str, Any] | None, str | None, str | None, tuple[Mapping[str, Any], ...]]:
    plan, digest, frozen_at = None, None, None
    revisions = []
    for event in home:
        if event.type is EventType.PLAN_FROZEN and plan is None:
            plan, digest, frozen_at = event.facts["plan"], event.facts["digest"], event.at
        if event.type is EventType.PLAN_REVISED:
            revisions.append({"at": event.at, **event.facts})
    current = revisions[-1] if revisions else None
    if current is not None:
        plan, digest = current["plan"], current["digest"]
    return plan, digest, frozen_at, tuple(revisions)


# --- attempts -------------------------------------------------------------------------------------------


def attempt_view(events: Sequence[Event], lost: Mapping[tuple[str, int], Event]) -> AttemptView | None:
    """Return the life that one stream tells; None before it has started.

    `lost`: what home has said of attempts whose machine went away, by (run, attempt).
    """
    view: AttemptView | None = None
    for event in events:
        if event.type is EventType.ATTEMPT_STARTED:
            view = AttemptView(
                run=event.facts["run"],
                number=event.facts["attempt"],
                machine=event.facts["machine"],
                node=event.facts["node"],
                started_at=event.at,
                committed_step=event.facts["committed_step"],
            )
        elif view is not None:
            view = _fold_attempt(view, event)
    if view is None:
        return None
    view = replace(view, worked_seconds=worked_seconds(events))
    loss = lost.get((view.run, view.number))
    if loss is not None and view.alive:
        if view.mirror is None:
            view = replace(view, committed_step=loss.facts["committed_step"])
        if view.items_done is not None:
            view = replace(view, items_done=loss.facts["items"])
        view = _ended(view, loss.at, End.LOST.value, loss.facts["why"], loss.facts["step"])
    return view


def _mirrored(view: AttemptView, step: int) -> AttemptView:
    """Count a checkpoint that has arrived elsewhere, unless it was one whose values are lost."""
    lost = any(saved.step == step and saved.healthy is False for saved in view.checkpoints)
    return view if lost else replace(view, committed_step=max(step, view.committed_step or 0))


def _fold_attempt(view: AttemptView, event: Event) -> AttemptView:
    facts = event.facts
    if event.type is EventType.ATTEMPT_LAUNCHED:
        return replace(view, process=facts["job"])
    if event.type is EventType.ATTEMPT_RESUMED:
        return replace(view, resumed_step=facts["step"])
    if event.type is EventType.ATTEMPT_STEPPED:
        return replace(view, first_step_seconds=facts["seconds"], last_step=facts["step"])
    if event.type is EventType.CHECKPOINT_COMMITTED:
        saved = CheckpointView(
            step=facts["step"],
            attempt=view.number,
            folder=facts["folder"],
            bytes=facts["bytes"],
            seconds=facts["seconds"],
            why=facts["why"],
            at=event.at,
            healthy=facts.get("healthy"),
        )
        view = replace(view, checkpoints=(*view.checkpoints, saved))
        counts = saved.healthy is not False and view.mirror is None
        return replace(view, committed_step=saved.step) if counts else view
    if event.type is EventType.MIRROR_OPENED:
        return replace(view, mirror=facts["place"])
    if event.type is EventType.CHECKPOINT_MIRRORED:
        return _mirrored(view, facts["step"])
    if event.type is EventType.ITEMS_PUBLISHED:
        return replace(
            view, items_done=facts["done"], items_total=facts["total"], items_offset=facts["offset"]
        )
    if event.type is EventType.CHECKPOINT_PASSED_OVER:
        return replace(view, passed_over=(*view.passed_over, (facts["folder"], facts["why"])))
    if event.type is EventType.ATTEMPT_ENDED:
        cause = facts["cause"]
        view = replace(view, limit=cause.get("limit"))
        return _ended(view, event.at, cause["end"], cause["why"], facts["step"])
    return _fold_storage(view, event)


def _fold_storage(view: AttemptView, event: Event) -> AttemptView:
    """Fold what is told of the disk, and of what does not lie on it."""
    if event.type is EventType.DISK_FULL:
        return replace(view, no_room=event.facts["what"], waits=view.waits + 1)
    if event.type is EventType.DISK_ROOM:
        return replace(view, no_room=None)
    if event.type is EventType.GUARD_WARNED:
        return replace(view, at_risk=event.facts)
    return view


def _ended(view: AttemptView, at: str, end: str, why: str, step: int | None) -> AttemptView:
    last = step if step is not None else view.last_step
    kept = view.items_done if view.items_done is not None else view.committed_step
    lost = None if last is None else max(0, last - (kept or 0))
    return replace(view, ended_at=at, end=end, why=why, last_step=last, lost_steps=lost)


# --- runs -----------------------------------------------------------------------------------------------


def _runs(
    plan: Mapping[str, Any] | None,
    home: Sequence[Event],
    attempts: Mapping[str, Sequence[AttemptView]],
    ended: Mapping[str, tuple[str, str]],
    outputs: Mapping[str, Mapping[str, str]],
    gone: frozenset[str | None],
) -> tuple[RunView, ...]:
    superseded, given_up = _superseded(home), _given_up(home)
    moot = {event.facts["run"]: event.facts["why"] for event in home if event.type is EventType.RUN_MOOT}
    sent = {
        event.facts["run"]: event.facts["machine"] for event in home if event.type is EventType.RUN_DISPATCHED
    }
    known: dict[str, Mapping[str, Any]] = {}
    for event in home:
        if event.type in (EventType.PLAN_FROZEN, EventType.PLAN_REVISED):
            known.update({run["id"]: run for run in event.facts["plan"]["runs"]})
    order = [run["id"] for run in plan["runs"]] if plan else []
    order += [run_id for run_id in known if run_id not in order and run_id in attempts]
    views = []
    for run_id in order:
        lives = tuple(attempts.get(run_id, ()))
        status, why = _run_status(run_id, lives, ended, superseded, given_up, gone)
        if status == "waiting":
            why = moot.get(run_id)
        views.append(
            RunView(
                id=run_id,
                name=known[run_id]["name"],
                priority=known[run_id]["priority"],
                config=known[run_id]["config"],
                status=status,
                why=why,
                attempts=lives,
                outputs=outputs.get(run_id, {}),
                superseded_by=superseded[run_id][0] if run_id in superseded else None,
                machine=sent.get(run_id),
            )
        )
    return tuple(views)


def _superseded(home: Sequence[Event]) -> Mapping[str, tuple[str, str]]:
    """Return by which run, and why, each run was set aside that the plan does not have now."""
    found: dict[str, tuple[str, str]] = {}
    for event in home:
        if event.type is EventType.RUN_SUPERSEDED:
            found[event.facts["run"]] = (event.facts["by"], event.facts["why"])
        elif event.type is EventType.PLAN_REVISED:
            for run in event.facts["plan"]["runs"]:
                found.pop(run["id"], None)  # what was changed was put back
    return found


def _given_up(home: Sequence[Event]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for event in home:
        if event.type is EventType.RUN_GIVEN_UP:
            found[event.facts["run"]] = event.facts["why"]
        elif event.type is EventType.RUN_DISPATCHED:
            found.pop(event.facts["run"], None)  # it was tried again, on purpose
    return found


def _run_status(
    run_id: str,
    lives: Sequence[AttemptView],
    ended: Mapping[str, tuple[str, str]],
    superseded: Mapping[str, tuple[str, str]],
    given_up: Mapping[str, str],
    gone: frozenset[str | None],
) -> tuple[str, str | None]:
    if run_id in superseded:
        return "superseded", superseded[run_id][1]
    if run_id in given_up:
        return "failed", given_up[run_id]
    if run_id in ended:
        return ended[run_id]
    if lives:
        return ("interrupted" if lives[-1].machine in gone else "running"), lives[-1].why
    return "waiting", None


def _interruptions(runs: Sequence[RunView]) -> tuple[InterruptionView, ...]:
    found = []
    for run in runs:
        for life, following in zip(run.attempts, [*run.attempts[1:], None], strict=False):
            if life.ended_at is None or life.end in (End.DONE.value, End.STOP_RULE.value):
                continue
            waited = None
            if following is not None and following.first_step_seconds is not None:
                gap = from_iso(following.started_at) - from_iso(life.ended_at)
                # Two clocks, or one that was set back: a gap below zero is no length of time.
                known = gap.total_seconds() >= 0
                waited = gap.total_seconds() + following.first_step_seconds if known else None
            found.append(
                InterruptionView(
                    run=run.id,
                    name=run.name,
                    attempt=life.number,
                    at=life.ended_at,
                    end=str(life.end),
                    why=life.why or "",
                    step=life.last_step,
                    committed_step=life.committed_step,
                    lost_steps=life.lost_steps,
                    resumed_step=following.resumed_step if following else None,
                    seconds_to_next_step=waited,
                )
            )
    return tuple(sorted(found, key=lambda item: item.at))


# --- deliverables and conclusion ------------------------------------------------------------------------


def _deliverables(
    plan: Mapping[str, Any] | None, home: Sequence[Event], runs: Sequence[RunView]
) -> tuple[DeliverableView, ...]:
    judged = {
        (event.facts["run"], event.facts["name"]): event.facts
        for event in home
        if event.type is EventType.DELIVERABLE_JUDGED
    }
    return tuple(
        _deliverable(run, promised, judged.get((run.id, promised["name"])))
        for run in runs
        for promised in (plan["deliverables"] if plan else ())
    )


def _deliverable(
    run: RunView, promised: Mapping[str, Any], facts: Mapping[str, Any] | None
) -> DeliverableView:
    path = promised["path"]
    view = DeliverableView(run=run.id, name=promised["name"], path=path, status="missing")
    if facts is None:
        is_there = any(output == path or output.startswith(f"{path}/") for output in run.outputs)
        return replace(view, status="produced" if is_there else "missing", digest=run.outputs.get(path))
    return replace(
        view,
        status=facts["verdict"],
        why=facts["why"],
        level=facts["level"],
        level_why=facts.get("level_why"),
        loader=facts["loader"],
        versions=facts.get("versions") or {},
        seconds=facts.get("seconds"),
        digest=facts["digest"],
        metric=facts["metric"],
        duplicate_of=facts.get("duplicate_of"),
        near=facts.get("near"),
        bases=tuple(facts.get("bases") or ()),
        warnings=tuple(facts.get("warnings") or ()),
    )


def _halted(home: Sequence[Event]) -> str | None:
    changes = [e for e in home if e.type in (EventType.CAMPAIGN_HALTED, EventType.CAMPAIGN_RESUMED)]
    halted = bool(changes) and changes[-1].type is EventType.CAMPAIGN_HALTED
    return str(changes[-1].facts["why"]) if halted else None


def _conclusion(home: Sequence[Event]) -> ConclusionView | None:
    facts = _last(home, EventType.CAMPAIGN_CONCLUDED)
    if facts is None:
        return None
    return ConclusionView(
        verdict=facts["verdict"],
        run=facts["run"],
        why=facts["why"],
        evidence=facts["evidence"],
        stopped=facts.get("stopped"),
    )


# --- machines ---------------------------------------------------------------------------------


#: A home that took over may tell the end of what another one has made, whose stream may come after its own.
_ORDER = {
    EventType.MACHINE_INTENDED: 0,
    EventType.MACHINE_CREATED: 1,
    EventType.MACHINE_REFUSED: 3,
    EventType.MACHINE_GONE: 3,
}


def machine_views(home: Sequence[Event], now: Stamp) -> tuple[MachineView, ...]:
    """Return every machine that was ever asked for, in the order of the intents."""
    by_tag: dict[str, MachineView] = {}
    tag_of: dict[str, str] = {}
    told = (event for event in home if event.type.value.startswith("machine."))
    for event in sorted(told, key=lambda event: _ORDER.get(event.type, 2)):
        facts = event.facts
        if event.type is EventType.MACHINE_INTENDED:
            by_tag[facts["tag"]] = MachineView(
                id=None,
                node=None,
                tag=facts["tag"],
                provider=facts["provider"],
                lease=Lease.from_json(facts["lease"]) if facts["lease"] else None,
                state="intended",
                intended_at=event.at,
            )
        elif event.type is EventType.MACHINE_CREATED:
            tag_of[facts["machine"]] = facts["tag"]
            by_tag[facts["tag"]] = replace(
                by_tag[facts["tag"]],
                id=facts["machine"],
                node=facts["node"],
                state="queued" if facts.get("queued") else "booting",
                created_at=facts["requested_at"],
                level=facts.get("level"),
                level_why=facts.get("level_why"),
                born=None
                if facts.get("queued")
                else Stamp.from_json(facts.get("born") or {"at": facts["requested_at"]}),
                seconds=0.0 if facts.get("queued") else None,
            )
        elif event.type is EventType.MACHINE_READY:
            tag = tag_of[facts["machine"]]
            by_tag[tag] = _ready(by_tag[tag], event)
        elif event.type is EventType.MACHINE_REFUSED:
            refused = by_tag[facts["tag"]]
            by_tag[facts["tag"]] = replace(refused, state="gone", gone_at=event.at, cause=facts["why"])
        elif event.type is EventType.MACHINE_REJECTED:
            tag = tag_of[facts["machine"]]
            rejected = Rejection(what=facts["what"], why=facts["why"], by_offer=facts["by_offer"])
            by_tag[tag] = replace(by_tag[tag], rejected=rejected)
        elif event.type is EventType.MACHINE_GONE:
            tag = tag_of[facts["machine"]]
            by_tag[tag] = replace(
                by_tag[tag], state="gone", gone_at=event.at, cause=facts["cause"], seconds=facts["seconds"]
            )
    return tuple(_used_until(machine, now) for machine in by_tag.values())


def _ready(machine: MachineView, event: Event) -> MachineView:
    """Return a machine that is up; one that waited in a queue counts, and has a node, from its turn on."""
    born, node = event.facts.get("born"), event.facts.get("node")
    return replace(
        machine,
        state="ready",
        ready_at=event.at,
        node=node or machine.node,
        born=Stamp.from_json(born) if born else machine.born,
    )


def _used_until(machine: MachineView, now: Stamp) -> MachineView:
    if machine.born is None or machine.state == "gone":
        return machine
    return replace(machine, seconds=elapsed(machine.born, now))
