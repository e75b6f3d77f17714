"""Machines that are jobs of a real cluster of two nodes: made, found again, lost, and let go."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lastro import strictjson
from lastro.clock import SystemClock
from lastro.errors import ProviderError
from lastro.paths import Disk, Home, MachineFolder
from lastro.providers.base import Machine, MachineRequest, MachineState
from lastro.providers.slurm.slurm import Slurm
from tests.flow.campaigns import wait_for
from tests.providers.slurm.cluster import Cluster

#: Says on which node and in which job it runs, and stays until it is ended.
JOB = "import os, sys, time; open(sys.argv[1], 'w').write(os.environ['SLURMD_NODENAME']); time.sleep(600)"


@pytest.fixture
def home(slurm: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """Give a home on the cluster; what a test leaves there is cancelled."""
    for name, value in slurm.environment.items():
        monkeypatch.setenv(name, value)
    yield Home(tmp_path / "home")
    for number, state in slurm.jobs().items():
        if state in ("PENDING", "RUNNING", "SUSPENDED"):
            with contextlib.suppress(AssertionError):
                slurm.call("scancel", number)


def request(tmp_path: Path, tag: str = "one", **sbatch: str) -> MachineRequest:
    disk = tmp_path / "disk"
    disk.mkdir(exist_ok=True)
    return MachineRequest(tag=tag, campaign="small", disk=disk, lease=None, sbatch={"time": "10", **sbatch})


def provider(home: Home, spec: str = "slurm") -> Slurm:
    return Slurm(spec, home, SystemClock())


def up(at: Slurm, machine: Machine) -> Machine:
    wait_for(lambda: at.describe(machine.id).state is MachineState.RUNNING)
    return at.describe(machine.id)


def gone(at: Slurm, machine: Machine) -> Machine:
    wait_for(lambda: at.describe(machine.id).state is MachineState.GONE)
    return at.describe(machine.id)


def job_of(home: Home, machine: Machine) -> str:
    return str(strictjson.read(home.slurm_machine(machine.id).job)["job"])


def spool(machine: Machine, tmp_path: Path) -> MachineFolder:
    return Disk(tmp_path / "disk").allotted(machine.id)


def test_it_runs_what_it_is_asked_to_and_leaves_nothing(slurm: Cluster, home: Home, tmp_path: Path) -> None:
    at = provider(home)
    machine = up(at, at.create(request(tmp_path)))
    word = tmp_path / "word"
    at.start(machine.id, [sys.executable, "-c", JOB, str(word)])
    node = wait_for(lambda: word.exists() and word.read_text())
    at.delete(machine.id)
    ended = at.describe(machine.id)

    assert node in ("n1", "n2")
    assert machine.workdir.is_absolute()
    assert (ended.state, ended.cause) == (MachineState.GONE, "deleted")
    assert ended.used_seconds is not None
    assert not machine.workdir.parent.exists()
    assert slurm.jobs()[job_of(home, machine)] == "COMPLETED"  # it ended itself; nobody cancelled it
    at.delete(machine.id)
    assert [one.id for one in at.machines()] == [machine.id]


def test_one_tag_is_one_job_also_when_its_number_was_lost(slurm: Cluster, home: Home, tmp_path: Path) -> None:
    first = provider(home).create(request(tmp_path))
    number = job_of(home, first)
    home.slurm_machine(first.id).job.unlink()
    again = provider(home).create(request(tmp_path))

    assert (again.id, job_of(home, again)) == (first.id, number)
    alive = [state for state in slurm.jobs().values() if state in ("PENDING", "RUNNING")]
    assert len(alive) == 1
    provider(home).delete(first.id)


@pytest.fixture
def lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a file: while it is there the next squeue lists no job, and removes it."""
    lie, real = tmp_path / "lie", shutil.which("squeue")
    squeue = tmp_path / "bin" / "squeue"
    squeue.parent.mkdir()
    squeue.write_text(f'#!/bin/sh\nif [ -e {lie} ]; then rm {lie}; exit 0; fi\nexec {real} "$@"\n')
    squeue.chmod(0o755)
    monkeypatch.setenv("PATH", f"{squeue.parent}:{os.environ['PATH']}")
    return lie


def test_an_answer_that_leaves_a_job_out_once_makes_nothing_gone_and_nothing_twice(
    slurm: Cluster, home: Home, tmp_path: Path, lies: Path
) -> None:
    """It is left out when it is looked at, when it is asked for again, and when it is let go."""
    at = provider(home)
    held = at.create(request(tmp_path, hold=""))
    number, before = job_of(home, held), set(slurm.jobs())
    lies.touch()
    once = provider(home).describe(held.id)
    home.slurm_machine(held.id).job.unlink()
    lies.touch()
    again = provider(home).create(request(tmp_path, hold=""))
    lies.touch()
    provider(home).delete(held.id)

    assert not lies.exists()
    assert (once.state, "it is asked again" in str(once.cause)) == (MachineState.UNKNOWN, True)
    assert (again.id, job_of(home, again), set(slurm.jobs())) == (held.id, number, before)
    assert slurm.jobs()[number] == "CANCELLED"
    assert at.describe(held.id).cause == "deleted"


