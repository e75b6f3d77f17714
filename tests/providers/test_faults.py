from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from lastro import strictjson
from lastro.clock import SystemClock
from lastro.disk.facts import open_disk
from lastro.errors import CapacityRefused
from lastro.journal.signals import Heartbeat, read_beat
from lastro.paths import Disk, Home
from lastro.procs.identity import entry_of
from lastro.procs.killtree import members
from lastro.providers import environment
from lastro.providers.base import Fault, MachineState, numbered
from lastro.providers.faults import FaultWatch, fault_key, fired
from lastro.providers.local import Local
from tests.procs.real import eventually
from tests.providers.rented import create, run_on, running, wait

KILL = Fault(index=0, run="shift", step=10, notice_seconds=None)
NOTICE = Fault(index=1, run="wide", step=5, notice_seconds=600.0)


def claim_of(home: Home, disk: Path, fault: Fault) -> dict[str, object]:
    value = strictjson.read(home.fired_fault(fault_key(disk, "digits"), fault.key))
    assert isinstance(value, dict)
    return value


def test_without_notice_everything_is_killed_at_the_step_or_after_it(
    local: Local, home: Home, tmp_path: Path
) -> None:
    disk = tmp_path / "disk"
    machine = running(local, disk, faults=(KILL,))
    assert local.fired(disk, "digits") == frozenset()

    run = run_on(local, machine, disk, name="shift")

    gone = wait(local, machine.id, MachineState.GONE)
    assert gone.cause == "preempted without notice"
    assert local.fired(disk, "digits") == {KILL.key}
    claim = claim_of(home, disk, KILL)
    beat = read_beat(run.attempt(1).heartbeat)
    assert beat is not None and isinstance(claim["observed_step"], int)
    assert 10 <= claim["observed_step"] <= beat.step
    assert not home.local_machine(machine.id).scratch.exists()
    assert not members(environment.marker(machine.id)).all


def test_with_notice_the_job_can_save_and_the_machine_leaves_when_nothing_runs_any_more(
    local: Local, home: Home, tmp_path: Path
) -> None:
    """The notice is ten minutes long: the machine is gone because its job has left."""
    disk = tmp_path / "disk"
    machine = running(local, disk, faults=(NOTICE,))

    run = run_on(local, machine, disk, name="wide", heeds=True)

    gone = wait(local, machine.id, MachineState.GONE)
    assert gone.cause == "preempted with notice"
    told = strictjson.read(run.attempt(1).root / "saved")
    assert (told["action"], told["in_seconds"]) == ("terminate", 600.0)
    assert local.fired(disk, "digits") == {NOTICE.key}


