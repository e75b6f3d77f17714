"""What every provider does, tried on each; its traits say what differs.

Machines of a real sshd and of a real cluster take seconds, so tests that leave their machine alone share one.
"""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from lastro.billing import Lease, LeaseKind
from lastro.clock import SystemClock
from lastro.errors import ProviderError, UsageError
from lastro.paths import Home
from lastro.procs.identity import ProcessId, is_alive
from lastro.procs.killtree import members
from lastro.providers import environment, jail
from lastro.providers.base import Adopts, Fault, Machine, MachineRequest, MachineState, Made, Provider
from lastro.providers.registry import provider_for
from lastro.storage.home import home_id
from tests.procs.real import FAMILY, SLEEPER, eventually, family_in, python, who_wrote

_HOURLY = Lease(offer="lot", kind=LeaseKind.HOURLY, price=None)
_QUEUE = {"slurm": {"time": "10"}}


@dataclass
class Place:
    """A provider in a home of its own, with a campaign's folder and disk."""

    provider: Provider
    home: Home
    campaign: Path
    disk: Path
    numbers: Iterator[int] = field(default_factory=itertools.count)
    common: Machine | None = None

    def request(self, tag: str = "first", **more: object) -> MachineRequest:
        """Return a request under a tag that no other test has."""
        base = MachineRequest(
            tag=f"{tag}-{next(self.numbers)}",
            campaign="digits",
            disk=self.disk,
            lease=_HOURLY,
            workdir=self.campaign,
            sbatch=_QUEUE.get(self.provider.name, {}),
        )
        return MachineRequest(**{**vars(base), **more})

    def running(self, request: MachineRequest | None = None) -> Machine:
        made = self.provider.create(request or self.request())
        return self.wait(made.id, MachineState.RUNNING)

    def shared(self) -> Machine:
        """Return a running machine that no test ends."""
        self.common = self.common or self.running()
        return self.common

    def wait(self, machine_id: str, state: MachineState) -> Machine:
        def look() -> Machine | None:
            machine = self.provider.describe(machine_id)
            return machine if machine.state is state else None

        machine = eventually(look)
        assert machine is not None
        return machine

    def file(self) -> Path:
        """Return a place on the disk that no other test uses."""
        return self.disk / f"file-{next(self.numbers)}"

    def sleeper(self, machine: Machine) -> ProcessId:
        file = self.file()
        self.provider.start(machine.id, python(SLEEPER, file))
        return who_wrote(file, machine.id)

    def tags(self) -> Mapping[str, Machine]:
        return {machine.tag: machine for machine in self.provider.machines()}


