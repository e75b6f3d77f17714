"""`lastro status` of a campaign with fifty machines: all of them real, with the records of their lives."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from benchmarks.result import Result, median
from benchmarks.toy import Toy, driven, toy_campaign
from lastro.clock import SystemClock, iso
from lastro.flow.session import Session
from lastro.journal.events import EventType
from lastro.journal.streams import StreamWriter
from lastro.paths import stream_of_attempt
from lastro.providers.base import Machine, MachineRequest, MachineState
from lastro.providers.local import Local

MACHINES, SAVES, ROUNDS = 50, 40, 7
TARGET_SECONDS = 2.0
_DEADLINE = 120.0
_STATUS = [sys.executable, "-m", "lastro.cli", "status", "--json"]


def run() -> Result:
    with toy_campaign(steps=1, step_seconds=0.0, every="1 steps") as toy:
        with driven(toy) as home:
            home.wait(_DEADLINE)
        few = _rounds(toy)
        _fill(toy)
        many = _rounds(toy)
    return Result(
        measures=(
            median(f"lastro status, {MACHINES} machines", [wall for wall, _cpu in many], "s", TARGET_SECONDS),
            median("  its CPU", [cpu for _wall, cpu in many], "s"),
            median("lastro status, 1 machine that is gone", [wall for wall, _cpu in few], "s"),
            median("  its CPU then", [cpu for _wall, cpu in few], "s"),
        ),
        notes=(
            f"{MACHINES} machines of the local provider that run, and the streams of as many attempts with"
            f" {SAVES} saves each; {ROUNDS} calls. Each machine looks around ten times a second meanwhile.",
        ),
    )


def _rounds(toy: Toy) -> list[tuple[float, float]]:
    """Return wall and CPU seconds of each call."""
    taken = []
    environment = {**os.environ, "LASTRO_HOME": str(toy.home.root)}
    for _round in range(ROUNDS):
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        subprocess.run(_STATUS, check=True, cwd=toy.folder, env=environment, capture_output=True)
        wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append((wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))
    return taken


def _fill(toy: Toy) -> None:
    """Give the campaign fifty machines, each with an attempt that has saved."""
    session, provider = toy.session(), Local(toy.home, SystemClock())
    with ThreadPoolExecutor(4) as several:
        machines = list(several.map(lambda number: _create(session, provider, number), range(MACHINES)))
    deadline = time.monotonic() + _DEADLINE
    while any(provider.describe(one.id).state is MachineState.BOOTING for one in machines):
        if time.monotonic() > deadline:
            raise SystemExit("the machines did not boot")
        time.sleep(0.2)
    with session.owned() as writer:
        if writer is None:
            raise SystemExit("somebody drives the campaign")
        for machine in machines:
            writer.append(
                EventType.MACHINE_INTENDED, tag=machine.tag, provider="local", lease=None, why="bench"
            )
            born = machine.born.as_json() if machine.born else None
            writer.append(
                EventType.MACHINE_CREATED,
                tag=machine.tag,
                machine=machine.id,
                node=machine.node,
                requested_at=iso(machine.created_at),
                born=born,
            )
            writer.append(EventType.MACHINE_READY, machine=machine.id, seconds=1.0)
        session.mirror()
    for number, machine in enumerate(machines, start=2):
        _live(session, machine, number)


def _create(session: Session, provider: Local, number: int) -> Machine:
    request = MachineRequest(
        tag=f"{session.facts.key}-{number + 2}-bench",
        campaign=session.facts.name,
        disk=session.disk.root,
        lease=None,
    )
    return provider.create(request)


def _live(session: Session, machine: Machine, number: int) -> None:
    """Write the stream of one attempt, as its supervisor would."""
    run = next(path.name for path in session.on_disk.runs.iterdir())
    stream = StreamWriter(session.on_disk.stream(stream_of_attempt(run, number)), SystemClock(), {})
    stream.append(
        EventType.ATTEMPT_STARTED,
        run=run,
        name="control",
        attempt=number,
        machine=machine.id,
        node=machine.node,
        token="bench",
        committed_step=None,
        mono=0.0,
    )
    for step in range(SAVES):
        stream.append(
            EventType.CHECKPOINT_COMMITTED,
            step=step,
            folder=f"{step}-a{number}",
            bytes=10**9,
            seconds=1.0,
            why="due",
            healthy=True,
            blocked=0.1,
            durable=1.0,
            manifest="0" * 64,
        )
    stream.close()
