"""What every provider does, tried on each by its traits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from lastro.billing import Lease, LeaseKind
from lastro.clock import SystemClock
from lastro.errors import ProviderError, UsageError
from lastro.paths import Home
from lastro.procs.identity import ProcessId, is_alive
from lastro.procs.killtree import members
from lastro.providers import environment, jail
from lastro.providers.base import Fault, Machine, MachineRequest, MachineState, Provider
from lastro.providers.registry import provider_for
from tests.procs.real import FAMILY, SLEEPER, eventually, family_in, python, who_wrote


@dataclass
class Place:
    """A provider in a home of its own, with a campaign's folder and disk."""

    provider: Provider
    home: Home
    campaign: Path
    disk: Path

    def request(self, tag: str = "first", **more: object) -> MachineRequest:
        base = MachineRequest(tag=tag, campaign="digits", disk=self.disk, lease=None, workdir=self.campaign)
        return MachineRequest(**{**vars(base), **more})

    def running(self, tag: str = "first") -> Machine:
        return self.wait(self.provider.create(self.request(tag)).id, MachineState.RUNNING)

    def wait(self, machine_id: str, state: MachineState) -> Machine:
        def look() -> Machine | None:
            machine = self.provider.describe(machine_id)
            return machine if machine.state is state else None

        machine = eventually(look)
        assert machine is not None
        return machine

    def sleeper(self, machine: Machine, name: str = "pid") -> ProcessId:
        self.provider.start(machine.id, python(SLEEPER, self.disk / name))
        return who_wrote(self.disk / name, machine.id)


