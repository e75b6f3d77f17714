from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lastro import strictjson
from lastro.billing import Lease, LeaseKind
from lastro.clock import SystemClock
from lastro.errors import ProviderError
from lastro.paths import Disk, Home
from lastro.procs.identity import ProcessId, is_alive, send, table
from lastro.procs.killtree import members
from lastro.providers import environment
from lastro.providers.base import MachineState
from lastro.providers.local import Local
from tests.procs.real import FAMILY, SLEEPER, eventually, family_in, python, who_wrote
from tests.providers.rented import create, running, wait


def host_of(home: Home, machine_id: str) -> ProcessId:
    return ProcessId.from_json(strictjson.read(home.local_machine(machine_id).host)["process"])


def test_a_machine_boots_for_as_long_as_was_asked(local: Local, tmp_path: Path) -> None:
    booting = create(local, tmp_path / "disk", boot_seconds=1.0)

    with pytest.raises(ProviderError, match="booting"):
        local.start(booting.id, ["true"])
    machine = wait(local, booting.id, MachineState.RUNNING)

    assert booting.state is MachineState.BOOTING and booting.ready_at is None
    assert machine.ready_at is not None
    assert (machine.ready_at - machine.created_at).total_seconds() >= 1.0


def test_a_machine_says_that_it_leaves_before_it_ends_so_that_nothing_more_is_sent_there(
    local: Local, home: Home, tmp_path: Path
) -> None:
    machine = running(local, tmp_path / "disk")

    local.delete(machine.id)

    assert strictjson.read(home.local_machine(machine.id).state)["state"] == MachineState.LEAVING.value


def test_home_and_temporary_files_lie_in_the_scratch_and_go_with_it(
    local: Local, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "users-own"))
    monkeypatch.setenv("LASTRO_HOME", str(home.root))
    machine = running(local, tmp_path / "disk")
    code = (
        "import os, sys, tempfile\n"
        "open(os.path.expanduser('~/here'), 'w'); tempfile.mkstemp()\n"
        "named = [name for name in ('XDG_CACHE_HOME', 'LASTRO_HOME') if name in os.environ]\n"
        "print(named, file=open(sys.argv[1] + '.new', 'w')); os.rename(sys.argv[1] + '.new', sys.argv[1])\n"
    )
    local.start(machine.id, [sys.executable, "-c", code, str(tmp_path / "seen")])
    eventually((tmp_path / "seen").exists)

    folder = home.local_machine(machine.id)
    assert (tmp_path / "seen").read_text() == "[]\n"
    assert [path.name for path in folder.user_home.iterdir()] == ["here"]
    assert len(list(folder.tmp.iterdir())) == 1
    local.delete(machine.id)
    assert not folder.scratch.exists()


def test_a_data_loaders_socket_fits_into_the_temporary_folder_of_a_deep_home(
    tmp_path: Path, home: Home
) -> None:
    deep = Local(Home(home.root / ("deep" * 15)), SystemClock())
    machine = running(deep, tmp_path / "disk")
    code = (
        "import sys\nfrom multiprocessing.connection import Listener\n"
        "address = Listener(family='AF_UNIX').address\n"
        "print(address, file=open(sys.argv[1] + '.new', 'w'))\n"
        "import os; os.rename(sys.argv[1] + '.new', sys.argv[1])\n"
    )
    try:
        deep.start(machine.id, [sys.executable, "-c", code, str(tmp_path / "seen")])
        eventually((tmp_path / "seen").exists)
        link = Path((tmp_path / "seen").read_text()).parent.parent
        assert link.is_symlink()
    finally:
        deep.delete(machine.id)
    assert not link.is_symlink()


def test_a_machine_whose_process_was_killed_is_gone_only_after_all_of_it_was_ended(
    local: Local, home: Home, tmp_path: Path
) -> None:
    machine = running(local, tmp_path / "disk")
    local.start(machine.id, python(FAMILY, tmp_path))
    family = family_in(tmp_path)

    send(host_of(home, machine.id), signal.SIGKILL)
    eventually(lambda: not is_alive(host_of(home, machine.id)))
    assert all(map(is_alive, family))
    gone = local.describe(machine.id)

    assert gone.state is MachineState.GONE
    assert gone.cause == "the machine's host process died"
    assert not any(map(is_alive, family))
    assert not home.local_machine(machine.id).scratch.exists()


