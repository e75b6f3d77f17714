"""Memory that runs out for real, in a control group of the test's own."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lastro.journal.events import EventType
from lastro.procs.identity import ProcessId, is_alive
from lastro.procs.job import Exit
from lastro.procs.kernel_log import KernelLog
from lastro.procs.memory_group import MemoryGroup, memory_group_of
from lastro.rules import End, Ended, cause_of
from lastro.run.oom import Kills, MemoryWitness, Victim, kernel_killed, victim_of
from tests.run.jobs import events_of, kinds_of, order_for, start_supervisor, wait_for

_LIMIT = 192 << 20


@pytest.fixture
def group() -> Iterator[MemoryGroup]:
    """A group with 192 MiB below the one that this process is in."""
    own = memory_group_of()
    if own is None:
        pytest.skip("no memory controller of control groups here")
    folder = own.folder / f"lastro-test-{os.getpid()}"
    limits = ("memory.limit_in_bytes",) if own.version == 1 else ("memory.max",)
    try:
        folder.mkdir()
    except OSError as error:
        pytest.skip(f"no right to make a control group here: {error}")
    try:
        for name in limits:
            try:
                (folder / name).write_text(str(_LIMIT))
            except OSError as error:
                pytest.skip(f"no right to limit memory here: {error}")
        for name in ("memory.swap.max", "memory.memsw.limit_in_bytes"):
            with contextlib.suppress(OSError):
                (folder / name).write_text(str(0 if name == "memory.swap.max" else _LIMIT))
        yield MemoryGroup(folder, own.version)
    finally:
        _remove(folder)


def _remove(folder: Path) -> None:
    """Remove a group: it is busy for a moment after its last process has ended."""
    deadline = time.monotonic() + 30
    while folder.exists() and time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            folder.rmdir()
        time.sleep(0.05)


_HOARDS = "import time; time.sleep(1.0); kept = [bytes([1]) * (1 << 20) for _ in range(2000)]"


def test_a_job_that_the_kernel_ended_for_want_of_memory_is_told_as_that_and_the_supervisor_lives(
    tmp_path: Path, group: MemoryGroup
) -> None:
    folder, _order = order_for(tmp_path, sys.executable, "-c", _HOARDS)
    inside = f'echo $$ > {group.folder}/cgroup.procs && exec "$@"'
    supervisor = [sys.executable, "-m", "lastro.run", str(folder.root)]

    code = subprocess.run(["sh", "-c", inside, "sh", *supervisor], check=False, timeout=100).returncode

    assert code == 0, "the supervisor itself was killed"
    kills = group.kills()
    assert kills is not None and kills >= 2
    for number in (1, 2):
        ended = next(event for event in events_of(folder, number) if event.type is EventType.ATTEMPT_ENDED)
        cause = ended.facts["cause"]
        assert (cause["end"], cause["signal"]) == ("killed", 9)
        assert "signal 9: the kernel ran out of memory (limit 201 MB; the job was last seen" in cause["why"]


def test_a_job_killed_by_somebody_is_not_blamed_on_memory(tmp_path: Path) -> None:
    folder, _order = order_for(tmp_path, "sh", "-c", "sleep 0.5; kill -9 $$")

    start_supervisor(folder).wait(60)

    ended = next(event for event in events_of(folder, 1) if event.type is EventType.ATTEMPT_ENDED)
    assert ended.facts["cause"]["why"] == "the job was killed by signal 9"


_IS_ASKED_FOR_TOO_MUCH = """
import pathlib
pathlib.Path("/proc/self/oom_score_adj").write_text("1000")
kept = [bytes([1]) * (1 << 20) for _ in range(2000)]
"""


def test_a_job_killed_by_somebody_while_a_neighbour_in_its_group_ran_out_of_memory_is_not_blamed_on_it(
    tmp_path: Path, group: MemoryGroup
) -> None:
    script = 'cd "$LASTRO_OUTPUTS"; [ -e pid ] && exit 0; echo $$ > pid; sleep 100; true'
    folder, _order = order_for(tmp_path, "sh", "-c", script)
    inside = ["sh", "-c", f'echo $$ > {group.folder}/cgroup.procs && exec "$@"', "sh"]
    supervisor = subprocess.Popen([*inside, sys.executable, "-m", "lastro.run", str(folder.root)])
    pid = folder.outputs / "pid"
    wait_for(lambda: pid.exists() and pid.read_text().endswith("\n"))
    time.sleep(0.5)  # the job has been looked at in its group

    neighbour = subprocess.run(
        [*inside, sys.executable, "-c", _IS_ASKED_FOR_TOO_MUCH], check=False, timeout=60
    )
    os.kill(int(pid.read_text()), signal.SIGKILL)
    supervisor.wait(60)

    assert neighbour.returncode == -signal.SIGKILL
    ended = next(event for event in events_of(folder, 1) if event.type is EventType.ATTEMPT_ENDED)
    assert "signal 9: the kernel killed something for want of memory meanwhile" in ended.facts["cause"]["why"]


@pytest.mark.parametrize(
    ("counted", "by_own_group", "logged", "by_signal", "victim"),
    [
        (True, False, {7}, True, Victim.JOB),  # the log names a process of the job
        (True, False, {7}, False, Victim.JOB),  # a worker, for which its job has ended with an exception
        (True, False, {9}, True, Victim.SOMEBODY),  # it names another's
        (True, False, set(), True, Victim.SOMEBODY),
        (True, False, None, True, Victim.SOMEBODY),  # nobody may read the log, and the group is shared
        (True, True, None, True, Victim.JOB),
        (True, True, None, False, Victim.NOBODY),
        (False, False, None, True, Victim.NOBODY),
        (False, True, {9}, True, Victim.NOBODY),
    ],
)
def test_a_kill_is_the_jobs_where_the_log_or_its_own_group_says_so(
    counted: bool, by_own_group: bool, logged: set[int] | None, by_signal: bool, victim: Victim
) -> None:
    told = victim_of(
        counted=counted,
        by_own_group=by_own_group,
        logged=None if logged is None else frozenset(logged),
        job=frozenset({7, 8}),
        by_signal=by_signal,
    )

    assert told is victim


def _witness(tmp_path: Path, log: str) -> tuple[MemoryWitness, Path, Path]:
    """Return a witness of a group and a log that are files of the test's own."""
    folder, _order = order_for(tmp_path, "true")
    group, kmsg = tmp_path / "group", tmp_path / "kmsg"
    group.mkdir()
    for name, text in (("memory.current", "5"), ("memory.max", "1000"), ("memory.events", "oom_kill 3\n")):
        (group / name).write_text(text)
    kmsg.write_text("6,1,1,-;Memory cgroup out of memory: Killed process 41 (python) total-vm:1kB\n")
    read = KernelLog(kmsg, "pid:[4026531836]")
    witness = MemoryWitness(folder.attempt(1), {41, 42}, _log=read, _group=MemoryGroup(group, 2))
    (group / "memory.events").write_text("oom 1\noom_kill 4\n")
    with kmsg.open("a") as file:
        file.write(log)
    return witness, group, kmsg


