"""`disk.json`: the disk's uuid and every machine that has seen it, which is the proof of persistence."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from lastro import atomic, strictjson
from lastro.clock import Clock, SystemClock, from_iso, iso
from lastro.errors import StorageError
from lastro.locale import _
from lastro.paths import Disk
from lastro.records import dataclass

#: A sighting by the same machine is written again when it is so many seconds older, not at every look.
_SEEN_AGAIN_SECONDS = 60.0


@dataclass(frozen=True, kw_only=True)
class Sighting:
    """A machine that has seen the disk. What could not be asked is empty.

    `machine_id`: digest of /etc/machine-id. `boot_id`: of the kernel. `instance`: what the provider calls the
    machine. `root_device`, `source`, `fs_type`: of the machine's root, and of the disk there. `on_root`: the
    disk lies on the machine's own storage. `rehearsal`: a machine of the local provider, a process of a box.
    """

    node: str = ""
    machine_id: str = ""
    boot_id: str = ""
    instance: str = ""
    root_device: str = ""
    source: str = ""
    fs_type: str = ""
    on_root: bool = False
    rehearsal: bool = False
    first: str = ""
    last: str = ""

    def is_another_machine(self, other: Sighting) -> bool:
        """Tell whether two sightings are certainly of two machines. Pure.

        The provider's ids decide where both are known. Else machine id, boot and root device all have to
        differ, because machines of one image share the first. What is unknown proves nothing.
        """
        if self.instance and other.instance:
            return self.instance != other.instance
        pairs = (
            (self.machine_id, other.machine_id),
            (self.boot_id, other.boot_id),
            (self.root_device, other.root_device),
        )
        return all(mine and theirs and mine != theirs for mine, theirs in pairs)

    def is_same_place(self, other: Sighting) -> bool:
        """Tell whether this is the same machine in the same boot, seeing the disk at the same source."""
        mine, theirs = (replace(each, first="", last="") for each in (self, other))
        return mine == theirs


@dataclass(frozen=True, kw_only=True)
class DiskFacts:
    """What a disk says of itself.

    `declared`: who has said that it outlives machines; None: nobody. `sightings`: oldest first.
    """

    uuid: str
    created: str | None = None
    declared: str | None = None
    sightings: tuple[Sighting, ...] = ()

    @property
    def nodes(self) -> tuple[str, ...]:
        """The machines that have seen it, oldest first."""
        return tuple(dict.fromkeys(each.node for each in self.sightings))

    def as_json(self) -> dict[str, Any]:
        return {
            "uuid": self.uuid,
            "created": self.created,
            "declared": self.declared,
            "sightings": [asdict(each) for each in self.sightings],
        }


def open_disk(disk: Disk, *, declared: str | None = None, clock: Clock | None = None) -> DiskFacts:
    """Return the facts of a disk; an unmarked folder becomes one, durably and once.

    Args:
        disk: where it lies.
        declared: who says that it outlives machines; it is kept when nobody has said so before.
        clock: for the day on which it was made.

    Raises:
        StorageError: the folder cannot be made or written, or its marker cannot be read.
    """
    try:
        atomic.make_folder(disk.facts.parent)
        if not disk.facts.exists():
            made = DiskFacts(
                uuid=str(uuid.uuid4()), created=iso((clock or SystemClock()).now()), declared=declared
            )
            atomic.claim(disk.facts, strictjson.pretty(made.as_json()).encode())
        facts = read_disk(disk)
        if declared is not None and facts.declared is None:
            facts = replace(facts, declared=declared)
            _write(disk, facts)
    except OSError as error:
        raise StorageError(
            _("the disk {path} cannot be used: {error}").format(path=disk.root, error=error.strerror),
            hint=_("create or mount it, or name another with --disk"),
        ) from error
    return facts


def read_disk(disk: Disk) -> DiskFacts:
    """Return the facts of a marked disk. Raises FileNotFoundError, StorageError."""
    value = strictjson.read(disk.facts)
    try:
        return DiskFacts(
            uuid=str(value["uuid"]),
            created=value.get("created"),
            declared=value.get("declared"),
            sightings=_sightings(value),
        )
    except (AttributeError, KeyError, TypeError) as error:
        raise StorageError(
            _("{path} does not say which disk this is").format(path=disk.facts),
            hint=_("it was changed by something else; restore it from a copy"),
        ) from error


def _sightings(value: Mapping[str, Any]) -> tuple[Sighting, ...]:
    """Read the sightings; earlier versions kept the names of machines only."""
    if "sightings" in value:
        return tuple(Sighting(**each) for each in value["sightings"])
    return tuple(Sighting(node=node) for node in value["nodes"])


def seen_by(disk: Disk, sighting: Sighting, clock: Clock) -> DiskFacts:
    """Record that a machine has seen the disk now; return the facts with it. Raises OSError, StorageError."""
    facts, now = read_disk(disk), iso(clock.now())
    known = next((each for each in facts.sightings if each.is_same_place(sighting)), None)
    if known is not None and _seconds_between(known.last, now) < _SEEN_AGAIN_SECONDS:
        return facts
    others = tuple(each for each in facts.sightings if each is not known)
    first = known.first if known is not None else now
    seen = replace(facts, sightings=(*others, replace(sighting, first=first, last=now)))
    _write(disk, seen)
    return seen


def _seconds_between(then: str, now: str) -> float:
    return (from_iso(now) - from_iso(then)).total_seconds()


def _write(disk: Disk, facts: DiskFacts) -> None:
    atomic.write_text(disk.facts, strictjson.pretty(facts.as_json()))


def other_disk(disk: Disk, uuid: str) -> str | None:
    """Return why a disk is not the one of that uuid: gone, unmarked or another one; None when it is."""
    try:
        found = read_disk(disk).uuid
    except FileNotFoundError:
        return _("{path} has no mark of a disk: it is not attached, or was emptied").format(path=disk.root)
    except (OSError, StorageError, KeyError, TypeError) as error:
        return _("the mark of the disk {path} cannot be read: {error}").format(path=disk.root, error=error)
    if found != uuid:
        return _("{path} is another disk ({found}) than the one of this campaign ({wanted})").format(
            path=disk.root, found=found[:8], wanted=uuid[:8]
        )
    return None