@pytest.fixture(scope="module", params=["here", "local", "local, jailed", "ssh", "slurm"])
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    name, _comma, level = request.param.partition(", ")
    if level == jail.JAILED and (why := jail.why_not()) is not None:
        pytest.skip(why)
    folder = tmp_path_factory.mktemp(name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(jail.LEVEL, level)
        if name == "ssh":
            sshd = request.getfixturevalue("sshd")
            patch.setenv("LASTRO_SSH_CONFIG", str(sshd.config))
            name = sshd.spec
        elif name == "slurm":
            for key, value in request.getfixturevalue("slurm").environment.items():
                patch.setenv(key, value)
        home = Home(folder / "home")
        place = Place(provider_for(name, home, SystemClock()), home, folder / "campaign", folder / "disk")
        place.campaign.mkdir()
        place.disk.mkdir()
        (place.campaign / "train.py").write_text("print('user code')\n")
        yield place
        for machine in place.provider.machines():
            place.provider.delete(machine.id)
            assert not members(environment.marker(machine.id)).all


def test_a_machine_is_made_once_by_tag(place: Place) -> None:
    request, second = place.request(), place.request("second")
    first = place.running(request)

    again = place.provider.create(request)
    other = place.provider.create(second)

    assert (again.id, again.created_at, again.node) == (first.id, first.created_at, first.node)
    assert other.id != first.id
    assert [tag for tag in place.tags() if tag in (request.tag, second.tag)] == [request.tag, second.tag]
    place.provider.delete(other.id)
    place.provider.delete(first.id)


def test_a_running_machine_tells_when_it_was_ready_and_where_to_work(place: Place) -> None:
    machine = place.shared()

    assert machine.tag.startswith("first")
    assert machine.workdir.is_dir()
    assert machine.ready_at is not None and machine.ready_at >= machine.created_at
    assert machine.gone_at is None and machine.cause is None
    assert (machine.workdir == place.campaign) is (not place.provider.traits.own_workdir)


def test_what_is_started_knows_its_machine_and_has_a_python(place: Place) -> None:
    """The same one as home; a computer elsewhere has its own."""
    machine, seen = place.shared(), place.file()
    code = (
        "import os, sys; print(os.environ['LASTRO_MACHINE'], os.environ['LASTRO_NODE'], sys.executable, "
        "file=open(sys.argv[1] + '.new', 'w')); os.rename(sys.argv[1] + '.new', sys.argv[1])"
    )
    place.provider.start(machine.id, ["python", "-c", code, str(seen)])

    eventually(seen.exists)
    told, node, executable = seen.read_text().split()
    assert (told, node) == (machine.id, machine.node)
    assert Path(executable).is_absolute()
    if not place.provider.traits.far:
        assert executable == str(Path(sys.executable).parent / "python")


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
    machine, imported = place.shared(), place.file()
    covers = machine.workdir / "graphlib.py"
    covers.write_text("raise SystemExit('the wrong one')\n")
    code = "import graphlib, sys; open(sys.argv[1], 'w').close()"

    place.provider.start(machine.id, [sys.executable, "-c", code, str(imported)])

    eventually(imported.exists)
    covers.unlink()


def test_what_is_started_outlives_a_kill_9_of_the_session_that_asked_for_it(place: Place) -> None:
    machine, pid = place.shared(), place.file()
    argv = [place.provider.name, str(place.home.root), machine.id, *python(SLEEPER, pid)]
    asker = subprocess.Popen([sys.executable, "-c", _HOME, *argv], start_new_session=True)
    process = who_wrote(pid, machine.id)

    os.killpg(asker.pid, signal.SIGKILL)
    asker.wait()

    assert is_alive(process)
    assert place.provider.describe(machine.id).state is MachineState.RUNNING


def test_a_command_that_is_not_there_is_told(place: Place, request: pytest.FixtureRequest) -> None:
    """Elsewhere the profile of a login decides what is there: then the machine's log tells it."""
    machine = place.shared()

    if place.provider.traits.far:
        place.provider.start(machine.id, ["no-such-command"])
        log = request.getfixturevalue("sshd").home / ".lastro" / "ssh" / machine.id / "machine.log"
        eventually(lambda: "no-such-command" in log.read_text())
        return
    with pytest.raises(ProviderError, match="no-such-command"):
        place.provider.start(machine.id, ["no-such-command"])


def test_after_a_delete_nothing_of_the_machine_is_alive_and_a_second_one_changes_nothing(
    place: Place,
) -> None:
    request, kept = place.request(), place.sleeper(place.shared())
    machine, folder = place.running(request), place.file()
    folder.mkdir()
    place.provider.start(machine.id, python(FAMILY, folder))
    family = family_in(folder, machine.id)

    place.provider.delete(machine.id)

    assert not any(map(is_alive, family))
    assert is_alive(kept)
    gone = place.provider.describe(machine.id)
    assert gone.state is MachineState.GONE
    assert gone.gone_at is not None and gone.gone_at >= gone.created_at
    assert gone.cause
    place.provider.delete(machine.id)
    assert place.provider.describe(machine.id) == place.tags()[request.tag] == gone
    assert place.provider.describe(place.shared().id).state is MachineState.RUNNING


def test_on_one_that_is_gone_nothing_can_be_started_and_its_tag_makes_no_second_one(place: Place) -> None:
    request, never = place.request(), place.file()
    machine = place.running(request)
    place.provider.delete(machine.id)

    with pytest.raises(ProviderError, match="gone"):
        place.provider.start(machine.id, python(SLEEPER, never))

    assert not never.exists()
    assert place.provider.create(request).state is MachineState.GONE


def test_disk_and_campaign_are_untouched_by_the_end_of_the_machine(place: Place) -> None:
    machine, checkpoint = place.running(), place.file()
    (machine.workdir / "left-behind").write_text("x")
    (machine.workdir / "disk").symlink_to(place.disk)
    checkpoint.write_text("valuable")

    place.provider.delete(machine.id)

    assert checkpoint.read_text() == "valuable"
    assert (place.campaign / "train.py").exists()
    assert (machine.workdir / "left-behind").exists() is (not place.provider.traits.creates)
    if not place.provider.traits.own_workdir:
        (machine.workdir / "disk").unlink()


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
        assert place.provider.create(request).tag == request.tag
    else:
        with pytest.raises(UsageError, match="faults"):
            place.provider.create(request)
        assert request.tag not in place.tags()
    assert place.provider.fired(place.disk, "digits") == frozenset()


def test_another_process_of_this_home_sees_the_same_machine(place: Place) -> None:
    """Its birth is told as it is measured: a queue counts whole seconds."""
    machine = place.shared()
    code = (
        "import sys\nfrom dataclasses import replace\nfrom pathlib import Path\n"
        "from lastro.clock import SystemClock\n"
        "from lastro.paths import Home\nfrom lastro.providers.registry import provider_for\n"
        "there = provider_for(sys.argv[1], Home(Path(sys.argv[2])), SystemClock())\n"
        "print(replace(there.describe(sys.argv[3]), born=None))\n"
    )

    seen = subprocess.run(
        [sys.executable, "-c", code, place.provider.name, str(place.home.root), machine.id],
        capture_output=True,
        text=True,
        check=True,
    )

    assert seen.stdout.strip() == repr(replace(machine, born=None))


@pytest.mark.parametrize("confirmed", [True, False])
def test_a_second_home_takes_a_machine_over_and_ends_it_also_one_that_was_only_intended(
    place: Place, tmp_path: Path, confirmed: bool
) -> None:
    request = place.request()
    machine = place.running(request)
    process = place.sleeper(machine)
    other = provider_for(place.provider.name, Home(tmp_path / "other"), SystemClock())
    assert isinstance(other, Adopts) and isinstance(place.provider, Adopts)
    made = Made(
        home=home_id(place.home),
        host=os.uname().nodename,
        id=machine.id if confirmed else None,
        node=machine.node if confirmed else None,
        born=machine.born if confirmed and place.provider.traits.creates else None,
        request=request,
    )

    traced = {one.machine for one in other.traces()}
    taken = other.adopt(made)
    other.delete(taken.id)

    assert machine.id in traced
    assert (taken.id, taken.tag) == (machine.id, request.tag)
    assert other.describe(machine.id).state is MachineState.GONE
    assert not is_alive(process)
    assert machine.id not in {one.machine for one in place.provider.traces()}
    if place.provider.traits.creates:
        place.wait(machine.id, MachineState.GONE)


def test_a_second_home_makes_nothing_of_an_intent_that_came_to_nothing(place: Place, tmp_path: Path) -> None:
    other = provider_for(place.provider.name, Home(tmp_path / "other"), SystemClock())
    assert isinstance(other, Adopts)
    made = Made(
        home="0" * 8, host=os.uname().nodename, id=None, node=None, born=None, request=place.request("lost")
    )

    found = other.adopt(made)

    assert (found.state is MachineState.GONE) is place.provider.traits.creates
    other.delete(found.id)
    assert found.id not in {one.machine for one in other.traces()}
