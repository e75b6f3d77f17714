"""The contract of a provider that has disks to rent, and the values that cross it.

No verb makes a file system: what a provider gives is a folder, and what lies in it is never formatted.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, Protocol

from lastro.records import dataclass
from lastro.units import Money

#: Sizes that can be rented, in bytes: 50 GB to 10 TB.
SMALLEST_BYTES, LARGEST_BYTES = 50 * 10**9, 10 * 10**12


@dataclass(frozen=True, kw_only=True)
class DiskRequest:
    """What is asked for. `price`: of 1 GB and month; None: unknown. `attach`: how many hold it at once."""

    name: str
    bytes: int
    zone: str | None = None
    price: Money | None = None
    attach: int = 1

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "bytes": self.bytes,
            "zone": self.zone,
            "price": self.price.as_json() if self.price else None,
            "attach": self.attach,
        }


@dataclass(frozen=True, kw_only=True)
class Attachment:
    """Who holds a disk. `machine`: its id, or the node of this box. `path`: where it is seen there."""

    machine: str
    path: str
    since: str

    def as_json(self) -> dict[str, str]:
        return vars(self)


@dataclass(frozen=True, kw_only=True)
class RentedDisk:
    """A disk as its provider tells it. `path`: its content on this box. `created`: ISO 8601."""

    request: DiskRequest
    provider: str
    path: Path
    created: str
    attachments: tuple[Attachment, ...]

    @property
    def month(self) -> Money | None:
        """What it costs a month, attached or not; None: the price is unknown."""
        price = self.request.price
        return None if price is None else price.times(Decimal(self.request.bytes) / 10**9)


class DiskProvider(Protocol):
    """One place where disks come from. Every verb may be called again after a crash."""

    def create(self, request: DiskRequest) -> RentedDisk:
        """Make a disk, or return the one of this name. Raises ProviderError when it is not to be had so."""
        ...

    def disks(self) -> Sequence[RentedDisk]:
        """Return all disks, by name."""
        ...

    def attach(self, name: str, machine: str, path: Path) -> RentedDisk:
        """Show a disk at a path of this box. Raises ProviderError when too many hold it already."""
        ...

    def detach(self, name: str) -> RentedDisk:
        """Take a disk off this box; again is fine. Raises ProviderError while a machine uses it."""
        ...

    def delete(self, name: str) -> None:
        """Remove a disk with everything on it. Raises ProviderError while somebody holds it."""
        ...
