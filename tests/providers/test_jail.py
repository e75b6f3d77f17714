"""A jailed machine from inside: what it sees, what it can write, and that nothing of it stays outside."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lastro.clock import SystemClock, boot_id
from lastro.paths import Home
from lastro.procs.identity import is_alive, send
from lastro.procs.killtree import members
from lastro.providers import environment, jail
from lastro.providers.base import Fault, Machine, MachineState
from lastro.providers.local import Local
from tests.procs.real import SLEEPER, eventually, python, who_wrote
from tests.providers.rented import create, run_on, running, wait

pytestmark = pytest.mark.skipif(jail.why_not() is not None, reason=str(jail.why_not()))


@pytest.fixture
def local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Local]:
    monkeypatch.setenv(jail.LEVEL, jail.JAILED)
    local = Local(Home(tmp_path / "home"), SystemClock())
    yield local
    for machine in local.machines():
        local.delete(machine.id)
        assert not members(environment.marker(machine.id)).all


def _tell(local: Local, machine: Machine, disk: Path, expression: str) -> list[Any]:
    """Return what an expression is inside the machine."""
    code = (
        "import json, os, socket, sys, urllib.request\nfrom pathlib import Path\n"
        "def refused(path):\n"
        "    try:\n        open(path, 'w').close()\n"
        "    except OSError as error:\n        return error.strerror\n"
        f"value = {expression}\n"
        "Path(sys.argv[1] + '.new').write_text(json.dumps(value))\n"
        "os.rename(sys.argv[1] + '.new', sys.argv[1])"
    )
    answer = disk / "answer"
    local.start(machine.id, [sys.executable, "-c", code, str(answer)])
    eventually(answer.exists)
    value: list[Any] = json.loads(answer.read_text())
    answer.unlink()
    return value


def test_it_has_processes_host_and_boot_of_its_own(local: Local, tmp_path: Path) -> None:
    machine = running(local, tmp_path / "disk")
    told = "[os.getpid() < 50, socket.gethostname(), Path('/proc/sys/kernel/random/boot_id').read_text()]"

    few, host, boot = _tell(local, machine, tmp_path / "disk", told)

    assert machine.level == "jailed"
    assert few is True
    assert host == machine.node != socket.gethostname()
    assert boot.strip() not in ("", boot_id())


def test_only_its_scratch_and_the_disk_can_be_written(local: Local, tmp_path: Path) -> None:
    (tmp_path / "neighbour").mkdir()
    machine = running(local, tmp_path / "disk")
    paths = ["/etc/x", str(tmp_path / "neighbour/x"), "/tmp/x", str(tmp_path / "disk/x")]
    told = f"[refused(path) for path in {paths}] + [refused(os.environ['HOME'] + '/x')]"

    etc, neighbour, tmp, disk, home = _tell(local, machine, tmp_path / "disk", told)

    assert (etc, tmp, disk, home) == ("Read-only file system", None, None, None)
    assert neighbour is not None
    assert (tmp_path / "disk/x").exists() and not Path("/tmp/x").exists()


def test_the_only_network_is_its_metadata_service(local: Local, tmp_path: Path) -> None:
    machine = running(local, tmp_path / "disk")
    ask = "urllib.request.urlopen(urllib.request.Request("
    name = "'http://169.254.169.254/metadata/instance/compute/name', headers={'Metadata': 'true'}))"
    told = f"[sorted(name for _, name in socket.if_nameindex() if name != 'lo'), {ask}{name}.read().decode()]"

    others, node = _tell(local, machine, tmp_path / "disk", told)

    assert [one for one in others if not one.startswith(("sit", "tunl", "ip6"))] == []
    assert node == machine.node


def test_when_the_process_of_the_machine_is_killed_the_jail_dies_with_it(
    local: Local, tmp_path: Path
) -> None:
    machine = running(local, tmp_path / "disk")
    local.start(machine.id, python(SLEEPER, tmp_path / "disk/pid"))
    sleeper = who_wrote(tmp_path / "disk/pid", machine.id)
    host = json.loads((tmp_path / f"home/local/machines/{machine.id}/host.json").read_text())["process"]

    subprocess.run(["kill", "-9", str(host["pid"])], check=True)

    eventually(lambda: not is_alive(sleeper))
    assert wait(local, machine.id, MachineState.GONE).cause == "the machine's host process died"


def test_when_its_first_process_is_killed_the_machine_is_gone(local: Local, tmp_path: Path) -> None:
    machine = running(local, tmp_path / "disk")
    local.start(machine.id, python(SLEEPER, tmp_path / "disk/pid"))
    sleeper = who_wrote(tmp_path / "disk/pid", machine.id)
    first = [one for one in members(environment.marker(machine.id)).all if one.pid != sleeper.pid]

    for process in first:
        with contextlib.suppress(OSError):  # the others end with the first one, at once
            if b"jail_init" in Path(f"/proc/{process.pid}/cmdline").read_bytes():
                send(process, signal.SIGKILL)

    assert "jail" in str(wait(local, machine.id, MachineState.GONE).cause)
    assert not is_alive(sleeper)


def test_it_lets_itself_go_when_nothing_runs_in_it_any_more(local: Local, tmp_path: Path) -> None:
    created = create(local, tmp_path / "disk", unattended_seconds=4.0)
    machine = wait(local, created.id, MachineState.RUNNING)
    done = tmp_path / "disk/done"
    local.start(machine.id, ["sh", "-c", f"sleep 6; touch {done}"])

    gone = wait(local, machine.id, MachineState.GONE)

    assert gone.cause == "nothing runs on it, and home is silent"
    assert done.exists()


def test_nothing_is_mounted_outside_and_nothing_of_the_scratch_stays(local: Local, tmp_path: Path) -> None:
    before = Path("/proc/self/mountinfo").read_text()
    machine = running(local, tmp_path / "disk")
    during = Path("/proc/self/mountinfo").read_text()

    local.delete(machine.id)

    assert before == during == Path("/proc/self/mountinfo").read_text()
    assert not (tmp_path / f"home/local/machines/{machine.id}/scratch").exists()


def test_a_machine_that_was_not_asked_to_be_jailed_is_plain(
    local: Local, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(jail.LEVEL)

    assert create(local, tmp_path / "disk").level == "plain"


def test_a_scripted_notice_is_told_by_the_metadata_service(local: Local, tmp_path: Path) -> None:
    fault = Fault(index=0, run="shift", step=3, notice_seconds=600.0)
    machine = running(local, tmp_path / "disk", faults=(fault,))
    code = (
        "import os, sys, time\nfrom lastro.run.notices import listen\n"
        "listener = listen(os.environ)\n"
        "while (said := listener.heard()) is None: time.sleep(0.02)\n"
        "open(sys.argv[1] + '.new', 'w').write(said.source + ' ' + said.what)\n"
        "os.rename(sys.argv[1] + '.new', sys.argv[1])\n"
    )
    local.start(machine.id, [sys.executable, "-c", code, str(tmp_path / "disk/heard")])
    run_on(local, machine, tmp_path / "disk", name="shift")

    eventually((tmp_path / "disk/heard").exists)

    assert (tmp_path / "disk/heard").read_text() == "aws terminate"
    assert local.describe(machine.id).state is MachineState.LEAVING
