"""Home is killed at each step of making a machine and of letting it go: afterwards none is left anywhere.

The steps are enumerated: what is done to a file, a process or another computer, before and after each.
Then either the same home goes on, or a second one takes over, which knows the journal only.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lastro.cli import main
from lastro.clock import SystemClock
from lastro.errors import NotProven
from lastro.paths import Home
from lastro.procs.killtree import members
from lastro.providers.base import Adopts, MachineRequest, MachineState, Made, Provider
from lastro.providers.local import Local
from lastro.providers.registry import provider_for
from lastro.storage.home import home_id
from tests.crash.dying import CALLS, FILES, SYNCS, Things, dies
from tests.flow.campaigns import small_campaign, wait_for
from tests.providers.slurm.cluster import Cluster, cluster
from tests.providers.ssh.sshd import Rented, rented


@dataclass
class Place:
    """Where machines come from. `home` is the first home, `second` another one, which has made none."""

    name: str
    folder: Path
    sbatch: dict[str, str] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=itertools.count)

    @property
    def home(self) -> Home:
        return Home(self.folder / "home")

    @property
    def second(self) -> Home:
        return Home(self.folder / "second")

    def provider(self, home: Home) -> Provider:
        """Return it as a command that begins sees it: it remembers nothing."""
        return provider_for(self.name, home, SystemClock())

    def request(self) -> MachineRequest:
        (self.folder / "disk").mkdir(exist_ok=True)
        return MachineRequest(
            tag=f"leak-{next(self.numbers)}",
            campaign="leaks",
            disk=self.folder / "disk",
            lease=None,
            workdir=self.folder,
            sbatch=self.sbatch,
        )

    def end_by_first(self, request: MachineRequest) -> None:
        """Go on as the home that was killed does: it asks again for what it intended, and lets it go."""
        provider = self.provider(self.home)
        provider.delete(provider.create(request).id)

    def end_by_second(self, request: MachineRequest) -> None:
        """Go on as a home that takes over: of an intent it knows the tag, and whose it was."""
        provider = self.provider(self.second)
        assert isinstance(provider, Adopts)
        theirs = home_id(self.home)
        made = Made(home=theirs, host=os.uname().nodename, id=None, node=None, born=None, request=request)
        provider.delete(provider.adopt(made).id)

    def require_nothing(self, what: str) -> None:
        """Check that nothing is alive there, and nothing is recorded that has not ended."""
        first = self.provider(self.home)
        assert isinstance(first, Adopts)
        wait_for(lambda: not {one.machine for one in first.traces()} & self._known())
        for name in self._known():
            assert not members(("LASTRO_MACHINE", name)).all, what

    def _known(self) -> set[str]:
        """Return the ids of all machines that one of the homes has a record of."""
        kind = self.name.partition("://")[0]
        folder = "local/machines" if kind == "local" else kind
        return {path.name for home in (self.home, self.second) for path in (home.root / folder).glob("*-*")}


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rented]:
    with rented(tmp_path_factory.mktemp("rented") / "machine") as made:
        yield made


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(Path(tmp_path_factory.mktemp("slurm"))) as made:
        yield made


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    if request.param == "ssh":
        sshd = request.getfixturevalue("sshd")
        monkeypatch.setenv("LASTRO_SSH_CONFIG", str(sshd.config))
        return Place(sshd.spec, tmp_path)
    if request.param == "slurm":
        for name, value in request.getfixturevalue("slurm").environment.items():
            monkeypatch.setenv(name, value)
        # It waits in the queue: what an allocation does when it is let go is tried elsewhere.
        return Place("slurm", tmp_path, {"time": "10", "hold": ""})
    return Place(request.param, tmp_path)


End = Callable[[Place, MachineRequest], None]
ENDS: tuple[End, ...] = (Place.end_by_first, Place.end_by_second)


def killed_while_creating(place: Place, point: int, end: End, things: Things) -> bool:
    request = place.request()
    home_id(place.home)  # which is there before anything is intended
    died = dies(point, lambda: place.provider(place.home).create(request), things)
    end(place, request)
    place.require_nothing(f"{place.name}: create died at {point}, then {end.__name__}")
    return died


def killed_while_deleting(place: Place, point: int, end: End, things: Things) -> bool:
    request = place.request()
    machine = place.provider(place.home).create(request)
    died = dies(point, lambda: place.provider(place.home).delete(machine.id), things)
    end(place, request)
    place.require_nothing(f"{place.name}: delete died at {point}, then {end.__name__}")
    if end is Place.end_by_first:
        assert place.provider(place.home).describe(machine.id).state is MachineState.GONE
    return died


#: How often each has died at the least: fewer points would mean that they are not found any more.
LEAST = {
    ("local", killed_while_creating): 8,
    ("local", killed_while_deleting): 6,
    ("ssh", killed_while_creating): 6,
    ("ssh", killed_while_deleting): 4,
    ("slurm", killed_while_creating): 6,
    ("slurm", killed_while_deleting): 6,
}


@pytest.mark.parametrize(
    ("place", "killed"), LEAST, ids=lambda value: getattr(value, "__name__", value), indirect=["place"]
)
def test_home_is_killed_at_each_step_and_no_machine_is_left(
    place: Place, killed: Callable[..., bool]
) -> None:
    """On this box at each step; elsewhere at those that processes and other computers see. By turns."""
    things = (*CALLS, *FILES) if place.name == "local" else CALLS
    points = itertools.takewhile(
        lambda point: killed(place, point, ENDS[point % 2], things), itertools.count(1)
    )
    kind = place.name.partition("://")[0]
    assert sum(1 for _point in points) >= LEAST[kind, killed]


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
@pytest.mark.parametrize(
    ("place", "killed"), LEAST, ids=lambda value: getattr(value, "__name__", value), indirect=["place"]
)
def test_home_is_killed_at_every_step_and_whoever_goes_on_leaves_no_machine(
    place: Place, killed: Callable[..., bool], end: End
) -> None:
    points = itertools.takewhile(
        lambda point: killed(place, point, end, (*CALLS, *FILES)), itertools.count(1)
    )
    kind = place.name.partition("://")[0]
    assert sum(1 for _point in points) >= LEAST[kind, killed]


def killed_while_renting(folder: Path, point: int, patch: pytest.MonkeyPatch) -> bool:
    """Have `lastro run` die while it rents; then one `lastro close` follows, of its or of a second home."""
    folder.mkdir()
    campaign = small_campaign(folder)
    patch.chdir(campaign.folder)
    patch.setenv("LASTRO_HOME", str(campaign.home))
    died = dies(point, lambda: main(["run", "--no-close"]), (*CALLS, *FILES, *SYNCS), below="rent")
    second = point % 2 == 0
    if second:
        patch.setenv("LASTRO_HOME", str(folder / "second"))
    closed = dies(10**6, lambda: _close(["close", *(["--take-over"] if second else [])]), ())
    assert not closed
    result = json.loads((campaign.disk / "campaigns/small/close/report.json").read_text())
    assert [one["state"] for one in result["machines"]] in ([], ["gone"]), point
    closer = folder / "second" if second else campaign.home
    ended = {one.id: one.state for one in Local(Home(closer), SystemClock()).machines()}
    assert set(ended.values()) <= {MachineState.GONE}, point
    # What a home that was lost has written down and never begun stays as it is there: it is no machine.
    made = {one.id for one in Local(Home(campaign.home), SystemClock()).machines()} | set(ended)
    wait_for(lambda: not made & {one.machine for one in Local(Home(closer), SystemClock()).traces()})
    return died


def _close(arguments: list[str]) -> None:
    """Close; that nothing can be decided is its answer, unless the run has come through."""
    try:
        main(arguments)
    except SystemExit as left:
        assert left.code in (0, NotProven.exit_code)


@pytest.mark.parametrize("point", [9, 16])
def test_lastro_run_is_killed_while_it_rents_and_one_close_leaves_no_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: int
) -> None:
    assert killed_while_renting(tmp_path / "it", point, monkeypatch)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_lastro_run_is_killed_at_every_step_of_renting_and_one_close_leaves_no_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = itertools.takewhile(
        lambda point: killed_while_renting(tmp_path / str(point), point, monkeypatch), itertools.count(1)
    )
    assert sum(1 for _point in points) >= 32