@pytest.fixture(params=["here", "local", "local, jailed"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    name, _comma, level = request.param.partition(", ")
    monkeypatch.setenv(jail.LEVEL, level)
    if level == jail.JAILED and (why := jail.why_not()) is not None:
        pytest.skip(why)
    home = Home(tmp_path / "home")
    place = Place(provider_for(name, home, SystemClock()), home, tmp_path / "campaign", tmp_path / "disk")
    place.campaign.mkdir()
    place.disk.mkdir()
    (place.campaign / "train.py").write_text("print('user code')\n")
    yield place
    for machine in place.provider.machines():
        place.provider.delete(machine.id)
        assert not members(environment.marker(machine.id)).all


def test_a_machine_is_made_once_by_tag(place: Place) -> None:
    first = place.running()

    again = place.provider.create(place.request())
    other = place.provider.create(place.request("second"))

    assert (again.id, again.created_at, again.node) == (first.id, first.created_at, first.node)
    assert other.id != first.id
    assert [machine.tag for machine in place.provider.machines()] == ["first", "second"]


def test_a_running_machine_tells_when_it_was_ready_and_where_to_work(place: Place) -> None:
    machine = place.running()

    assert machine.tag == "first"
    assert machine.workdir.is_dir()
    assert machine.ready_at is not None and machine.ready_at >= machine.created_at
    assert machine.gone_at is None and machine.cause is None
    assert (machine.workdir == place.campaign) is (not place.provider.traits.own_workdir)


def test_what_is_started_knows_its_machine_and_has_the_same_python(place: Place) -> None:
    machine = place.running()
    code = (
        "import os, sys; print(os.environ['LASTRO_MACHINE'], os.environ['LASTRO_NODE'], sys.executable, "
        "file=open(sys.argv[1] + '.new', 'w')); os.rename(sys.argv[1] + '.new', sys.argv[1])"
    )
    place.provider.start(machine.id, ["python", "-c", code, str(place.disk / "seen")])

    eventually((place.disk / "seen").exists)
    assert (place.disk / "seen").read_text().split() == [
        machine.id,
        machine.node,
        str(Path(sys.executable).parent / "python"),
    ]


_HOME = """
import sys
from pathlib import Path
from lastro.clock import SystemClock
from lastro.paths import Home
from lastro.providers.registry import provider_for
provider_for(sys.argv[1], Home(Path(sys.argv[2])), SystemClock()).start(sys.argv[3], sys.argv[4:])
import time; time.sleep(600)
"""


def test_a_module_of_the_user_does_not_cover_one_of_python(place: Place) -> None:
    machine = place.running()
    (machine.workdir / "graphlib.py").write_text("raise SystemExit('the wrong one')\n")
    code = "import graphlib, sys; open(sys.argv[1], 'w').close()"

    place.provider.start(machine.id, [sys.executable, "-c", code, str(place.disk / "imported")])

    eventually((place.disk / "imported").exists)


def test_what_is_started_outlives_a_kill_9_of_the_session_that_asked_for_it(place: Place) -> None:
    machine = place.running()
    pid = place.disk / "pid"
    argv = [place.provider.name, str(place.home.root), machine.id, *python(SLEEPER, pid)]
    asker = subprocess.Popen([sys.executable, "-c", _HOME, *argv], start_new_session=True)
    process = who_wrote(pid, machine.id)

    os.killpg(asker.pid, signal.SIGKILL)
    asker.wait()

    assert is_alive(process)
    assert place.provider.describe(machine.id).state is MachineState.RUNNING


def test_a_command_that_is_not_there_is_told(place: Place) -> None:
    machine = place.running()

    with pytest.raises(ProviderError, match="no-such-command"):
        place.provider.start(machine.id, ["no-such-command"])


def test_after_a_delete_nothing_of_the_machine_is_alive(place: Place) -> None:
    machine = place.running()
    place.provider.start(machine.id, python(FAMILY, place.disk))
    family = family_in(place.disk, machine.id)

    place.provider.delete(machine.id)

    assert not any(map(is_alive, family))
    gone = place.provider.describe(machine.id)
    assert gone.state is MachineState.GONE
    assert gone.gone_at is not None and gone.gone_at >= gone.created_at
    assert gone.cause


def test_a_delete_ends_the_machines_own_processes_alone(place: Place) -> None:
    first, second = place.running("first"), place.running("second")
    kept, ended = place.sleeper(first, "kept"), place.sleeper(second, "ended")

    place.provider.delete(second.id)

    assert is_alive(kept) and not is_alive(ended)
    assert place.provider.describe(first.id).state is MachineState.RUNNING


def test_deleting_again_is_fine_and_changes_nothing(place: Place) -> None:
    machine = place.running()
    place.provider.delete(machine.id)
    gone = place.provider.describe(machine.id)

    place.provider.delete(machine.id)

    assert place.provider.describe(machine.id) == gone
    assert place.provider.machines() == [gone]


def test_nothing_can_be_started_on_a_machine_that_is_gone(place: Place) -> None:
    machine = place.running()
    place.provider.delete(machine.id)

    with pytest.raises(ProviderError, match="gone"):
        place.provider.start(machine.id, python(SLEEPER, place.disk / "pid"))

    assert not (place.disk / "pid").exists()


def test_a_tag_whose_machine_is_gone_makes_no_second_one(place: Place) -> None:
    machine = place.running()
    place.provider.delete(machine.id)

    assert place.provider.create(place.request()).state is MachineState.GONE


def test_disk_and_campaign_are_untouched_by_the_end_of_the_machine(place: Place) -> None:
    machine = place.running()
    (machine.workdir / "left-behind").write_text("x")
    (machine.workdir / "disk").symlink_to(place.disk)
    (place.disk / "checkpoint").write_text("valuable")

    place.provider.delete(machine.id)

    assert (place.disk / "checkpoint").read_text() == "valuable"
    assert (place.campaign / "train.py").exists()
    assert (machine.workdir / "left-behind").exists() is (not place.provider.traits.creates)


@pytest.mark.parametrize("machine_id", ["local-0000000000", "here-000000-00000000", "../../etc", "", "x"])
def test_a_machine_that_is_not_known_is_an_error_and_never_gone(place: Place, machine_id: str) -> None:
    verbs: list[Callable[[], object]] = [
        lambda: place.provider.describe(machine_id),
        lambda: place.provider.delete(machine_id),
        lambda: place.provider.start(machine_id, ["true"]),
    ]
    for verb in verbs:
        with pytest.raises(ProviderError, match="there is no machine"):
            verb()


def test_scripted_faults_are_refused_where_they_cannot_happen(place: Place) -> None:
    fault = Fault(index=0, run="shift", step=5, notice_seconds=None)
    request = place.request(faults=(fault,))

    if place.provider.traits.takes_faults:
        assert place.provider.create(request).tag == "first"
    else:
        with pytest.raises(UsageError, match="--faults"):
            place.provider.create(request)
        assert place.provider.machines() == []
    assert place.provider.fired(place.disk, "digits") == frozenset()


def test_another_process_of_this_home_sees_the_same_machine(place: Place) -> None:
    lease = Lease(offer="lot", kind=LeaseKind.HOURLY, price=None)
    machine = place.wait(place.provider.create(place.request(lease=lease)).id, MachineState.RUNNING)
    code = (
        "import sys\nfrom pathlib import Path\nfrom lastro.clock import SystemClock\n"
        "from lastro.paths import Home\nfrom lastro.providers.registry import provider_for\n"
        "print(provider_for(sys.argv[1], Home(Path(sys.argv[2])), SystemClock()).machines())\n"
    )

    seen = subprocess.run(
        [sys.executable, "-c", code, place.provider.name, str(place.home.root)],
        capture_output=True,
        text=True,
        check=True,
    )

    assert seen.stdout.strip() == repr([machine])
