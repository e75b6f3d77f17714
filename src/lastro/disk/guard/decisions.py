"""What a person has let go of, with the reason: kept by home, for as long as the file does not change."""

from __future__ import annotations

from collections.abc import Sequence

from lastro import atomic, strictjson
from lastro.clock import Clock, iso
from lastro.disk.guard.find import Item, spelled
from lastro.errors import StorageError
from lastro.paths import Home


def let_go_of(home: Home, machine: str) -> frozenset[str]:
    """Return the keys of what was let go on a machine. A record that cannot be read lets nothing go."""
    try:
        return frozenset(str(each["key"]) for each in strictjson.read(home.let_go(machine)))
    except (OSError, StorageError, KeyError, TypeError):
        return frozenset()


def let_go(home: Home, machine: str, items: Sequence[Item], why: str, clock: Clock) -> None:
    """Record that a person lets these items go. Raises OSError."""
    record = home.let_go(machine)
    try:
        told = list(strictjson.read(record))
    except (OSError, StorageError, TypeError):
        told = []
    now = iso(clock.now())
    told += [{"key": spelled(item.key), "path": spelled(item.path), "why": why, "at": now} for item in items]
    atomic.make_folder(record.parent)
    atomic.write_text(record, strictjson.pretty(told))