@pytest.mark.parametrize(
    ("log", "why"),
    [
        (
            "6,2,9,-;Memory cgroup out of memory: Killed process 42 (python) total-vm:1kB\n",
            "ran out of memory",
        ),
        ("6,2,9,-;Memory cgroup out of memory: Killed process 43 (python) total-vm:1kB\n", "nothing shows"),
        ("", "nothing shows"),
    ],
)
def test_what_was_killed_before_or_beside_a_job_is_not_its_end(tmp_path: Path, log: str, why: str) -> None:
    witness, _group, _kmsg = _witness(tmp_path, log)

    told = witness.tell(Exit(code=None, signal=9))

    assert told is not None and why in told
    assert "(limit 1 kB; the job was last seen to hold unknown)" in told


def test_in_another_pid_namespace_the_log_is_not_believed(tmp_path: Path) -> None:
    (tmp_path / "kmsg").write_text("")
    log = KernelLog(tmp_path / "kmsg", "pid:[4026532000]")

    assert log.killed() is None


def test_the_job_goes_before_its_supervisor_and_the_level_is_recorded(tmp_path: Path) -> None:
    script = 'cat /proc/self/oom_score_adj > "$LASTRO_OUTPUTS/score"; sleep 0.5'
    folder, _order = order_for(tmp_path, "sh", "-c", script)

    start_supervisor(folder).wait(60)

    launched = next(event for event in events_of(folder, 1) if event.type is EventType.ATTEMPT_LAUNCHED)
    assert not is_alive(ProcessId.from_json(launched.facts["job"]))
    assert int((folder.outputs / "score").read_text()) >= 500
    assert launched.facts["oom_score_adj"]["supervisor"] < 500
    assert EventType.ATTEMPT_ENDED in kinds_of(folder, 1)


@pytest.mark.parametrize(
    ("before", "after", "by_group", "killed"),
    [
        (Kills(0, 5), Kills(1, 6), True, True),
        (Kills(0, 5), Kills(0, 6), True, False),  # another's job, on the same machine
        (Kills(0, 5), Kills(0, 6), False, True),  # version 1 does not count what lies below
        (Kills(None, 5), Kills(None, 6), False, True),
        (Kills(None, 5), Kills(None, 5), False, False),
        (Kills(None, None), Kills(None, None), False, False),
    ],
)
def test_whose_word_counts(before: Kills, after: Kills, by_group: bool, killed: bool) -> None:
    assert kernel_killed(before, after, by_group=by_group) is killed


def test_the_killer_is_named_behind_the_end_and_changes_nothing_else() -> None:
    killed = cause_of(Ended(exit_code=None, signal=9, step=3, killer="the kernel"))
    crashed = cause_of(Ended(exit_code=137, signal=None, step=3, killer="the kernel"))
    done = cause_of(Ended(exit_code=0, signal=None, step=3, killer="the kernel"))

    assert (killed.end, killed.why) == (End.KILLED, "the job was killed by signal 9: the kernel")
    assert (crashed.end, crashed.why) == (
        End.CRASHED, "the command ended with exit code 137: the kernel",
    )  # fmt: skip
    assert "kernel" not in done.why
