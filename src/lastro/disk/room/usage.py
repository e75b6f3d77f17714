"""Who uses what on a disk, how it grows, when it will be full, and what packing would save."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from lastro import strictjson
from lastro.clock import Clock, from_iso, iso
from lastro.disk.guard.scan import Candidate, scan
from lastro.errors import StorageError
from lastro.paths import Disk
from lastro.records import dataclass
from lastro.units import Money

_BLOCK = 512
#: A file below this size takes longer to find and open than to read; packs hold many of them.
SMALL_BYTES = 1_000_000
#: So many small files in one folder and below are worth a pack.
MANY = 1000
#: What a pack adds for each file: a header of 512 bytes, and half a block of padding.
_PACKED_EXTRA = 512 + 256
#: Bytes of one shard of a pack.
_SHARD_BYTES = 256 * 2**20
#: Growth is told from samples that lie at least so far apart.
_LEAST_APART = timedelta(minutes=10)
_KEPT_SAMPLES = 500


@dataclass(frozen=True, kw_only=True)
class Part:
    """What one use of the disk takes. `bytes`: blocks that are really taken. `month`: None is unknown."""

    name: str
    files: int
    bytes: int
    newest_ns: int
    month: Money | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "files": self.files,
            "bytes": self.bytes,
            "month": self.month.as_json() if self.month else None,
        }


@dataclass(frozen=True, kw_only=True)
class Packable:
    """A folder of many small files. `saved`: bytes that a pack of them would take less, at least 0."""

    folder: str
    files: int
    bytes: int
    saved: int
    shards: int

    def as_json(self) -> dict[str, Any]:
        return vars(self)


@dataclass(frozen=True, kw_only=True)
class Sample:
    """How much was used at a moment."""

    at: datetime
    bytes: int


@dataclass(frozen=True, kw_only=True)
class Usage:
    """The use of a disk. `bytes_a_day` None: too few samples. `full_in`: None: unknown, or it does not grow.

    `planned`: what the plans of the campaigns on it want in all; None: none says so.
    """

    parts: tuple[Part, ...]
    packable: tuple[Packable, ...]
    used: int
    free: int
    bytes_a_day: float | None
    full_in: timedelta | None
    planned: int | None

    def as_json(self) -> dict[str, Any]:
        return {
            "parts": [part.as_json() for part in self.parts],
            "packable": [each.as_json() for each in self.packable],
            "used": self.used,
            "free": self.free,
            "bytes_a_day": self.bytes_a_day,
            "full_in_seconds": self.full_in.total_seconds() if self.full_in else None,
            "planned": self.planned,
        }


def usage_of(disk: Disk, clock: Clock, price: Money | None = None) -> Usage:
    """Look at every file of a disk, and keep a sample of the sum for the next time.

    Args:
        disk: a marked disk.
        clock: for the sample.
        price: of 1 GB for a month.

    Raises:
        OSError: the disk cannot be asked.
    """
    root = os.path.realpath(disk.root)
    files = scan(root, 0).candidates
    found = os.statvfs(root)
    used = sum(file.blocks * _BLOCK for file in files)
    now = Sample(at=clock.now(), bytes=used)
    samples = [*_samples(disk), now]
    _keep(disk, samples)
    rate = growth(samples)
    free = found.f_frsize * found.f_bavail
    return Usage(
        parts=tuple(parts_of(root, files, price)),
        packable=tuple(packable_in(root, files)),
        used=used,
        free=free,
        bytes_a_day=rate,
        full_in=full_in(free, rate),
        planned=_planned(disk),
    )


# --- parts ----------------------------------------------------------------------------------------------


def part_name(relative: str) -> str:
    """Return whose room a file takes, by its path on the disk. Pure."""
    parts = relative.split("/")
    if parts[0] == "cache" and len(parts) > 2:
        return f"cache/{parts[1]}"
    if parts[0] == "campaigns" and len(parts) > 5 and parts[2] == "runs":
        return f"campaigns/{parts[1]}/{parts[4]}"
    if parts[0] == "campaigns" and len(parts) > 2:
        return f"campaigns/{parts[1]}/{parts[2] if len(parts) > 3 else 'records'}"
    return parts[0] if len(parts) > 1 else "."


def parts_of(root: str, files: Sequence[Candidate], price: Money | None) -> list[Part]:
    """Return the parts of a disk, the largest first. Pure."""
    count: Counter[str] = Counter()
    total: Counter[str] = Counter()
    newest: dict[str, int] = {}
    for file in files:
        name = part_name(file.path[len(root) :].lstrip("/"))
        count[name] += 1
        total[name] += file.blocks * _BLOCK
        newest[name] = max(newest.get(name, 0), file.mtime_ns)
    return [
        Part(
            name=name,
            files=count[name],
            bytes=size,
            newest_ns=newest[name],
            month=None if price is None else price.times(Decimal(size) / 10**9),
        )
        for name, size in sorted(total.items(), key=lambda item: (-item[1], item[0]))
    ]


# --- small files ----------------------------------------------------------------------------------------


def packable_in(root: str, files: Iterable[Candidate]) -> list[Packable]:
    """Return the folders at the second level that hold many small files, with what a pack would save. Pure.

    Caches and campaigns are not named: their programs want the files as they are.
    """
    small: dict[str, list[Candidate]] = {}
    for file in files:
        parts = file.path[len(root) :].lstrip("/").split("/")
        if len(parts) > 1 and parts[0] not in ("cache", "campaigns", ".lastro") and file.size < SMALL_BYTES:
            small.setdefault("/".join(parts[: min(2, len(parts) - 1)]), []).append(file)
    found = []
    for folder, inside in small.items():
        if len(inside) >= MANY:
            size = sum(file.size for file in inside)
            taken = sum(file.blocks * _BLOCK for file in inside)
            packed = size + _PACKED_EXTRA * len(inside)
            found.append(
                Packable(
                    folder=folder,
                    files=len(inside),
                    bytes=taken,
                    saved=max(0, taken - packed),
                    shards=-(-packed // _SHARD_BYTES),
                )
            )
    return sorted(found, key=lambda each: -each.files)


# --- growth ---------------------------------------------------------------------------------------------


def growth(samples: Sequence[Sample]) -> float | None:
    """Return the bytes a day from the oldest sample of the last week to the last. Pure.

    None: there are no two samples far enough apart.
    """
    if not samples:
        return None
    last = samples[-1]
    week = [each for each in samples if last.at - each.at <= timedelta(days=7)]
    first = week[0]
    if last.at - first.at < _LEAST_APART:
        return None
    return (last.bytes - first.bytes) / ((last.at - first.at).total_seconds() / 86400)


def full_in(free: int, bytes_a_day: float | None) -> timedelta | None:
    """Return when a disk is full at this growth; None: unknown, or it does not grow. Pure."""
    if bytes_a_day is None or bytes_a_day <= 0:
        return None
    days = free / bytes_a_day
    return timedelta(days=days) if days < 36500 else None


def _samples(disk: Disk) -> list[Sample]:
    try:
        lines = disk.usage_samples.read_text().splitlines()
        told = [strictjson.loads(line) for line in lines]
        return [Sample(at=from_iso(each["at"]), bytes=int(each["bytes"])) for each in told]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _keep(disk: Disk, samples: Sequence[Sample]) -> None:
    lines = [
        strictjson.dumps({"at": iso(each.at), "bytes": each.bytes}) + "\n"
        for each in samples[-_KEPT_SAMPLES:]
    ]
    try:
        disk.usage_samples.write_text("".join(lines))
    except OSError:  # a full or read-only disk is looked at all the same
        return


def _planned(disk: Disk) -> int | None:
    """Return what the frozen plans on a disk want it to hold in all; None where none says so."""
    wanted = []
    for path in sorted(disk.root.glob("campaigns/*/plan.json")):
        try:
            need = strictjson.read(Path(path)).get("disk_need") or {}
            wanted.append(need.get("needed"))
        except (OSError, StorageError, AttributeError):
            continue
    known = [int(each) for each in wanted if each is not None]
    return sum(known) if known else None
