"""Which part of a copy is whose, where several computers with disks of their own share one campaign.

Of each file one computer is the writer: that on which its attempt, or the run's last supervisor, was. What
another one tells of it is as old as its own disk, and is passed over.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from lastro import strictjson
from lastro.errors import LastroError
from lastro.paths import CampaignFolder, RunFolder
from lastro.records import dataclass

_OF_ATTEMPT = re.compile(r"(?P<run>.+)-(?P<number>[1-9][0-9]*)")
_OF_HOME = "home-"


class Share(Protocol):
    """What of a copy is one computer's.

    marker: where home keeps which disk that computer has.
    """

    @property
    def marker(self) -> Path: ...

    def is_its(self, campaign: CampaignFolder, name: str) -> bool:
        """Tell whether a file of a campaign is written there. `name`: below the campaign's folder."""
        ...

    def takes(self, campaign: CampaignFolder, told: Mapping[str, Any]) -> bool:
        """Tell whether a piece that it has sent is taken: its `path`, `offset` and `length`."""
        ...


@dataclass(frozen=True)
class Whole:
    """All of it: the copy is of this computer's disk alone."""

    marker: Path

    def is_its(self, campaign: CampaignFolder, name: str) -> bool:
        return True

    def takes(self, campaign: CampaignFolder, told: Mapping[str, Any]) -> bool:
        return True


@dataclass(frozen=True)
class Part:
    """The part of one of several computers.

    `place`: its address. `place_of`: returns the address of a machine; None where it is not known.
    """

    marker: Path
    place: str
    place_of: Callable[[str], str | None]

    def is_its(self, campaign: CampaignFolder, name: str) -> bool:
        return writer_of(campaign, name, self.place_of) in (None, self.place)

    def takes(self, campaign: CampaignFolder, told: Mapping[str, Any]) -> bool:
        name = str(told["path"])
        if name.startswith(f"journal/{_OF_HOME}"):  # each disk has a copy, and one may be behind
            known = campaign.root / name
            return not known.exists() or told["offset"] + told["length"] > known.stat().st_size
        return self.is_its(campaign, name)


def writer_of(campaign: CampaignFolder, name: str, place_of: Callable[[str], str | None]) -> str | None:
    """Return the place whose computer writes a file of a campaign; None: nobody is known to be the one."""
    parts = name.split("/")
    if parts[0] == "journal":
        found = _OF_ATTEMPT.fullmatch(Path(parts[-1]).stem)
        if found is None or name.startswith(f"journal/{_OF_HOME}"):
            return None
        return place_of_attempt(campaign.run(found["run"]), int(found["number"]), place_of)
    if parts[0] != "runs" or len(parts) < 3:
        return None
    run = campaign.run(parts[1])
    number = Path(parts[3]).stem if len(parts) > 3 else ""
    if parts[2] in ("attempts", "claims") and number.isdigit():
        return place_of_attempt(run, int(number), place_of)
    if parts[2] == "seats":
        return None  # whoever makes one first has made it
    return place_of_run(run, place_of)


def place_of_attempt(run: RunFolder, number: int, place_of: Callable[[str], str | None]) -> str | None:
    """Return where an attempt was carried out; None where that is not known."""
    machine = _machine_in(run.claim(number))
    return None if machine is None else place_of(machine)


def place_of_run(run: RunFolder, place_of: Callable[[str], str | None]) -> str | None:
    """Return where a run was supervised last; None where nobody has."""
    for number in sorted(_numbers(run.seats), reverse=True):
        machine = _machine_in(run.seat(number))
        place = None if machine is None else place_of(machine)
        if place is not None:  # else it was taken away by a home
            return place
    return None


def last_attempt(run: RunFolder) -> int:
    """Return the highest number that an attempt of a run has claimed; 0: none has."""
    return max(_numbers(run.claims), default=0)


def _numbers(folder: Path) -> list[int]:
    return [int(path.stem) for path in folder.glob("*.json") if path.stem.isdigit()]


def _machine_in(path: Path) -> str | None:
    with contextlib.suppress(OSError, LastroError, KeyError, TypeError):
        return str(strictjson.read(path)["machine"])
    return None
