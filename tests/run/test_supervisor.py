"""The supervisor, with real processes: it restarts, heeds, adopts, and leaves nothing alive."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lastro import atomic, strictjson
from lastro.journal.events import EventType
from lastro.paths import RunFolder
from lastro.procs.identity import ProcessId, is_alive
from lastro.procs.killtree import end_tree, members
from lastro.run.seat import highest
from tests.run.jobs import events_of, kinds_of, order_for, start_supervisor, wait_for, write_order


@pytest.fixture(autouse=True)
def _nothing_stays_alive(tmp_path: Path) -> Iterator[None]:
    yield
    for number in range(1, 5):
        for folder in tmp_path.glob(f"disk/campaigns/*/runs/*/attempts/{number}"):
            end_tree(("LASTRO_ATTEMPT", str(folder)))


def _launched(folder: RunFolder, number: int) -> ProcessId:
    event = next(event for event in events_of(folder, number) if event.type is EventType.ATTEMPT_LAUNCHED)
    return ProcessId.from_json(event.facts["job"])


def test_a_job_that_ends_well_completes_its_run(tmp_path: Path) -> None:
    folder, _order = order_for(tmp_path, "sh", "-c", "echo hello; echo worse >&2")

    assert start_supervisor(folder).wait(60) == 0

    assert kinds_of(folder, 1) == [
        EventType.STREAM_OPENED,
        EventType.ATTEMPT_STARTED,
        EventType.ATTEMPT_LAUNCHED,
        EventType.ATTEMPT_ENDED,
        EventType.FILES_SETTLED,
        EventType.RUN_ENDED,
    ]
    assert events_of(folder, 1)[-1].facts["verdict"] == "completed"
    assert folder.attempt(1).log.read_text() == "hello\nworse\n"


def test_a_job_that_fails_twice_without_progress_is_given_up_with_its_cause(tmp_path: Path) -> None:
    folder, _order = order_for(tmp_path, "sh", "-c", "exit 3")

    start_supervisor(folder).wait(60)

    assert highest(folder.claims) == 2
    ended = events_of(folder, 2)[-1]
    assert ended.facts["verdict"] == "failed"
    assert "exit code 3" in ended.facts["why"]


def test_a_command_that_is_not_there_is_told(tmp_path: Path) -> None:
    folder, _order = order_for(tmp_path, "no-such-program")

    start_supervisor(folder).wait(60)

    assert "exit code 127" in events_of(folder, 2)[-1].facts["why"]


_SAVES_ON_TERM = """
import os, signal, sys, time
def leave(*_):
    open(os.environ["LASTRO_OUTPUTS"] + "/saved", "w").write("x")
    sys.exit(85)
