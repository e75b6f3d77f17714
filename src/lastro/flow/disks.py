"""Rented disks at a person's request: made, listed with their cost, deleted only when nothing is lost."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lastro.clock import Clock
from lastro.disk.guard.find import Item, Scope, find, spelled
from lastro.disk.guard.scan import scan
from lastro.errors import GuardRefused, ProviderError
from lastro.locale import _
from lastro.paths import Disk, Home
from lastro.providers.disks import DiskRequest, RentedDisk
from lastro.providers.here import host_node
from lastro.providers.local_disks import LocalDisks
from lastro.records import dataclass
from lastro.units import Money, show_bytes

_NAMED = 3


def disks_of(provider: str, home: Home, clock: Clock) -> LocalDisks:
    """Return where disks come from. Raises ProviderError for a provider of which lastro can make none."""
    if provider != LocalDisks.name:
        raise ProviderError(
            _("lastro cannot make disks of {provider} yet").format(provider=provider),
            hint=_("make it on the provider's page, mount it, and mark it with `lastro disk prove`"),
        )
    return LocalDisks(home, clock)


@dataclass(frozen=True, kw_only=True)
class DiskRow:
    """A disk with what lies on it. `idle`: it costs, and nobody holds it."""

    disk: RentedDisk
    used: int

    @property
    def idle(self) -> bool:
        return not self.disk.attachments

    def as_json(self) -> dict[str, Any]:
        month = self.disk.month
        return {
            **self.disk.request.as_json(),
            "provider": self.disk.provider,
            "path": str(self.disk.path),
            "created": self.disk.created,
            "attachments": [one.as_json() for one in self.disk.attachments],
            "used": self.used,
            "month": month.as_json() if month else None,
            "idle": self.idle,
        }


def create(provider: str, request: DiskRequest, home: Home, clock: Clock) -> DiskRow:
    """Make a disk. Raises UsageError, ProviderError."""
    return _row(disks_of(provider, home, clock).create(request))


def list_disks(provider: str, home: Home, clock: Clock) -> list[DiskRow]:
    """Return all disks, by name."""
    return [_row(disk) for disk in disks_of(provider, home, clock).disks()]


def idle_cost(rows: Sequence[DiskRow]) -> tuple[tuple[Money, ...], int]:
    """Return what idle disks cost a month, by currency, and of how many the price is unknown. Pure."""
    sums: dict[str, Money] = {}
    unknown = 0
    for row in rows:
        if row.idle:
            month = row.disk.month
            if month is None:
                unknown += 1
            else:
                had = sums.get(month.currency)
                sums[month.currency] = month if had is None else had + month
    return tuple(sums[currency] for currency in sorted(sums)), unknown


def attach(provider: str, name: str, path: Path, home: Home, clock: Clock) -> DiskRow:
    """Show a disk on this box. Raises UsageError, ProviderError."""
    shown_at = Path(os.path.abspath(path))  # noqa: PTH100 - a link stays one
    return _row(disks_of(provider, home, clock).attach(name, host_node(), shown_at))


def detach(provider: str, name: str, home: Home, clock: Clock) -> DiskRow:
    """Take a disk off this box. Raises ProviderError."""
    return _row(disks_of(provider, home, clock).detach(name))


def only_copies(disk: RentedDisk, others: Sequence[RentedDisk]) -> list[Item]:
    """Return what of value lies on a disk and on none of the others, the most valuable first."""
    scope = Scope(machine=disk.request.name, roots=(str(disk.path.resolve()),))
    left = list(find(scope).items)
    for other in others:
        if left:
            not_there = {item.path for item in find(replace(scope, disk=Disk(other.path.resolve()))).items}
            left = [item for item in left if item.path in not_there]
    return left


def delete(provider: str, name: str, why: str | None, home: Home, clock: Clock) -> list[Item]:
    """Remove a disk; return what of value was on it only.

    Raises:
        GuardRefused: it holds the only copy of something, and no reason was given to lose that.
        ProviderError: there is no such disk, or somebody holds it.
    """
    disks = disks_of(provider, home, clock)
    disk = disks.disk(name)
    lost = only_copies(disk, [one for one in disks.disks() if one.request.name != name])
    if lost and not (why or "").strip():
        told = ", ".join(f"{spelled(item.path)} ({item.kind.text})" for item in lost[:_NAMED])
        more = len(lost) - _NAMED
        raise GuardRefused(
            _("disk {name} holds the only copy of {count} files of value ({bytes}): {names}").format(
                name=name,
                count=len(lost),
                bytes=show_bytes(sum(item.size for item in lost)),
                names=told + (_(" and {count} more").format(count=more) if more > 0 else ""),
            ),
            hint=_("copy them first with `lastro disk push`, or say --why they may be lost"),
        )
    disks.delete(name)
    return lost


def _row(disk: RentedDisk) -> DiskRow:
    files = scan(str(disk.path.resolve()), 0).candidates
    return DiskRow(disk=disk, used=sum(file.blocks * 512 for file in files))
