"""Exclusivity on the disk: which process supervises a run, and which attempt may publish.

Both are numbered files made by an atomic link; the highest number counts. Locks of network disks are not
trusted, and a machine that was frozen finds a higher number when it thaws.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from lastro import atomic, strictjson
from lastro.clock import Clock, iso
from lastro.paths import RunFolder
from lastro.procs.identity import ProcessId, is_alive
from lastro.records import dataclass
from lastro.rules import Order


def highest(folder: Path) -> int:
    """Return the highest number in a folder of numbered files; 0 when there is none."""
    return max((int(path.stem) for path in _numbered(folder)), default=0)


def _numbered(folder: Path) -> Iterable[Path]:
    return (path for path in folder.glob("*.json") if path.stem.isdigit())


@dataclass(frozen=True)
class Seat:
    """The place of a run's one supervisor."""

    folder: RunFolder
    number: int

    def is_mine(self) -> bool:
        """Tell whether nobody has taken the place since: who does takes the next number."""
        return not os.path.exists(self._next)  # noqa: PTH110 - asked at every look

    @cached_property
    def _next(self) -> str:
        return os.fspath(self.folder.seat(self.number + 1))


def take_seat(folder: RunFolder, me: ProcessId, machine: str) -> Seat | None:
    """Become the supervisor of a run; None when a living process of this machine is it already.

    A holder on another machine is superseded: home has seen that machine go, or frozen.
    """
    atomic.make_folder(folder.seats)
    while True:
        number = highest(folder.seats)
        holder = read_seat(folder, number)
        if holder is not None and is_alive(holder):
            return None
        claim = {"supervisor": me.as_json(), "machine": machine}
        if atomic.claim(folder.seat(number + 1), strictjson.pretty(claim).encode()):
            return Seat(folder, number + 1)


def take_seat_away(folder: RunFolder, by: str) -> None:
    """Take a run's seat from whoever holds it, alive or not: who thaws finds the next number, and leaves.

    `by`: who decided that the holder's machine is lost, for people who read the disk.
    """
    atomic.make_folder(folder.seats)
    nobody = {"supervisor": ProcessId("", 0, 0).as_json(), "machine": by}
    while not atomic.claim(folder.seat(highest(folder.seats) + 1), strictjson.pretty(nobody).encode()):
        pass


def read_seat(folder: RunFolder, number: int | None = None) -> ProcessId | None:
    """Return who holds a seat (the highest by default); None when nobody ever did."""
    with contextlib.suppress(FileNotFoundError):
        facts = strictjson.read(folder.seat(highest(folder.seats) if number is None else number))
        return ProcessId.from_json(facts["supervisor"])
    return None


def read_seat_machine(folder: RunFolder) -> str | None:
    """Return the machine of the highest seat; None when nobody ever sat there."""
    with contextlib.suppress(FileNotFoundError):
        return str(strictjson.read(folder.seat(highest(folder.seats)))["machine"])
    return None


@dataclass(frozen=True)
class Claim:
    """The right to publish as attempt `number`."""

    number: int
    token: str


def claim_attempt(folder: RunFolder, order: Order, clock: Clock) -> Claim:
    """Claim the next attempt number of a run."""
    atomic.make_folder(folder.claims)
    while True:
        number = highest(folder.claims) + 1
        claim = Claim(number, secrets.token_hex(8))
        facts = {
            "number": number,
            "token": claim.token,
            "machine": order.machine,
            "node": order.node,
            "at": iso(clock.now()),
        }
        if atomic.claim(folder.claim(number), strictjson.pretty(facts).encode()):
            return claim


def read_claim(folder: RunFolder, number: int) -> Mapping[str, Any]:
    """Return the facts of one claim. Raises FileNotFoundError, StorageError."""
    facts: Mapping[str, Any] = strictjson.read(folder.claim(number))
    return facts