def test_a_job_that_does_not_heed_the_notice_is_killed_when_it_is_over(local: Local, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    short = Fault(index=0, run="wide", step=5, notice_seconds=1.5)
    machine = running(local, disk, faults=(short,))

    run = run_on(local, machine, disk, name="wide")

    leaving = wait(local, machine.id, MachineState.LEAVING)
    assert leaving.gone_at is None
    gone = wait(local, machine.id, MachineState.GONE)
    beat = read_beat(run.attempt(1).heartbeat)
    assert gone.cause == "preempted with notice"
    assert beat is not None and beat.step > 5


def test_a_machine_that_freezes_stays_and_nothing_on_it_does_anything_until_it_is_let_go(
    local: Local, tmp_path: Path
) -> None:
    disk = tmp_path / "disk"
    frozen = Fault(index=0, run="shift", step=10, silent=True)
    machine = running(local, disk, faults=(frozen,))

    run = run_on(local, machine, disk, name="shift")

    eventually(lambda: local.fired(disk, "digits") == {frozen.key})
    eventually(lambda: all(state in "Tt" for state in _states(machine.id)))
    beat = run.attempt(1).heartbeat.read_bytes()
    assert local.describe(machine.id).state is MachineState.RUNNING
    assert _states(machine.id)
    local.delete(machine.id)
    assert run.attempt(1).heartbeat.read_bytes() == beat
    assert not members(environment.marker(machine.id)).all


def _states(machine_id: str) -> list[str]:
    """Return the states of all processes of a machine but the one that is the machine."""
    found = members(environment.marker(machine_id)).all
    return [entry.state for process in found if (entry := entry_of(process.pid)) is not None]


def test_a_fault_fires_once_over_all_machines_of_a_campaign(local: Local, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    first = running(local, disk, "first", faults=(KILL, NOTICE))
    run_on(local, first, disk, name="shift")
    wait(local, first.id, MachineState.GONE)

    second = running(local, disk, "second", faults=(KILL, NOTICE))
    run = run_on(local, second, disk, name="shift", number=2, step=9)

    eventually(lambda: (beat := read_beat(run.attempt(2).heartbeat)) is not None and beat.step >= 60)
    assert local.describe(second.id).state is MachineState.RUNNING
    assert local.fired(disk, "digits") == {KILL.key}


def test_another_run_or_a_run_on_another_machine_does_not_trigger_a_fault(
    local: Local, tmp_path: Path
) -> None:
    disk = tmp_path / "disk"
    watching = running(local, disk, "watching", faults=(KILL,))
    busy = running(local, disk, "busy")
    run_on(local, watching, disk, name="control")
    elsewhere = run_on(local, busy, disk, name="shift")

    eventually(lambda: (beat := read_beat(elsewhere.attempt(1).heartbeat)) is not None and beat.step >= 60)
    assert local.describe(watching.id).state is MachineState.RUNNING
    assert local.fired(disk, "digits") == frozenset()


def watch(home: Home, disk: Path, faults: Sequence[Fault] = (KILL,)) -> FaultWatch:
    return FaultWatch(home, "local-x", disk, "digits", faults, SystemClock())


def beating(disk: Path, step: int) -> None:
    run = Disk(disk).campaign("digits").run("r1")
    run.attempt(1).root.mkdir(parents=True)
    run.config.write_text('{"name": "shift"}')
    run.attempt(1).attempt.write_text('{"order": {"machine": "local-x"}}')
    Heartbeat(run.attempt(1).heartbeat).beat(step)


def test_the_step_itself_triggers_and_the_one_before_does_not(home: Home, tmp_path: Path) -> None:
    beating(tmp_path / "early", 9)
    beating(tmp_path / "due", 10)

    assert watch(home, tmp_path / "early").look() is None
    assert watch(home, tmp_path / "due").look() == KILL


def test_of_two_that_see_the_step_one_fires(home: Home, tmp_path: Path) -> None:
    beating(tmp_path, 10)
    both = [watch(home, tmp_path), watch(home, tmp_path)]

    assert [seen.look() for seen in both] == [KILL, None]


def test_a_disk_made_again_under_its_old_path_has_its_faults_still_before_it(
    home: Home, tmp_path: Path
) -> None:
    disk = tmp_path / "disk"
    open_disk(Disk(disk))
    beating(disk, 10)
    assert watch(home, disk).look() == KILL
    assert fired(home, disk, "digits") == {KILL.key}

    shutil.rmtree(disk)
    open_disk(Disk(disk))

    assert fired(home, disk, "digits") == frozenset()


def test_unreadable_records_are_looked_at_again_later(home: Home, tmp_path: Path) -> None:
    beating(tmp_path, 10)
    config = Disk(tmp_path).campaign("digits").run("r1").config
    config.write_text('{"na')
    seen = watch(home, tmp_path)
    assert seen.look() is None

    config.write_text('{"name": "shift"}')

    assert eventually(seen.look) == KILL


def test_a_machine_that_is_made_after_all_faults_waits_for_none(
    local: Local, home: Home, tmp_path: Path
) -> None:
    beating(tmp_path / "disk", 10)
    watch(home, tmp_path / "disk").look()

    machine = create(local, tmp_path / "disk", faults=(KILL,))

    wait(local, machine.id, MachineState.RUNNING)
    assert watch(home, tmp_path / "disk").waiting == []


def test_a_fault_is_known_by_what_it_says_and_not_by_its_place_in_a_file_that_was_edited(
    home: Home, tmp_path: Path
) -> None:
    beating(tmp_path, 30)
    same = Fault(index=0, run="shift", step=10)
    assert watch(home, tmp_path, numbered([same])).look() == KILL

    edited = numbered([Fault(index=0, run="shift", step=20), same, same])
    seen = watch(home, tmp_path, edited)

    assert seen.waiting == [edited[0], edited[2]]
    assert [edited[0].occurrence, edited[1].occurrence, edited[2].occurrence] == [0, 0, 1]
    assert [seen.look(), seen.look(), seen.look()] == [edited[0], edited[2], None]


def test_refusals_of_a_script_that_was_edited_still_count(local: Local, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    with pytest.raises(CapacityRefused, match="number 1"):
        create(local, disk, "first", faults=(Fault(index=0, create=1),))

    with pytest.raises(CapacityRefused, match="number 2"):
        create(local, disk, "first", faults=(Fault(index=0, create=2),))


def test_the_second_machine_is_refused_once_and_had_when_it_is_asked_for_again(
    local: Local, home: Home, tmp_path: Path
) -> None:
    disk = tmp_path / "disk"
    second = (Fault(index=0, create=2),)
    create(local, disk, "first", faults=second)

    with pytest.raises(CapacityRefused, match="number 2"):
        create(local, disk, "second", faults=second)

    assert local.fired(disk, "digits") == {second[0].key}
    assert [machine.tag for machine in local.machines()] == ["first"]
    assert create(local, disk, "third", faults=second).tag == "third"
    assert create(local, disk, "first", faults=second).tag == "first"


def test_a_refusal_is_nothing_that_a_machine_waits_for(home: Home, tmp_path: Path) -> None:
    refusal = (Fault(index=0, create=2),)

    assert FaultWatch(home, "local-x", tmp_path, "digits", refusal, SystemClock()).waiting == []
