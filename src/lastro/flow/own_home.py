"""A home of its own for what must never mix with the real one; its machines end with it."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from lastro import atomic
from lastro.clock import Clock
from lastro.paths import Home
from lastro.providers.local import Local


def key_of(campaign: str, folder: Path) -> str:
    """Return the name of what is kept apart for a campaign of this folder."""
    return f"{campaign}-{hashlib.sha256(os.fsencode(folder)).hexdigest()[:8]}"


def end_machines(home: Home, clock: Clock) -> None:
    """End every local machine of a home. Returns when they are gone."""
    local = Local(home, clock)
    for machine in local.machines():
        local.delete(machine.id)


@contextlib.contextmanager
def own_home(place: Path, clock: Clock) -> Iterator[Home]:
    """Give an empty home; what an earlier call has left is ended and removed, and no machine stays."""
    own = Home(place)
    end_machines(own, clock)
    if place.exists():
        atomic.remove_tree(place)
    try:
        yield own
    finally:
        end_machines(own, clock)