def test_a_machine_whose_process_hangs_is_deleted_all_the_same(
    local: Local, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lastro.providers.local._SECONDS_TO_ANSWER", 2.0)
    machine = running(local, tmp_path / "disk")
    local.start(machine.id, python(SLEEPER, tmp_path / "pid"))
    process = who_wrote(tmp_path / "pid")
    send(host_of(home, machine.id), signal.SIGSTOP)

    with pytest.raises(ProviderError, match="did not say"):
        local.start(machine.id, ["true"])
    local.delete(machine.id)

    assert local.describe(machine.id).state is MachineState.GONE
    assert local.describe(machine.id).cause == "deleted"
    assert not is_alive(process) and not is_alive(host_of(home, machine.id))


def test_a_machine_that_cannot_be_wiped_is_not_called_gone(
    local: Local, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = running(local, tmp_path / "disk")
    scratch = home.local_machine(machine.id).scratch
    monkeypatch.setattr("lastro.providers.scratch._mounts_inside", lambda folder: [str(folder / "mnt")])
    send(host_of(home, machine.id), signal.SIGKILL)
    eventually(lambda: not is_alive(host_of(home, machine.id)))

    unsure = local.describe(machine.id)
    monkeypatch.undo()

    assert unsure.state is MachineState.UNKNOWN and unsure.gone_at is None
    assert unsure.cause is not None and "mounted inside" in unsure.cause
    assert not scratch.is_symlink() and scratch.exists()
    assert local.describe(machine.id).state is MachineState.GONE


def test_a_crash_between_the_record_and_the_process_is_repaired_by_the_next_create(
    local: Local, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_arguments: object, **_named: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("lastro.providers.local.start_detached", crash)
        create(local, tmp_path / "disk")
    [found] = local.machines()
    assert found.state is MachineState.BOOTING

    assert create(local, tmp_path / "disk").id == found.id

    assert wait(local, found.id, MachineState.RUNNING).created_at == found.created_at


def test_a_machine_that_never_booted_can_be_deleted_and_never_boots(
    local: Local, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_arguments: object, **_named: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("lastro.providers.local.start_detached", crash)
        create(local, tmp_path / "disk")
    [found] = local.machines()

    local.delete(found.id)
    late = subprocess.run(
        [sys.executable, "-m", "lastro.providers.local_machine", str(home.local_machine(found.id).root)],
        check=False,
    )

    assert late.returncode == 12
    assert create(local, tmp_path / "disk").state is MachineState.GONE


def test_two_that_create_one_tag_at_once_get_one_machine(local: Local, home: Home, tmp_path: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom lastro.clock import SystemClock\n"
        "from lastro.paths import Home\nfrom lastro.providers.base import MachineRequest\n"
        "from lastro.providers.local import Local\n"
        "local = Local(Home(Path(sys.argv[1])), SystemClock())\n"
        "request = MachineRequest(tag='one', campaign='c', disk=Path(sys.argv[2]), lease=None)\n"
        "print(local.create(request).id)\n"
    )
    argv = [sys.executable, "-c", code, str(home.root), str(tmp_path)]
    both = [subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) for _ in range(2)]

    ids = {creator.communicate()[0] for creator in both}

    [machine] = local.machines()
    assert ids == {machine.id + "\n"}
    hosts = [pid for pid in table() if str(home.local_machine(machine.id).root).encode() in _command(pid)]
    eventually(lambda: len([pid for pid in hosts if _command(pid)]) == 1)


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def test_a_lot_ends_with_its_term(local: Local, tmp_path: Path) -> None:
    lot = Lease(offer="lot", kind=LeaseKind.LOT, price=None, term_seconds=1)
    machine = create(local, tmp_path / "disk", lease=lot)

    assert wait(local, machine.id, MachineState.GONE).cause == "lease over"


def test_an_hourly_lease_does_not_end_by_itself(local: Local, tmp_path: Path) -> None:
    hourly = Lease(offer="hourly", kind=LeaseKind.HOURLY, price=None, term_seconds=0)
    machine = create(local, tmp_path / "disk", lease=hourly)

    wait(local, machine.id, MachineState.RUNNING)


def test_a_process_that_cleared_its_environment_ends_with_the_machine(local: Local, tmp_path: Path) -> None:
    machine = running(local, tmp_path / "disk")
    hidden = ["env", "-i", "setsid", "--fork", *python(SLEEPER, tmp_path / "pid")]
    local.start(machine.id, hidden)
    process = who_wrote(tmp_path / "pid")
    assert not members(environment.marker(machine.id)).all

    local.delete(machine.id)

    assert not is_alive(process)


def test_a_machine_ends_when_its_supervisor_lets_it_go(local: Local, home: Home, tmp_path: Path) -> None:
    machine = running(local, tmp_path / "disk")
    local.start(machine.id, ["sh", "-c", """echo '{"why": "budget"}' > "$LASTRO_RELEASE"; sleep 600"""])

    gone = wait(local, machine.id, MachineState.GONE)

    assert gone.cause == "released by its supervisor: budget"
    assert not members(environment.marker(machine.id)).all


def test_a_release_that_nobody_can_read_is_a_release(local: Local, tmp_path: Path) -> None:
    machine = running(local, tmp_path / "disk")
    local.start(machine.id, ["sh", "-c", 'echo "{" > "$LASTRO_RELEASE"'])

    assert "released" in str(wait(local, machine.id, MachineState.GONE).cause)


def test_a_machine_stays_as_long_as_home_speaks_or_something_runs_on_it(local: Local, tmp_path: Path) -> None:
    beat = Disk(tmp_path / "disk").campaign("digits").home_beat
    beat.parent.mkdir(parents=True)
    machine = create(local, tmp_path / "disk", unattended_seconds=2.0)
    speaks_until = time.monotonic() + 4.0
    while time.monotonic() < speaks_until:
        beat.touch()
        time.sleep(0.2)
    still = local.describe(machine.id).state
    local.start(machine.id, ["sleep", "4"])
    time.sleep(3.5)
    works = local.describe(machine.id).state

    gone = wait(local, machine.id, MachineState.GONE)

    assert (still, works) == (MachineState.RUNNING, MachineState.RUNNING)
    assert gone.cause == "nothing runs on it, and home is silent"
