"""Machines of the local provider, and jobs on them that beat as lastro's jobs do."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from lastro.billing import Lease
from lastro.paths import Disk, RunFolder
from lastro.providers.base import Fault, Machine, MachineRequest, MachineState
from lastro.providers.local import Local
from tests.procs.real import eventually


def create(
    local: Local,
    disk: Path,
    tag: str = "first",
    *,
    faults: tuple[Fault, ...] = (),
    lease: Lease | None = None,
    boot_seconds: float = 0.0,
    unattended_seconds: float | None = None,
) -> Machine:
    disk.mkdir(exist_ok=True)
    return local.create(
        MachineRequest(
            tag=tag,
            campaign="digits",
            disk=disk,
            lease=lease,
            faults=faults,
            boot_seconds=boot_seconds,
            unattended_seconds=unattended_seconds,
        )
    )


def wait(local: Local, machine_id: str, state: MachineState) -> Machine:
    def look() -> Machine | None:
        machine = local.describe(machine_id)
        return machine if machine.state is state else None

    machine = eventually(look)
    assert machine is not None
    return machine


def running(local: Local, disk: Path, tag: str = "first", *, faults: tuple[Fault, ...] = ()) -> Machine:
    return wait(local, create(local, disk, tag, faults=faults).id, MachineState.RUNNING)


#: Beats a step every 20 ms from argv[2] on; leaves by itself when it sees the notice, if argv[3] says so.
_JOB = """
import os, sys, time
from pathlib import Path
from lastro.journal.signals import Heartbeat
folder, step, heeds = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "heeds"
beat = Heartbeat(folder / "heartbeat")
notice = Path(os.environ.get("LASTRO_NOTICE", "nowhere"))
while True:
    time.sleep(0.02)
    step += 1
    beat.beat(step)
    if heeds and notice.exists():
        (folder / "saved").write_text(notice.read_text())
        sys.exit(85)
"""


def run_on(
    local: Local,
    machine: Machine,
    disk: Path,
    *,
    name: str,
    number: int = 1,
    step: int = 0,
    heeds: bool = False,
) -> RunFolder:
    """Start an attempt of a run on a machine, with the records that a supervisor would have written."""
    run = Disk(disk).campaign("digits").run(f"id-of-{name}")
    attempt = run.attempt(number)
    attempt.root.mkdir(parents=True)
    run.config.write_text(json.dumps({"name": name, "run": run.root.name, "config": {}}))
    attempt.attempt.write_text(json.dumps({"number": number, "order": {"machine": machine.id}}))
    argv = [sys.executable, "-c", _JOB, str(attempt.root), str(step), "heeds" if heeds else "goes-on"]
    local.start(machine.id, argv)
    return run