def test_a_script_that_somebody_hands_in_again_starts_nothing_twice(
    slurm: Cluster, home: Home, tmp_path: Path
) -> None:
    at = provider(home)
    machine = up(at, at.create(request(tmp_path)))
    again = slurm.call("sbatch", "--parsable", str(spool(machine, tmp_path).script))
    wait_for(lambda: slurm.jobs()[again] == "FAILED")

    fresh = provider(home)
    assert fresh.describe(machine.id).state is MachineState.RUNNING
    assert "another job is this machine" in spool(machine, tmp_path).log.read_text()
    fresh.delete(machine.id)
    assert slurm.jobs()[job_of(home, machine)] == "COMPLETED"


def test_one_that_waits_says_why_and_uses_nothing(slurm: Cluster, home: Home, tmp_path: Path) -> None:
    at = provider(home)
    held = at.create(request(tmp_path, hold=""))
    wait_for(lambda: (at.describe(held.id).queued or "").endswith("(JobHeldUser)"))
    waiting = at.describe(held.id)
    at.delete(held.id)
    ended = at.describe(held.id)

    assert (waiting.state, waiting.born, waiting.used_seconds) == (MachineState.BOOTING, None, 0.0)
    assert (ended.state, ended.used_seconds) == (MachineState.GONE, 0.0)
    assert slurm.jobs()[job_of(home, held)] == "CANCELLED"
    assert not spool(held, tmp_path).host.exists()


def test_a_cancelled_job_warns_what_runs_in_it_and_is_told_as_cancelled(
    slurm: Cluster, home: Home, tmp_path: Path
) -> None:
    at = provider(home)
    machine = up(at, at.create(request(tmp_path)))
    at.start(
        machine.id,
        [
            sys.executable,
            "-c",
            "import os, signal, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
            "open(sys.argv[1] + '-waits', 'w').close()\n"
            "while not os.path.exists(os.environ['LASTRO_NOTICE']): time.sleep(0.05)\n"
            "open(sys.argv[1], 'w').write(open(os.environ['LASTRO_NOTICE']).read())",
            str(tmp_path / "heard"),
        ],
    )
    wait_for((tmp_path / "heard-waits").exists)
    slurm.call("scancel", job_of(home, machine))
    ended = gone(at, machine)

    assert ended.cause == "the job was cancelled (scancel)"
    assert '"in_seconds": 30.0' in wait_for(
        lambda: (tmp_path / "heard").exists() and (tmp_path / "heard").read_text()
    )


def test_what_slurm_refuses_is_said_in_its_words_and_nothing_is_there(
    slurm: Cluster, home: Home, tmp_path: Path
) -> None:
    before = slurm.jobs()
    with pytest.raises(ProviderError, match=r"did not take the job: .*Invalid partition") as told:
        provider(home, "slurm://nowhere").create(request(tmp_path))
    assert "`slurm:` in the campaign file" in str(told.value.hint)
    assert slurm.jobs() == before


def test_a_controller_that_is_away_makes_nothing_gone(
    slurm: Cluster, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = provider(home)
    machine = up(at, at.create(request(tmp_path)))
    nowhere = tmp_path / "slurm.conf"
    conf = Path(slurm.environment["SLURM_CONF"]).read_text()
    nowhere.write_text(re.sub("SlurmctldPort=.*", "SlurmctldPort=1\\nMessageTimeout=1", conf))
    pid = strictjson.read(spool(machine, tmp_path).host)["process"]["pid"]
    with monkeypatch.context() as away:
        away.setenv("SLURM_CONF", str(nowhere))
        asking = provider(home)
        by_its_signs = asking.describe(machine.id)
        os.kill(pid, signal.SIGSTOP)
        wait_for(lambda: asking.describe(machine.id).state is not MachineState.RUNNING)
        silent = asking.describe(machine.id)
        os.kill(pid, signal.SIGCONT)
        with pytest.raises(ProviderError, match="does not answer"):
            asking.delete(machine.id)

    assert by_its_signs.state is MachineState.RUNNING
    assert (silent.state, "does not answer" in str(silent.cause)) == (MachineState.UNKNOWN, True)
    # Asked to end, it has done so by itself; the controller tells it when it is there again.
    assert gone(at, machine).cause == "deleted"