signal.signal(signal.SIGTERM, leave)
print("ready", flush=True)
time.sleep(600)
"""


def _ready(folder: RunFolder, number: int) -> bool:
    log = folder.attempt(number).log
    return log.exists() and "ready" in log.read_text()


def test_a_stop_request_gives_the_job_time_to_save_and_pauses_the_run(tmp_path: Path) -> None:
    folder, _order = order_for(tmp_path, sys.executable, "-c", _SAVES_ON_TERM)
    supervisor = start_supervisor(folder)
    wait_for(lambda: _ready(folder, 1))

    atomic.write_text(folder.stop_request, strictjson.pretty({"why": "lunch"}))
    supervisor.wait(60)

    assert (folder.outputs / "saved").exists()
    assert events_of(folder, 1)[-1].facts["verdict"] == "paused"
    assert not folder.stop_request.exists()


def test_a_notice_makes_the_job_save_and_interrupts_the_run(tmp_path: Path) -> None:
    folder, _order = order_for(tmp_path, sys.executable, "-c", _SAVES_ON_TERM)
    notice = tmp_path / "notice.json"
    supervisor = start_supervisor(folder, LASTRO_NOTICE=str(notice))
    wait_for(lambda: _ready(folder, 1))

    notice.write_text('{"action": "terminate", "in_seconds": 5.0, "at": "now"}')
    supervisor.wait(60)

    assert (folder.outputs / "saved").exists()
    assert EventType.NOTICE_RECEIVED in kinds_of(folder, 1)
    assert events_of(folder, 1)[-1].facts["verdict"] == "interrupted"


def test_a_job_that_ignores_everything_is_ended_with_all_its_children_after_the_grace(tmp_path: Path) -> None:
    script = "trap '' TERM; setsid sleep 600 & sleep 600 & echo ready; sleep 600"
    folder, order = order_for(tmp_path, "sh", "-c", script)
    write_order(folder, order, grace_seconds=0.3)
    supervisor = start_supervisor(folder)
    wait_for(lambda: _ready(folder, 1))

    atomic.write_text(folder.stop_request, strictjson.pretty({"why": "now"}))
    supervisor.wait(60)

    assert "grace" in events_of(folder, 1)[-1].facts["why"]
    assert not members(("LASTRO_ATTEMPT", str(folder.attempt(1).root))).all


def test_a_supervisor_killed_9_is_replaced_and_the_same_job_goes_on(tmp_path: Path) -> None:
    script = f"echo ready; while [ ! -e {tmp_path}/go ]; do sleep 0.05; done; exit 0"
    folder, _order = order_for(tmp_path, "sh", "-c", script)
    first = start_supervisor(folder)
    wait_for(lambda: _ready(folder, 1))
    job = _launched(folder, 1)
    os.kill(first.pid, signal.SIGKILL)
    first.wait(60)
    assert is_alive(job)

    second = start_supervisor(folder)
    wait_for(lambda: EventType.ATTEMPT_ADOPTED in kinds_of(folder, 1))
    assert is_alive(job)
    (tmp_path / "go").touch()
    second.wait(60)

    assert events_of(folder, 1)[-1].facts["verdict"] == "completed"
    assert highest(folder.claims) == 1


def test_the_end_of_a_job_is_known_although_nobody_watched(tmp_path: Path) -> None:
    script = f"echo ready; while [ ! -e {tmp_path}/go ]; do sleep 0.05; done; exit 0"
    folder, _order = order_for(tmp_path, "sh", "-c", script)
    first = start_supervisor(folder)
    wait_for(lambda: _ready(folder, 1))
    os.kill(first.pid, signal.SIGKILL)
    first.wait(60)
    (tmp_path / "go").touch()
    wait_for(folder.attempt(1).exit.exists)

    start_supervisor(folder).wait(60)

    assert highest(folder.claims) == 1
    assert events_of(folder, 1)[-1].facts["verdict"] == "completed"


def test_of_many_supervisors_one_starts_the_job(tmp_path: Path) -> None:
    folder, _order = order_for(tmp_path, "sh", "-c", f"echo x >> {tmp_path}/starts; sleep 1")

    supervisors = [start_supervisor(folder) for _ in range(6)]
    codes = sorted(supervisor.wait(60) for supervisor in supervisors)

    assert codes == [0, 12, 12, 12, 12, 12]
    assert (tmp_path / "starts").read_text() == "x\n"


def test_a_supervisor_whose_seat_was_taken_ends_its_job_and_is_fenced(tmp_path: Path) -> None:
    """A machine that was frozen thaws after its replacement has taken the seat."""
    folder, _order = order_for(tmp_path, "sh", "-c", "echo ready; sleep 600")
    supervisor = start_supervisor(folder)
    wait_for(lambda: _ready(folder, 1))
    job = _launched(folder, 1)

    number = highest(folder.seats)
    other = {"supervisor": {"boot_id": "another", "pid": 1, "start_ticks": 1}, "machine": "m-2"}
    assert atomic.claim(folder.seat(number + 1), strictjson.pretty(other).encode())
    supervisor.wait(60)

    assert events_of(folder, 1)[-1].facts["verdict"] == "fenced"
    assert not is_alive(job)


def test_an_order_of_another_version_is_an_error_with_its_place(tmp_path: Path) -> None:
    folder, _order = order_for(tmp_path, "true")
    atomic.write_text(folder.order, '{"campaign": "c"}')

    assert start_supervisor(folder).wait(60) == 8

    assert "order.json" in folder.supervisor_log.read_text()


def test_what_a_job_writes_into_its_signals_does_not_end_its_supervisor(tmp_path: Path) -> None:
    lines = [
        '{"kind": "checkpoint"}',
        '{"kind": "checkpoint", "folder": "1-a1", "bytes": "many", "seconds": 1, "why": "due"}',
        '{"kind": "restored", "step": "x", "folder": "1-a1", "seconds": 0}',
        '{"kind": "exception", "failure": "E: e", "step": [1]}',
        '{"kind": "first_step", "step": 1, "mono": null}',
        '{"kind": "stop", "rule": "no such rule", "why": ""}',
        "[1]",
        "not JSON",
        '{"kind": "read", "rows": 7, "digest": null}',
    ]
    (tmp_path / "lines").write_text("\n".join(lines) + "\n")
    folder, _order = order_for(
        tmp_path, "sh", "-c", f'cat {tmp_path}/lines >> "$LASTRO_ATTEMPT/signals.jsonl"'
    )

    assert start_supervisor(folder).wait(60) == 0

    assert events_of(folder, 1)[-1].facts["verdict"] == "completed"
    assert EventType.INPUT_READ in kinds_of(folder, 1)
