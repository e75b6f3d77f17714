"""What a campaign in small has shown, read from its journal: attempts with the faults that ended them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lastro import strictjson
from lastro.flow.session import Session
from lastro.journal.events import EventType
from lastro.journal.views import AttemptView, CampaignView, RunView
from lastro.plan.rehearsal_account import Life
from lastro.plan.rehearsal_promises import Outputs, RunEnd
from lastro.providers.faults import fault_key
from lastro.records import dataclass
from lastro.rules import End

_EXPLORATORY = "exploratory"


@dataclass(frozen=True, kw_only=True)
class Refusals:
    """Requests that were refused before a machine was had: the faults by their index, and the seconds."""

    faults: tuple[int, ...]
    seconds: float


def steps_seen(view: CampaignView) -> Mapping[str, int | None]:
    """Return how many steps (items, of a run over items) each run that began had in small; None: unseen."""
    return {
        run.name: max((life.last_step or 0 for life in run.attempts), default=0) or None
        for run in view.runs
        if run.attempts
    }


def lives_of(session: Session) -> tuple[Life, ...]:
    """Return every attempt of the runs, each run's oldest first."""
    view = session.view()
    claims = _claims(session)
    refusals = _refusals(session, claims)
    return tuple(
        _life(run, life, claims, refusals.pop(life.machine, None))
        for run in view.runs
        for life in run.attempts
    )


def runs_of(view: CampaignView) -> tuple[RunEnd, ...]:
    """Return how each run ended; one that can no longer change the answer was not to be run."""
    return tuple(
        RunEnd(run=run.name, required=run.priority == "required", status=run.status, why=run.why)
        for run in view.runs
        if run.priority != _EXPLORATORY and not (run.status == "waiting" and run.why)
    )


def outputs_of(view: CampaignView) -> Outputs:
    """Return what the completed runs have delivered."""
    done = {run.id: run.name for run in view.runs if run.status == "completed"}
    mine = [item for item in view.deliverables if item.run in done]
    failed = [item for item in mine if item.status != "accepted"]
    return Outputs(
        promised=len(mine),
        failed=tuple((done[item.run], f"{item.name}: {item.why or item.status}") for item in failed),
    )


def answer_of(view: CampaignView) -> str:
    """Return the conclusion: its verdict, and the run that it adopts, by name."""
    if view.conclusion is None:
        return "-"
    adopted = next((run.name for run in view.runs if run.id == view.conclusion.run), None)
    return view.conclusion.verdict if adopted is None else f"{view.conclusion.verdict} {adopted}"


def _life(
    run: RunView, life: AttemptView, claims: Sequence[Mapping[str, Any]], refused: Refusals | None
) -> Life:
    ended = life.end not in (None, End.DONE.value)
    fault = next(
        (
            int(claim["index"])
            for claim in claims
            if claim.get("machine") == life.machine and claim.get("run") == run.name
        ),
        None,
    )
    return Life(
        run=run.name,
        began=life.resumed_step or 0,
        saves=tuple(sorted(save.step for save in life.checkpoints if save.healthy is not False)),
        lost=life.lost_steps,
        ended=(life.why or str(life.end)) if ended else None,
        fault=fault if ended else None,
        refused=refused.faults if refused else (),
        refused_seconds=refused.seconds if refused else 0.0,
    )


def _claims(session: Session) -> list[Mapping[str, Any]]:
    """Return the faults that have fired, as their claims tell them; refusals by their number."""
    folder = session.home.fired_faults(fault_key(session.disk.root, session.facts.name))
    found = [strictjson.read(path) for path in sorted(folder.glob("*.json")) if not path.name.startswith(".")]
    return sorted(found, key=lambda claim: int(claim.get("create") or 0))


def _refusals(session: Session, claims: Sequence[Mapping[str, Any]]) -> dict[str, Refusals]:
    """Return the refusals before each machine. Within home's own stream the order of events is certain."""
    indices = [int(claim["index"]) for claim in claims if claim.get("create") is not None]
    found: dict[str, Refusals] = {}
    before: list[float] = []
    for event in session.events().get(session.stream_name, ()):
        if event.type is EventType.MACHINE_REFUSED:
            before.append(float(event.facts["wait_seconds"]))
        elif event.type is EventType.MACHINE_CREATED and before:
            mine, indices = indices[: len(before)], indices[len(before) :]
            found[str(event.facts["machine"])] = Refusals(faults=tuple(mine), seconds=sum(before))
            before = []
    return found
