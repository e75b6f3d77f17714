"""What watching costs: CPU of supervisor, local machine and home beside a job that only works."""

from __future__ import annotations

import time
from collections.abc import Callable

from benchmarks.cpu import seconds_so_far
from benchmarks.result import Measure, Result
from benchmarks.toy import Toy, driven, toy_campaign
from lastro import strictjson
from lastro.procs.identity import ProcessId
from lastro.run.seat import read_seat

TARGET_PERCENT = 0.5
SECONDS = 90.0
STEPS_PER_SECOND = 50
_DEADLINE = 60.0


def run() -> Result:
    steps = int((SECONDS + 60) * STEPS_PER_SECOND)  # more than will be done: the job must not end meanwhile
    with (
        toy_campaign(steps=steps, step_seconds=1 / STEPS_PER_SECOND, every="30s") as toy,
        driven(toy) as home,
    ):
        _wait_for(lambda: _steps(toy) > STEPS_PER_SECOND, toy)
        processes = {"supervisor": _supervisor(toy), "local machine": _machine(toy), "home": home.pid}
        used, seconds = _watch(processes)
        shares = {name: 100 * cpu / seconds for name, cpu in used.items()}
    return Result(
        measures=tuple(
            Measure(
                name=f"{name}, of one core",
                value=share,
                unit="%",
                target=TARGET_PERCENT if name == "supervisor" else None,
            )
            for name, share in shares.items()
        ),
        notes=(
            f"{seconds:.0f} s beside a job of {STEPS_PER_SECOND} steps a second that logs two numbers each,"
            " and saves every 30 s; user and system time, counted by the kernel in hundredths of a second.",
        ),
    )


def _watch(processes: dict[str, int]) -> tuple[dict[str, float], float]:
    """Return the CPU seconds that each process used, and in how many seconds."""
    began = time.monotonic()
    before = {name: seconds_so_far(pid) for name, pid in processes.items()}
    time.sleep(SECONDS)
    used = {name: seconds_so_far(pid) - before[name] for name, pid in processes.items()}
    return used, time.monotonic() - began


def _steps(toy: Toy) -> int:
    """Return how many points the job has measured."""
    return sum(
        path.read_bytes().count(b"\n") for path in toy.folder.glob("disk/**/attempts/*/measurements.0.jsonl")
    )


def _supervisor(toy: Toy) -> int:
    (run,) = toy.session().on_disk.runs.iterdir()
    holder = read_seat(toy.session().on_disk.run(run.name))
    assert holder is not None
    return holder.pid


def _machine(toy: Toy) -> int:
    (root,) = toy.home.local_machines.iterdir()
    return ProcessId.from_json(strictjson.read(toy.home.local_machine(root.name).host)["process"]).pid


def _wait_for(condition: Callable[[], bool], toy: Toy) -> None:
    deadline = time.monotonic() + _DEADLINE
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit("the job never began:\n" + toy.log.read_text())
        time.sleep(0.1)
