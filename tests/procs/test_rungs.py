"""Each rung of the kill tree alone, against everything that a job does to hide. What it misses is known."""

from __future__ import annotations

import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from lastro.paths import AttemptFolder
from lastro.procs.identity import ProcessId, is_alive, send
from lastro.procs.job import launch
from lastro.procs.killtree import Rung, end_tree, members
from tests.procs.real import environment, eventually, python, who_wrote

_HERE = """
import os, signal, sys, time
def here(name):
    path = os.path.join(sys.argv[1], name)
    # The outer number: in a PID namespace of its own a process does not know it, but /proc is the outer one.
    pid = os.readlink("/proc/self")
    with open(path + ".new", "w") as file: file.write(pid)
    os.rename(path + ".new", path)
def sleep(name):
    here(name)
    time.sleep(600)
    os._exit(0)
"""

#: What a job does, and the names that its processes write.
JOBS = {
    "children in sessions of their own": (
        "if os.fork() == 0:\n    os.setsid(); sleep('child')\nsleep('leader')",
        ("leader", "child"),
    ),
    "a double fork": (
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork(): os._exit(0)\n    sleep('orphan')\n"
        "sleep('leader')",
        ("leader", "orphan"),
    ),
    "TERM, INT and HUP ignored": (
        "for number in (1, 2, 15): signal.signal(number, signal.SIG_IGN)\nsleep('leader')",
        ("leader",),
    ),
    "workers that a loader started": (
        "for n in range(4):\n    if os.fork() == 0:\n"
        "        signal.signal(2, signal.SIG_IGN)\n        sleep(f'w{n}')\n"
        "sleep('leader')",
        ("leader", "w0", "w1", "w2", "w3"),
    ),
    "stdout and stderr closed": ("os.close(1); os.close(2)\nsleep('leader')", ("leader",)),
    "a cleared environment": (
        "if len(sys.argv) < 3:\n    os.execve(sys.executable, [*sys.orig_argv, 'again'], {})\n"
        "if os.fork() == 0: sleep('child')\nsleep('leader')",
        ("leader", "child"),
    ),
}

#: What one rung alone cannot find.
MISSED = {(Rung.ENVIRONMENT, "a cleared environment")}


def _namespaces() -> bool:
    tool = shutil.which("unshare")
    argv = [tool or "", "--pid", "--fork", "true"]
    return tool is not None and subprocess.run(argv, capture_output=True, check=False).returncode == 0


@pytest.fixture
def marker(tmp_path: Path) -> Iterator[tuple[str, str]]:
    yield ("RUNG_TEST", str(tmp_path))
    end_tree(("RUNG_TEST", str(tmp_path)))


def _start(tmp_path: Path, code: str, *, apart: bool) -> tuple[ProcessId, ProcessId]:
    """Start a job under a shim that is stopped then, so that it ends nothing itself; return job and shim."""
    folder = AttemptFolder(tmp_path / "attempts" / "1")
    folder.root.mkdir(parents=True)
    argv = python(_HERE + code, tmp_path)
    if apart:
        argv = ["unshare", "--pid", "--fork", *argv]
    job = launch(folder, argv, tmp_path, environment(RUNG_TEST=str(tmp_path)))
    return job.job, job.shim


@pytest.mark.parametrize("what", JOBS)
@pytest.mark.parametrize("rung", Rung)
def test_one_rung_alone(rung: Rung, what: str, tmp_path: Path, marker: tuple[str, str]) -> None:
    apart = rung is Rung.NAMESPACE
    if apart and not _namespaces():
        pytest.skip("no PID namespace can be made here")
    code, names = JOBS[what]
    job, shim = _start(tmp_path, code, apart=apart)
    family = [who_wrote(tmp_path / name) for name in names]
    send(shim, signal.SIGSTOP)
    # Of a namespace it is enough to know one that lives in it.
    roots = {Rung.NAMESPACE: [family[-1]], Rung.DESCENT: [job], Rung.ENVIRONMENT: []}[rung]
    try:
        ended = end_tree(marker, roots, spare=[shim], rungs={rung})

        if (rung, what) in MISSED:
            assert all(map(is_alive, family))
        else:
            assert not any(map(is_alive, family))
            assert set(family) <= {*getattr(ended, rung.value)}
    finally:
        end_tree(marker, [job, *family], spare=[shim])
        send(shim, signal.SIGCONT)
        eventually(lambda: not is_alive(shim))


def test_all_rungs_together_miss_nothing(tmp_path: Path, marker: tuple[str, str]) -> None:
    """The job cleared its environment, and its parent is spared: descent from the parent finds it."""
    code, names = JOBS["a cleared environment"]
    _job, shim = _start(tmp_path, code, apart=False)
    family = [who_wrote(tmp_path / name) for name in names]

    ended = end_tree(marker, spare=[shim])

    assert not any(map(is_alive, family))
    assert set(family) <= ended.descent - ended.environment
    eventually(lambda: not is_alive(shim))


def test_a_member_in_the_callers_own_namespace_makes_no_member_of_its_neighbours(
    marker: tuple[str, str],
) -> None:
    member = subprocess.Popen(["sleep", "600"], env=environment(**dict([marker])))
    neighbour = subprocess.Popen(["sleep", "600"])
    try:
        assert not members(marker, [member.pid], rungs={Rung.NAMESPACE}).all
    finally:
        for process in (member, neighbour):
            process.kill()
            process.wait()
