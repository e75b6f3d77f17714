"""Use and pruning of a disk at a person's request."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from lastro.clock import Clock
from lastro.disk.room.prune import Action, Choice, carry_out, choose, things_on
from lastro.disk.room.usage import Usage, usage_of
from lastro.flow.caches_by_hand import disk_or_last
from lastro.paths import Disk, Home
from lastro.providers.local_disks import LocalDisks
from lastro.records import dataclass
from lastro.units import Money


@dataclass(frozen=True, kw_only=True)
class Pruned:
    """What was chosen, and whether it was done. `problems`: what could not be."""

    choices: tuple[Choice, ...]
    applied: bool
    problems: tuple[str, ...]

    @property
    def freed(self) -> int:
        """The bytes of everything that goes; an archive takes some of them again."""
        return sum(each.thing.bytes for each in self.choices if each.action is Action.REMOVE)

    def as_json(self) -> dict[str, Any]:
        return {
            "choices": [each.as_json() for each in self.choices],
            "applied": self.applied,
            "freed": self.freed,
            "problems": list(self.problems),
        }


def usage_by_hand(disk: Path | None, price: Money | None, home: Home, clock: Clock) -> Usage:
    """Return the use of a disk. Raises UsageError, StorageError, OSError."""
    found = disk_or_last(disk, home, clock)
    return usage_of(found, clock, _price(found, home, clock) if price is None else price)


def _price(disk: Disk, home: Home, clock: Clock) -> Money | None:
    """Return the price of a disk that lastro has made; None: it is unknown."""
    place = os.path.realpath(disk.root)
    for rented in LocalDisks(home, clock).disks():
        if os.path.realpath(rented.path) == place:
            return rented.request.price
    return None


def prune_by_hand(disk: Path | None, home: Home, clock: Clock, *, apply: bool, archive: bool) -> Pruned:
    """Choose what goes from a disk, and let it go if asked to. Raises UsageError, StorageError."""
    found = disk_or_last(disk, home, clock)
    choices = [choose(thing, archive_closed=archive) for thing in things_on(found, clock, home)]
    problems = carry_out(choices, found) if apply else []
    return Pruned(choices=tuple(choices), applied=apply, problems=tuple(problems))
