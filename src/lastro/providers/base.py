"""The contract of a provider, and the values that cross it.

A provider is named by its traits, not by checks on its name. Every verb may be called again after a crash:
`create` with the same tag finds the machine that was made before, `delete` of a gone machine is fine.
"Could not ask" is `ProviderError` or `MachineState.UNKNOWN`, never `GONE`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, field, replace
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from lastro import strictjson
from lastro.billing import Lease
from lastro.clock import Stamp
from lastro.paths import CampaignFolder, RunFolder
from lastro.procs.identity import ProcessId
from lastro.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Traits:
    """What a provider is like.

    creates: lastro makes and deletes its machines. False for `here`, where nothing is created or wiped.
    own_workdir: the code is unpacked on the machine. False where it runs in the user's own folder.
    takes_faults: scripted faults can be executed (rehearsals).
    ends_itself: what runs on a machine can ask it to end (`providers.environment.RELEASE`), home or no home.
    far: it is another computer, with a disk of its own, which is reached through a `Link`. It may be away for
    a while, and goes on meanwhile.
    allotted: it is another computer, which a queue has allotted and which sees the same disk as this one.
    takes_offers: its machines go by the offer that is asked for. False where every offer is the same machine.
    takes_places: they are had at the place that an offer names, such as a partition of a cluster.
    """

    creates: bool
    own_workdir: bool
    takes_faults: bool
    ends_itself: bool = False
    far: bool = False
    allotted: bool = False
    takes_offers: bool = False
    takes_places: bool = False


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A scripted loss of a machine: when the run named `run` is seen at `step` or later.

    notice_seconds None: killed without notice. Each fault fires once in a campaign. `index` is its position
    in the faults file, `occurrence` its number among those that say the same. With `create` it is no loss but
    a refusal: that one of the campaign's machines on its disk, counted from 1 and refusals with them, is
    not to be had. With `silent` the machine stays, and everything on it is frozen: nobody hears of it again.
    With `offer` machines of that offer alone are counted. With `never_up` or `finding` that machine is had,
    and never boots; or preflight finds this code on it.
    """

    index: int
    occurrence: int = 0
    run: str = ""
    step: int = 0
    notice_seconds: float | None = None
    create: int | None = None
    silent: bool = False
    offer: str | None = None
    never_up: bool = False
    finding: str | None = None

    @property
    def key(self) -> str:
        """What the fault is known by once it has fired: what it says, not its place in a file."""
        notice = None if self.notice_seconds is None else float(self.notice_seconds)
        more: list[str] = ["silent"] if self.silent else []
        more += ["never up"] if self.never_up else []
        more += [
            f"{what}={said}" for what, said in (("offer", self.offer), ("finding", self.finding)) if said
        ]
        told = strictjson.dumps([self.run, self.step, notice, self.create, self.occurrence, *more])
        return hashlib.sha256(told.encode()).hexdigest()[:16]


