"""What can be rented: lots with a price for their term, machines by the hour, and spot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator

from lastro.billing import Lease, LeaseKind
from lastro.errors import UsageError
from lastro.locale import _
from lastro.spec.addresses import place_of
from lastro.spec.base import Contradiction, Duration, DurationOrZero, Problem, Strict, Text, as_tuple, shown
from lastro.spec.by_hour import ByHour
from lastro.spec.disks import Disk
from lastro.spec.egress import Egress
from lastro.spec.prices import Price, PriceSameOrNone, Seen, SomeBytes, Word, mixed_currencies, twice
from lastro.spec.rates import Balance, Rate
from lastro.units import Money


def _kind(value: object) -> object:
    if isinstance(value, LeaseKind):
        return value
    try:
        return LeaseKind(value)
    except ValueError as error:
        raise ValueError(_("{value} is none of: lot, hourly, spot").format(value=shown(value))) from error


def _per(value: object) -> object:
    try:
        return Per(value)
    except ValueError as error:
        raise ValueError(_("{value} is none of: machine, gpu").format(value=shown(value))) from error


class Per(str, Enum):
    """What an hourly price is for."""

    MACHINE = "machine"
    GPU = "gpu"


_LONGEST_LIFETIME = 24 * 3660
Hours = Annotated[float, Field(gt=0, le=_LONGEST_LIFETIME)]


class Offer(Strict):
    """One thing that can be rented. A price of None is unknown, never free.

    `price` is for the whole term of a lot with all its machines, and for one hour of one machine (`per: gpu`:
    of one GPU) otherwise. `gpus`, `memory` (of one GPU), `cpus` and `ram` are those of one machine; one
    without GPUs is a CPU machine. `renewal`: what a following term of a lot costs. `by_hour`: prices for
    parts of the day, whose hours are `utc` hours ahead of UTC. `interruptions` is the mean time between
    them, `lifetimes` are hours for which machines were seen to live, `notice` is how long before its end a
    machine is told of it; None: nobody knows. `boot` is how long its machines take to come up, `lead` how
    long it takes until the first can be had. `provider` None: anywhere. `disk` and `egress` name rows of the
    same file.

    A `provider` that is an address (`root@gpu7`) or a partition (`slurm://scavenge`) is a place: this is what
    a machine costs there, and lastro takes it there by itself.
    """

    name: Text
    kind: Annotated[LeaseKind, BeforeValidator(_kind)]
    price: Price
    per: Annotated[Per, BeforeValidator(_per)] = Per.MACHINE
    term: Duration | None = None
    renewal: PriceSameOrNone = Word.SAME
    unit: Duration | None = None
    minimum: DurationOrZero | None = None
    machines: Annotated[int, Field(ge=1, le=1024)] = 1
    gpu: Text | None = None
    gpus: Annotated[int, Field(ge=0, le=1024)] = 1
    memory: SomeBytes | None = None
    cpus: Annotated[int, Field(ge=1, le=4096)] | None = None
    ram: SomeBytes | None = None
    region: Text | None = None
    zone: Text | None = None
    jurisdiction: Text | None = None
    source: Text = "declared"
    seen: Seen = None
    capacity: Annotated[int, Field(ge=0)] | None = None
    provider: Text | None = None
    boot: DurationOrZero | None = None
    lead: DurationOrZero | None = None
    interruptions: Duration | None = None
    lifetimes: Annotated[tuple[Hours, ...], BeforeValidator(as_tuple)] = ()
    notice: DurationOrZero | None = None
    by_hour: ByHour | None = None
    utc: Annotated[float, Field(ge=-12, le=14)] = 0
    disk: Text | None = None
    egress: Text | None = None
    subprocessors: Text | None = None
    notes: Text | None = None

    @property
    def machine_price(self) -> Money | None:
        """What one machine costs by the hour, or a lot with all its machines for its term; None: unknown."""
        if self.price is None or self.per is Per.MACHINE:
            return self.price
        return self.price.times(self.gpus)

    @property
    def place(self) -> str | None:
        """The host or the partition at which its machines are had; None: no provider, or a company."""
        return place_of(self.provider)

    @property
    def renewable(self) -> bool:
        """Whether a following term of a lot can be had."""
        return self.kind is LeaseKind.LOT and self.renewal is not Word.NONE

    @property
    def renewal_price(self) -> Money | None:
        """What a following term of a lot costs; None: unknown, or it is not to be had."""
        if not self.renewable:
            return None
        if self.renewal is Word.SAME:
            return self.price
        return self.renewal if isinstance(self.renewal, Money) else None

    @property
    def machine_by_hour(self) -> Mapping[str, Money | None]:
        """What one machine costs in parts of the day, whose hours are at `utc`; None: unknown."""
        prices = {part: price for part, price in (self.by_hour or {}).items() if not isinstance(price, Word)}
        factor = self.gpus if self.per is Per.GPU else 1
        return {part: price.times(factor) if price else None for part, price in prices.items()}

    @property
    def not_by_hour(self) -> tuple[str, ...]:
        """The parts of the day in which it is not to be had."""
        return tuple(part for part, price in (self.by_hour or {}).items() if price is Word.NONE)

    @property
    def boot_seconds(self) -> float:
        """How long a machine of this offer takes to come up; 0.0 when the file does not say."""
        return self.boot.total_seconds() if self.boot else 0.0

    def lease(self) -> Lease:
        """Return this offer taken now, its price copied."""
        return Lease(
            offer=self.name,
            kind=self.kind,
            price=self.machine_price,
            unit_seconds=int(self.unit.total_seconds()) if self.unit else 1,
            minimum_seconds=int(self.minimum.total_seconds()) if self.minimum else 0,
            term_seconds=int(self.term.total_seconds()) if self.term else None,
            source=f"{self.source}, {self.seen.isoformat()}" if self.seen else self.source,
            machines=self.machines,
        )

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Offer:
        problems = [*(self._lot() if self.kind is LeaseKind.LOT else self._by_the_hour())]
        for key in ("term", "unit", "minimum"):
            duration = getattr(self, key)
            if duration is not None and duration.total_seconds() % 1:
                problems.append(Problem((key,), _("time is billed in whole seconds")))
        problems += mixed_currencies(
            [
                (("price",), self.price),
                (("renewal",), self.renewal),
                *((("by_hour", part), price) for part, price in (self.by_hour or {}).items()),
            ]
        )
        try:
            place_of(self.provider)
        except UsageError as error:
            problems.append(Problem(("provider",), error.message, error.hint))
        if self.by_hour is None and "utc" in self.model_fields_set:
            problems.append(
                Problem(("utc",), _("utc says when the hours of by_hour are, and there are none"))
            )
        if problems:
            raise Contradiction(*problems)
        return self

    def _lot(self) -> Iterator[Problem]:
        if self.term is None:
            yield Problem((), _("a lot needs its term"), _("for example term: 3d"))
        for key in ("unit", "minimum", "per", "by_hour", "lifetimes"):
            if key in self.model_fields_set and getattr(self, key) is not None:
                text = _("a lot has one price for its term, so {key} means nothing").format(key=key)
                yield Problem((key,), text)

    def _by_the_hour(self) -> Iterator[Problem]:
        kind = self.kind.value
        if self.term is not None:
            text = _("{kind} has no term; its price is for one hour").format(kind=kind)
            yield Problem(("term",), text)
        if "renewal" in self.model_fields_set:
            text = _("{kind} has no term that could be renewed").format(kind=kind)
            yield Problem(("renewal",), text)
        if self.machines != 1:
            text = _("{kind} has the price of one machine; several in one price are a lot").format(kind=kind)
            yield Problem(
                ("machines",), text, _("leave it out; `machines` of the campaign says how many run")
            )
        if self.per is Per.GPU and not self.gpus:
            yield Problem(("per",), _("a price for one GPU means nothing without GPUs"))
        if self.lifetimes and self.kind is not LeaseKind.SPOT:
            yield Problem(("lifetimes",), _("only spot machines are taken away, so lifetimes means nothing"))


class Offers(Strict):
    """An offers file: what can be rented, and what keeping and moving data costs where."""

    offers: Annotated[tuple[Offer, ...], BeforeValidator(as_tuple)]
    disks: Annotated[tuple[Disk, ...], BeforeValidator(as_tuple)] = ()
    egress: Annotated[tuple[Egress, ...], BeforeValidator(as_tuple)] = ()
    rates: Annotated[tuple[Rate, ...], BeforeValidator(as_tuple)] = ()
    balances: Annotated[tuple[Balance, ...], BeforeValidator(as_tuple)] = ()

    def disk_of(self, offer: Offer) -> Disk | None:
        """Return the disk row that an offer names; None when it names none."""
        return next((disk for disk in self.disks if disk.name == offer.disk), None)

    def egress_of(self, offer: Offer) -> Egress | None:
        """Return the egress row that an offer names; None when it names none."""
        return next((row for row in self.egress if row.name == offer.egress), None)

    @model_validator(mode="after")
    def _holds_together(self) -> Offers:
        problems = [*self._alike(), *self._links()]
        if problems:
            raise Contradiction(*problems)
        return self

    def _alike(self) -> Iterator[Problem]:
        names = [offer.name for offer in self.offers]
        yield from twice(("offers", "name"), names, _("another offer is named {name} too"))
        names = [disk.name for disk in self.disks]
        yield from twice(("disks", "name"), names, _("another disk is named {name} too"))
        names = [row.name for row in self.egress]
        yield from twice(("egress", "name"), names, _("another egress row is named {name} too"))
        rates = [f"{rate.base}-{rate.to}, {rate.seen.isoformat()}" for rate in self.rates]
        yield from twice(("rates", "rate"), rates, _("another rate is of {name} too"))
        held = [f"{balance.provider}, {balance.amount.currency}" for balance in self.balances]
        yield from twice(("balances", "amount"), held, _("another balance is of {name} too"))

    def _links(self) -> Iterator[Problem]:
        """Yield what an offer names and the file does not have, or has elsewhere."""
        rows = {"disk": {disk.name for disk in self.disks}, "egress": {row.name for row in self.egress}}
        for index, offer in enumerate(self.offers):
            for key, names in rows.items():
                name = getattr(offer, key)
                if name is not None and name not in names:
                    text = _("no row of this file's {rows} is named {name}; there are: {names}").format(
                        rows="disks" if key == "disk" else "egress",
                        name=name,
                        names=", ".join(sorted(names)) or "-",
                    )
                    yield Problem(("offers", index, key), text)
            disk = self.disk_of(offer)
            for key in ("provider", "zone"):
                here, there = getattr(offer, key), getattr(disk, key, None)
                if here is not None and there is not None and here != there:
                    text = _("the disk {disk} is in {there}, this offer in {here}: it cannot hold it").format(
                        disk=offer.disk, there=there, here=here
                    )
                    yield Problem(("offers", index, "disk"), text)
