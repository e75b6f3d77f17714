"""When a silent supervisor's machine is lost, and which machines are not used any more: pure."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path

import pytest

from lastro.billing import Lease, LeaseKind
from lastro.flow.money import may_bill
from lastro.flow.policy import Dispatch, Situation, Wait, next_action
from lastro.flow.rented import given_up, told_of
from lastro.flow.silence import Pulse, left_behind, may_be_silent, too_silent
from lastro.journal.projections import project
from lastro.journal.signals import Heartbeat
from lastro.journal.views import AttemptView, CampaignView, MachineView, RunView
from lastro.paths import CampaignFolder
from lastro.providers.base import Machine, MachineState
from lastro.units import Money


def _life(**more: object) -> AttemptView:
    base = AttemptView(
        run="r1", number=1, machine="m-1", node="n-1", started_at="2026-11-30T00:00:00.000000Z"
    )
    return replace(base, **more)  # type: ignore[arg-type]


def _view(life: AttemptView, state: str = "ready") -> CampaignView:
    run = RunView(
        id="r1",
        name="control",
        priority="required",
        config={},
        status="running",
        why=None,
        attempts=(life,),
        outputs={},
    )
    machine = MachineView(
        id="m-1", node="n-1", tag="t", provider="local", lease=None, state=state, intended_at=life.started_at
    )
    return replace(project({}, datetime.now(timezone.utc)), runs=(run,), machines=(machine,))


@pytest.mark.parametrize(
    ("supervised", "seconds", "lost"), [(["r1"], 120.0, True), (["r1"], 119.0, False), ([], 500.0, False)]
)
def test_a_living_supervisor_that_is_silent_for_too_long_has_lost_its_machine(
    supervised: list[str], seconds: float, lost: bool
) -> None:
    found = too_silent(_view(_life()), supervised, {"r1": seconds}, 120.0)

    assert (found is not None) is lost


def test_silence_counts_by_homes_own_clock_from_the_last_change(tmp_path: Path) -> None:
    folder = CampaignFolder(tmp_path)
    folder.run("r1").root.mkdir(parents=True)
    pulse = Pulse(folder)
    assert pulse.silences(["r1"], 100.0) == {"r1": 0.0}
    assert pulse.silences(["r1"], 104.0) == {"r1": 4.0}

    Heartbeat(folder.run("r1").supervisor_beat).beat(1)

    assert pulse.silences(["r1"], 105.0) == {"r1": 0.0}
    assert pulse.silences(["r1"], 107.5) == {"r1": 2.5}


def test_a_run_that_is_not_looked_at_for_a_while_begins_anew(tmp_path: Path) -> None:
    pulse = Pulse(CampaignFolder(tmp_path))
    pulse.silences(["r1"], 0.0)
    pulse.silences([], 50.0)

    assert pulse.silences(["r1"], 100.0) == {"r1": 0.0}


@pytest.mark.parametrize(("end", "counts"), [(None, True), ("lost", True), ("crashed", False)])
def test_between_two_attempts_nobody_has_to_speak(end: str | None, counts: bool) -> None:
    life = _life(end=end, ended_at="2026-11-30T00:01:00.000000Z" if end else None)

    assert may_be_silent(_view(life).runs[0]) is counts


@pytest.mark.parametrize(
    ("end", "state", "behind"),
    [
        ("lost", "ready", True),
        ("fenced", "ready", True),
        ("lost", "gone", False),
        ("crashed", "ready", False),
    ],
)
def test_a_machine_that_was_given_up_is_not_used_again(end: str, state: str, behind: bool) -> None:
    assert left_behind(_view(_life(end=end), state)) == ({"m-1"} if behind else set())


@pytest.mark.parametrize(
    ("price", "bill"), [("1.50", "1.50 USD an hour"), (None, "an unknown price an hour")]
)
def test_a_machine_that_was_given_up_is_unknown_and_may_bill(price: str | None, bill: str) -> None:
    money = Money(Decimal(price), "USD") if price else None
    lease = Lease(offer="box", kind=LeaseKind.HOURLY, price=money, unit_seconds=60)
    view = _view(_life(end="lost"))
    view = replace(view, machines=(replace(view.machines[0], lease=lease),))

    (machine,) = given_up(view)

    assert may_bill(machine) == f"machine m-1: unknown, may bill {bill} until 'local' says that it is gone"
    assert given_up(_view(_life(end="lost"), "gone")) == ()


@pytest.mark.parametrize(("leaving", "action"), [(frozenset({"m-1"}), Wait), (frozenset(), Dispatch)])
def test_nothing_is_started_on_a_machine_that_has_announced_its_end(
    leaving: frozenset[str], action: type
) -> None:
    view = _view(_life(end="notice", ended_at="2026-11-30T00:01:00.000000Z"))
    view = replace(view, runs=(replace(view.runs[0], status="interrupted"),))
    there = Machine(
        id="m-1",
        node="n-1",
        tag="t",
        state=MachineState.RUNNING,
        workdir=Path(),
        created_at=datetime.now(timezone.utc),
    )
    now = Situation(
        view=view,
        machines={"m-1": there},
        supervised=frozenset(),
        wanted=("r1",),
        max_machines=1,
        checked=frozenset({"m-1"}),
        leaving=leaving,
    )

    assert type(next_action(now)) is action


def test_a_machine_in_a_queue_is_not_said_to_cost_anything() -> None:
    view = _view(_life(), "queued")
    (machine,) = view.machines

    assert "waits in the queue, and costs nothing before its turn" in told_of(machine, view)
    assert "stays rented, for" in told_of(replace(machine, state="ready"), view)