def numbered(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """Return a script with the occurrences counted. Pure."""
    seen: dict[str, int] = {}
    told = []
    for fault in faults:
        said = replace(fault, index=0, occurrence=0).key
        told.append(replace(fault, occurrence=seen.setdefault(said, 0)))
        seen[said] += 1
    return tuple(told)


class MachineState(str, Enum):
    """The state that the provider reports."""

    BOOTING = "booting"
    RUNNING = "running"
    LEAVING = "leaving"  # it has announced that it will be taken away
    GONE = "gone"
    UNKNOWN = "unknown"  # could not be asked; may still bill


@dataclass(frozen=True, kw_only=True)
class MachineRequest:
    """What is asked for. `tag` is unique to this intent and survives a crash of home.

    `disk` is attached at creation and outlives the machine. `workdir` is the campaign's own folder, for
    providers without a workdir of their own. `unattended_seconds`: a machine that can end itself does so when
    nothing runs on it and home was silent for so long; None: it waits for ever. `sbatch`: options of the
    cluster's queue, for providers that have one. `place`: which of several places, for providers that have
    them.
    """

    tag: str
    campaign: str
    disk: Path
    lease: Lease | None
    boot_seconds: float = 0.0
    faults: Sequence[Fault] = ()
    workdir: Path | None = None
    unattended_seconds: float | None = None
    sbatch: Mapping[str, str] = field(default_factory=dict)
    place: str | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "tag": self.tag,
            "campaign": self.campaign,
            "disk": str(self.disk),
            "lease": self.lease.as_json() if self.lease else None,
            "boot_seconds": self.boot_seconds,
            "faults": [asdict(fault) for fault in self.faults],
            "workdir": str(self.workdir) if self.workdir else None,
            "unattended_seconds": self.unattended_seconds,
            "sbatch": dict(self.sbatch),
            "place": self.place,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> MachineRequest:
        """Read what `as_json` wrote."""
        return cls(
            tag=value["tag"],
            campaign=value["campaign"],
            disk=Path(value["disk"]),
            lease=Lease.from_json(value["lease"]) if value["lease"] else None,
            boot_seconds=value["boot_seconds"],
            faults=tuple(Fault(**fault) for fault in value["faults"]),
            workdir=Path(value["workdir"]) if value["workdir"] else None,
            unattended_seconds=value.get("unattended_seconds"),  # earlier versions did not ask for it
            sbatch=value.get("sbatch", {}),
            place=value.get("place"),
        )


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A machine as its provider tells it. Times are the provider's own clock.

    `born`, `used_seconds`: its creation, and its use until its end or now, by a clock that is not set; None
    is unknown. `node` survives renaming: a bad box is recognised when it comes back. `cause` says why it is
    gone. `level`: how far it is kept apart from the box that it runs on, where a provider has levels of that;
    `level_why`: why that is less than what was asked for. `disk`: where the campaign's disk lies on it; None:
    where it lies here. `queued`: why it waits for its turn, and uses nothing yet; None: it does not wait.
    `finding`: the code of what a script wants preflight to find on it, in rehearsals.
    """

    id: str
    node: str
    tag: str
    state: MachineState
    workdir: Path
    created_at: datetime
    born: Stamp | None = None
    used_seconds: float | None = field(default=None, compare=False, repr=False)  # it grows
    ready_at: datetime | None = None
    gone_at: datetime | None = None
    cause: str | None = None
    level: str | None = None
    level_why: str | None = None
    disk: Path | None = None
    queued: str | None = None
    finding: str | None = None


@dataclass(frozen=True, kw_only=True)
class Made:
    """A machine that another home has asked for, as the campaign's journal tells it.

    `id`, `node`, `born` None: it was intended, and that it was made is not known. `home`: the id of the home
    that asked for it; `host`: the name of the computer on which that home lies.
    """

    home: str
    host: str | None
    id: str | None
    node: str | None
    born: Stamp | None
    request: MachineRequest


@dataclass(frozen=True, kw_only=True)
class Trace:
    """Something that is alive and bears the mark of a machine. `what`: how it is found by hand."""

    machine: str
    what: str


@runtime_checkable
class Adopts(Protocol):
    """A provider that tells what is there, whichever home has made it, and can take it over."""

    def adopt(self, made: Made) -> Machine:
        """Know a machine of another home from now on as if this home had made it, and return it.

        Where it cannot be asked from here it is UNKNOWN, with its cause, and nothing is kept of it.

        Raises ProviderError when nobody answers.
        """
        ...

    def traces(self) -> list[Trace]:
        """Return what is alive there with lastro's mark, also what no home knows any more.

        Raises ProviderError when nobody answers.
        """
        ...


@runtime_checkable
class Forgets(Protocol):
    """A provider that cannot always tell that a machine is gone: a person can, who sees its page."""

    def forget(self, machine_id: str, cause: str) -> None:
        """Write down the end of a machine that nobody answers for any more."""
        ...


@dataclass(frozen=True, kw_only=True)
class Copy:
    """A checkpoint that was copied here, every byte of it read again. `seconds`: from beginning to end."""

    run: str
    name: str
    bytes: int
    seconds: float


class Link(Protocol):
    """The way to disks on other computers, of which the part that home needs is copied here.

    trouble: why nobody answers there now; None when somebody does.
    """

    @property
    def trouble(self) -> str | None: ...

    def proof(self, machine: str) -> Mapping[str, Any]:
        """Return what a machine says of its disk: state, why, fs_type, source, on_root, troubles."""
        ...

    def uuid(self, machine: str) -> str:
        """Return the id of the disk that a machine has."""
        ...

    def exchange(
        self,
        campaign: CampaignFolder,
        mine: str,
        processes: Collection[ProcessId],
        *,
        now: bool = False,
        reading: bool = False,
    ) -> None:
        """Bring there what home wrote and here what was written there; who is away is asked again later.

        `reading`: bring here only; nothing is written there.
        """
        ...

    def alive(self, process: ProcessId) -> bool | None:
        """Return whether a process there lives; None while nobody has asked for it."""
        ...

    def carry(self, paths: Sequence[Path], machine: str) -> None:
        """Bring large files to the disk of a machine, whole. Raises ProviderError, StorageError."""
        ...

    def bring(self, run: RunFolder, machine: str) -> None:
        """Bring to the disk of a machine what a run goes on from that worked elsewhere. Raises as `carry`."""
        ...

    def arrived(self) -> Sequence[Copy]:
        """Return the checkpoints that were copied here since this was asked last."""
        ...

    def rescue(self, machine: str, seconds: float) -> Mapping[str, Any]:
        """Have what of value was made on a machine lately, beside its disk, copied to that disk.

        Returns:
            looked: whether anything lies apart from the disk; files, bytes, folder, what: that were copied,
            and where; left: `path` and `problem` of what could not be.

        Args:
            machine: its id.
            seconds: what is older than this was there before.

        Raises: as `carry`.
        """
        ...

    def fetch(self, campaign: CampaignFolder) -> None:
        """Bring here what runs have delivered, whole. Raises ProviderError, StorageError."""
        ...

    def place(self, path: Path) -> str:
        """Return where a path of the copy lies there, as a person would write it."""
        ...

    def unlike(self, files: Sequence[tuple[Path, int, str]]) -> str | None:
        """Have files read there: (path here, bytes, SHA-256); say which is another one, None when none is."""
        ...

    def close(self) -> None:
        """Hang up."""
        ...


class Provider(Protocol):
    """Where machines come from. `places`: the addresses of one that is several computers, else empty."""

    name: str
    traits: Traits
    places: tuple[str, ...]

    def create(self, request: MachineRequest) -> Machine:
        """Make a machine, or return the one that this tag has made before. Does not wait for its boot.

        Raises CapacityRefused when there is none to be had now: then nothing was made.
        """
        ...

    def describe(self, machine_id: str) -> Machine:
        """Return one machine; also a gone one, with its end. Unknown ids raise ProviderError."""
        ...

    def machines(self) -> list[Machine]:
        """Return all machines that this home has here, gone ones too."""
        ...

    def start(self, machine_id: str, argv: Sequence[str]) -> None:
        """Start a process on the machine, detached: it outlives this call, the connection and home.

        It finds LASTRO_MACHINE and LASTRO_NODE in its environment, and this interpreter as `python`. Its
        working folder holds no code of the user, whose modules would cover those that `python -m` looks for.

        Raises ProviderError when the machine is not running.
        """
        ...

    def delete(self, machine_id: str) -> None:
        """End the machine: nothing of it stays alive, its scratch is wiped. Returns when it is gone."""
        ...

    def fired(self, campaign_disk: Path, campaign: str) -> frozenset[str]:
        """Return the keys of the scripted faults that have fired; empty where faults are not taken."""
        ...
