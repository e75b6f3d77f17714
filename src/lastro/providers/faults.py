"""Scripted faults: which have fired, and when the next one is due. Used by rehearsals and examples only.

A fault belongs to a campaign on a disk, not to a machine: it fires once, whatever machines come and go.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from lastro import atomic, strictjson
from lastro.clock import Clock, iso
from lastro.disk.facts import read_disk
from lastro.errors import CapacityRefused, StorageError
from lastro.journal.signals import read_beat
from lastro.locale import _
from lastro.paths import AttemptFolder, Disk, Home, RunFolder
from lastro.providers.base import Fault, MachineRequest

#: Seconds of a boot that never ends: some thirty years.
NEVER = 1e9
#: Seconds between two searches for new attempts; the heartbeats of the known ones are read at every look.
_FIND_EVERY = 0.5


def fault_key(disk: Path, campaign: str) -> str:
    """Return the name under which a campaign's fired faults are kept.

    A disk that was removed and made again under its old path is another disk, so its uuid decides where it
    has one.
    """
    try:
        name = read_disk(Disk(disk)).uuid
    except (OSError, StorageError, KeyError):
        name = str(disk.absolute())
    return hashlib.sha256(f"{name}\0{campaign}".encode()).hexdigest()[:16]


def fired(home: Home, disk: Path, campaign: str) -> frozenset[str]:
    """Return the keys of the faults that have fired."""
    folder = home.fired_faults(fault_key(disk, campaign))
    if not folder.is_dir():
        return frozenset()
    return frozenset(path.stem for path in folder.glob("*.json") if not path.stem.startswith("."))


def befalls(
    home: Home, request: MachineRequest, made: Sequence[MachineRequest], clock: Clock
) -> Fault | None:
    """Return what the script lets befall a machine that is asked for now, once; None: nothing.

    Args:
        home: which keeps what has fired.
        request: for the machine.
        made: what was asked for each machine that this campaign on this disk has had before.
        clock: for the claim.

    Raises:
        CapacityRefused: it is scripted that this one is not to be had.
    """
    folder = home.fired_faults(fault_key(request.disk, request.campaign))
    records = [strictjson.read(path) for path in folder.glob("*.json")] if folder.is_dir() else []
    gone = fired(home, request.disk, request.campaign)
    offer = _offer(request)
    refused = [one.get("of") for one in records if "create" in one]
    number = len(made) + len(refused) + 1
    of_offer = sum(_offer(one) == offer for one in made) + refused.count(offer) + 1
    for fault in request.faults:
        if fault.create is None or fault.offer not in (None, offer):
            continue
        path = home.fired_fault(fault_key(request.disk, request.campaign), fault.key)
        if fault.key in gone:
            if _read(path, "tag") == request.tag:
                return fault  # a kill came between its claim and the machine's record
            continue
        if fault.create != (number if fault.offer is None else of_offer):
            continue
        refuses = not fault.never_up and fault.finding is None
        facts = {"index": fault.index, "of": offer, "at": iso(clock.now())}
        facts |= {"create": number} if refuses else {"tag": request.tag}
        atomic.make_folder(path.parent)
        if not atomic.claim(path, strictjson.pretty(facts).encode()):
            continue
        if refuses:
            text = _("no machine is to be had: the script refuses number {number}").format(number=number)
            if fault.offer is not None:
                text = _("no machine of {offer} is to be had: the script refuses number {number}").format(
                    offer=fault.offer, number=of_offer
                )
            raise CapacityRefused(text)
        return fault
    return None


def _offer(request: MachineRequest) -> str | None:
    return request.lease.offer if request.lease is not None else None


class FaultWatch:
    """Watches the heartbeats of the runs on one machine for the faults that have not fired yet."""

    def __init__(
        self,
        home: Home,
        machine_id: str,
        disk: Path,
        campaign: str,
        faults: Sequence[Fault],
        clock: Clock,
    ) -> None:
        self._home, self._machine, self._disk, self._campaign = home, machine_id, disk, campaign
        self._clock = clock
        gone = fired(home, disk, campaign)
        self.waiting = [fault for fault in faults if fault.create is None and fault.key not in gone]
        self._find_again_at = clock.monotonic()
        self._newest: dict[str, Path] = {}
        self._names: dict[str, str] = {}
        self._machines: dict[Path, str] = {}

    def look(self) -> Fault | None:
        """Return a fault that is due on this machine, after claiming it for good; None when none is."""
        if not self.waiting:
            return None
        now = self._clock.monotonic()
        if now >= self._find_again_at:
            self._find_again_at = now + _FIND_EVERY
            self._newest = self._find({fault.run for fault in self.waiting})
        beats = {name: read_beat(path) for name, path in self._newest.items()}
        for fault in list(self.waiting):
            beat = beats.get(fault.run)
            if beat is None or beat.step < fault.step:
                continue
            self.waiting.remove(fault)
            if self._claim(fault, beat.step):
                return fault
        return None

    def _claim(self, fault: Fault, step: int) -> bool:
        path = self._home.fired_fault(fault_key(self._disk, self._campaign), fault.key)
        atomic.make_folder(path.parent)
        facts = {
            "index": fault.index,
            "run": fault.run,
            "step": fault.step,
            "notice_seconds": fault.notice_seconds,
            "machine": self._machine,
            "observed_step": step,
            "at": iso(self._clock.now()),
        }
        return atomic.claim(path, strictjson.pretty(facts).encode())

    def _find(self, wanted: set[str]) -> dict[str, Path]:
        """Return the heartbeat of each wanted run whose newest attempt is on this machine, by its name."""
        runs = Disk(self._disk).campaign(self._campaign).runs
        found = {}
        for root in runs.iterdir() if runs.is_dir() else ():
            run = RunFolder(root)
            name = self._name(run)
            attempt = _newest(run) if name in wanted else None
            if attempt is not None and self._machine_of(attempt) == self._machine:
                found[name] = attempt.heartbeat
        return found

    def _name(self, run: RunFolder) -> str:
        """Return a run's name: key `name` of its config.json, which never changes once it is there."""
        known = self._names.get(run.root.name)
        if known is None:
            known = str(_read(run.config, "name") or "")
            if known:
                self._names[run.root.name] = known
        return known

    def _machine_of(self, attempt: AttemptFolder) -> str:
        known = self._machines.get(attempt.root)
        if known is None:
            order = _read(attempt.attempt, "order")
            known = str(order.get("machine", "")) if isinstance(order, dict) else ""
            if known:
                self._machines[attempt.root] = known
        return known


def _newest(run: RunFolder) -> AttemptFolder | None:
    try:
        numbers = [int(path.name) for path in run.attempts.iterdir() if path.name.isdigit()]
    except FileNotFoundError:
        return None
    return run.attempt(max(numbers)) if numbers else None


def _read(path: Path, key: str) -> object:
    """Return one key of a record; None while it is not there or not readable: the next look will tell."""
    try:
        value = strictjson.read(path)
    except (OSError, StorageError):
        return None
    return value.get(key) if isinstance(value, dict) else None
