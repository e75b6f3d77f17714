"""Looks at a path, marks it for the next machine, and says how well it is known that it outlives this one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lastro.clock import Clock
from lastro.disk.conventions import convention_of
from lastro.disk.expected import expect, expected_at
from lastro.disk.facts import DiskFacts, Sighting, open_disk, read_disk, seen_by
from lastro.disk.mounts import mount_of, promised_points, read_mounts
from lastro.disk.probes import Probe, probe_disk
from lastro.disk.sighting import sighting_of
from lastro.disk.verdict import Expected, Seen, State, Verdict, judge
from lastro.errors import NotProven, StorageError, UsageError
from lastro.locale import _
from lastro.paths import Disk, Home
from lastro.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Who:
    """Who looks. See `sighting.sighting_of`."""

    node: str = ""
    instance: str | None = None
    own: Path | None = None
    environment: Mapping[str, str] | None = None


_NOBODY = Who()


@dataclass(frozen=True, kw_only=True)
class Proof:
    """What was found at a path. `me`: this machine's sighting. `unmarked`: why it could not be marked."""

    path: str
    me: Sighting
    verdict: Verdict
    uuid: str | None
    probes: tuple[Probe, ...]
    unmarked: str | None = None

    @property
    def exit_code(self) -> int:
        """0 proven or declared; 8 the wrong place, or it cannot be used; 11 unknown."""
        if self.verdict.troubles or self.unmarked:
            return StorageError.exit_code
        return NotProven.exit_code if self.verdict.state is State.UNKNOWN else 0

    def as_json(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "disk": self.uuid,
            **self.verdict.as_json(),
            "unmarked": self.unmarked,
            "probes": [each.as_json() for each in self.probes],
            "exit_code": self.exit_code,
        }


def prove(
    path: Path,
    home: Home,
    clock: Clock,
    who: Who = _NOBODY,
    *,
    declared: str | None = None,
    expect_uuid: str | None = None,
    planned: int | None = None,
    probing: bool = True,
) -> Proof:
    """Say how well it is known that a folder outlives this machine, and mark it so that another can prove it.

    A wrong place is not marked: what lies there is left as it is. Nothing is ever formatted.

    Args:
        path: an existing folder.
        home: remembers which disk was at which path.
        clock: for the days of the mark.
        who: this machine.
        declared: who says that it outlives machines, for the mark.
        expect_uuid: which disk has to be there; None: the one that was there last, if any.
        planned: bytes that the plan wants to put there.
        probing: try out what the file system does.

    Raises:
        UsageError: there is no such folder.
        StorageError: its mark cannot be read.
    """
    if not path.is_dir():
        what = _("is a file") if path.exists() else _("is not there")
        raise UsageError(
            _("{path} {what}; a disk is a folder").format(path=path, what=what),
            hint=_("mount the disk, and name the folder where it is mounted"),
        )
    seen = look(path, home, who, expect_uuid=expect_uuid)
    unmarked = None
    if not judge(seen).troubles:
        try:
            facts = _mark(path, seen, clock, declared)
            seen = look(path, home, who, facts=facts)
            _remember(home, path, seen, facts)
        except (OSError, StorageError) as error:
            unmarked = error.message if isinstance(error, StorageError) else str(error.strerror or error)
    usable = probing and not judge(seen).troubles
    return Proof(
        path=seen.path,
        me=seen.me,
        verdict=judge(seen),
        uuid=seen.facts.uuid if seen.facts else None,
        probes=probe_disk(path, planned) if usable else (),
        unmarked=unmarked,
    )


def look(
    path: Path, home: Home, who: Who, *, expect_uuid: str | None = None, facts: DiskFacts | None = None
) -> Seen:
    """Return what is at a path now; writes nothing. Raises StorageError when its mark cannot be read."""
    place = os.path.realpath(path)
    mounts = read_mounts()
    mount = mount_of(place, mounts)
    expected = expected_at(home, path)
    if expect_uuid is not None:
        told = expected if expected is not None and expected.uuid == expect_uuid else None
        expected = told or Expected(
            uuid=expect_uuid,
            point=mount.point if mount else "",
            source=mount.source if mount else "",
            fs_type=mount.fs_type if mount else "",
        )
    mounted = {each.point for each in mounts}
    missing = [point for point in promised_points() if point not in mounted and point != "/"]
    return Seen(
        path=place,
        mount=mount,
        facts=facts or _facts(Disk(path)),
        me=sighting_of(path, node=who.node, instance=who.instance, own=who.own, environment=who.environment),
        convention=convention_of(place, os.environ if who.environment is None else who.environment),
        expected=expected if facts is None else None,
        promised=next((point for point in missing if Path(place).is_relative_to(point)), None),
        is_empty=not any(os.scandir(path)),
    )


def _facts(disk: Disk) -> DiskFacts | None:
    try:
        return read_disk(disk)
    except FileNotFoundError:
        return None


def _mark(path: Path, seen: Seen, clock: Clock, declared: str | None) -> DiskFacts:
    disk = Disk(path)
    open_disk(disk, declared=declared, clock=clock)
    return seen_by(disk, seen.me, clock)


def _remember(home: Home, path: Path, seen: Seen, facts: DiskFacts) -> None:
    mount = seen.mount
    expect(
        home,
        path,
        Expected(
            uuid=facts.uuid,
            point=mount.point if mount else "",
            source=mount.source if mount else "",
            fs_type=mount.fs_type if mount else "",
        ),
    )
