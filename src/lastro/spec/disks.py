"""Disks that outlive a machine: their sizes, and what they cost while one holds them and while none does."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from pydantic import Field, model_validator

from lastro.billing import storage
from lastro.locale import _
from lastro.records import dataclass
from lastro.spec.base import Contradiction, Problem, Strict, Text
from lastro.spec.prices import (
    GB,
    Price,
    Priced,
    PriceSameOrNone,
    Seen,
    SomeBytes,
    Word,
    mixed_currencies,
)
from lastro.units import Money, show_bytes


class Disk(Strict):
    """A disk that can be rented. Prices are for 1 GB (10^9 bytes) and one month; None is unknown.

    `stopped`: the price while no machine holds it; `same`, or `none` where it does not outlive its machine.
    `attach`: how many machines hold it at once.
    """

    name: Text
    price: Price
    stopped: PriceSameOrNone = Word.SAME
    smallest: SomeBytes | None = None
    largest: SomeBytes | None = None
    step: SomeBytes = GB
    attach: Annotated[int, Field(ge=1, le=100_000)] = 1
    provider: Text | None = None
    region: Text | None = None
    zone: Text | None = None
    jurisdiction: Text | None = None
    source: Text = "declared"
    seen: Seen = None
    notes: Text | None = None

    @property
    def outlives_machine(self) -> bool:
        """Whether it is still there when its machine has gone."""
        return self.stopped is not Word.NONE

    @property
    def stopped_price(self) -> Money | None:
        """The price of 1 GB and month while no machine holds it; None: unknown, or it is not there."""
        if self.stopped is Word.SAME:
            return self.price
        return self.stopped if isinstance(self.stopped, Money) else None

    @model_validator(mode="after")
    def _holds_together(self) -> Disk:
        problems = mixed_currencies([(("price",), self.price), (("stopped",), self.stopped)])
        if self.largest is not None:
            for key in ("smallest", "step"):
                value = getattr(self, key)
                if value is not None and value > self.largest:
                    text = _("{key} ({value}) is more than largest ({largest})")
                    problems.append(
                        Problem(
                            (key,),
                            text.format(key=key, value=show_bytes(value), largest=show_bytes(self.largest)),
                        )
                    )
        if problems:
            raise Contradiction(*problems)
        return self


@dataclass(frozen=True, kw_only=True)
class DiskSize:
    """The size to rent, in bytes; None when this disk is not to be had so large. `why` says which."""

    bytes: int | None
    why: str


def rented_size(disk: Disk, needed: int) -> DiskSize:
    """Return the smallest size of this disk that holds `needed` bytes: its smallest, and steps from there.

    The largest size is one even where the steps do not meet it.
    """
    if disk.largest is not None and needed > disk.largest:
        text = _("{needed} do not fit on {disk}: its largest size is {largest}")
        return DiskSize(
            bytes=None,
            why=text.format(needed=show_bytes(needed), disk=disk.name, largest=show_bytes(disk.largest)),
        )
    smallest = disk.smallest or disk.step
    steps = max(0, -(-(needed - smallest) // disk.step))
    size = smallest + steps * disk.step
    if disk.largest is not None:
        size = min(size, disk.largest)
    return DiskSize(
        bytes=size,
        why=_("{needed} in sizes of {disk} are {size}").format(
            needed=show_bytes(needed), disk=disk.name, size=show_bytes(size)
        ),
    )


def storage_cost(disk: Disk, needed: int, hours: Decimal, running_hours: Decimal) -> Priced:
    """Return what a disk for `needed` bytes costs.

    Args:
        disk: its row.
        needed: bytes to hold; the size that is billed is `rented_size`.
        hours: from making the disk until deleting it; a month is 730 of them.
        running_hours: of these, the hours in which a machine holds it.

    Raises:
        ValueError: running_hours are none of the hours.
    """
    if not 0 <= running_hours <= hours:
        raise ValueError(
            _("{running} h cannot be a part of {hours} h").format(running=running_hours, hours=hours)
        )
    size = rented_size(disk, needed)
    if size.bytes is None:
        return Priced(amount=None, why=size.why, refused=True)
    stopped_hours = hours - running_hours if disk.outlives_machine else Decimal(0)
    rows = ((disk.price, running_hours, "price"), (disk.stopped_price, stopped_hours, "stopped"))
    total: Money | None = None
    for price, billed, key in rows:
        if not billed:
            continue
        if price is None:
            text = _("the price of {disk} ({key}) is unknown").format(disk=disk.name, key=key)
            return Priced(amount=None, why=text)
        part = storage(price, size.bytes, billed)
        total = part if total is None else total + part
    if total is None and disk.price is not None:
        total = disk.price.times(0)
    return Priced(
        amount=total,
        why=_("{size}; {running} h held by a machine, {stopped} h not, a month of 730 h ({source})").format(
            size=size.why, running=running_hours, stopped=stopped_hours, source=disk.source
        ),
    )
