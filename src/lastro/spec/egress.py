"""What it costs to move data out of a place, and into it: prices for 1 GB, what is free, and tiers."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator

from lastro.locale import _
from lastro.spec.base import AlsoWritten, Contradiction, Problem, Strict, Text, as_tuple
from lastro.spec.prices import (
    AS_PRICE,
    GB,
    Price,
    Priced,
    PriceOrNone,
    Seen,
    SomeBytes,
    Word,
    mixed_currencies,
)
from lastro.units import Money, show_bytes


class Tier(Strict):
    """Beyond `over` bytes in a month, free ones counted, 1 GB costs `price`."""

    over: SomeBytes
    price: Price


class Traffic(Strict):
    """The price of 1 GB (10^9 bytes), of which `free` bytes a month cost nothing; None is unknown."""

    price: Price
    free: SomeBytes | None = None
    tiers: Annotated[tuple[Tier, ...], BeforeValidator(as_tuple)] = ()

    @model_validator(mode="after")
    def _holds_together(self) -> Traffic:
        problems = []
        if self.free is not None and self.price is None:
            text = _("free means nothing where the price beyond it is unknown")
            problems.append(Problem(("free",), text, _("write the price, or leave free out")))
        for index, tier in enumerate(self.tiers):
            if index and tier.over <= self.tiers[index - 1].over:
                text = _("tiers have to be in order: {over} comes after {before}").format(
                    over=show_bytes(tier.over), before=show_bytes(self.tiers[index - 1].over)
                )
                problems.append(Problem(("tiers", index, "over"), text))
            elif self.free is not None and tier.over < self.free:
                text = _("this tier begins within the {free} that are free").format(
                    free=show_bytes(self.free)
                )
                problems.append(Problem(("tiers", index, "over"), text))
        if problems:
            raise Contradiction(*problems)
        return self


def _traffic(value: object) -> object:
    return value if value is None or isinstance(value, (dict, Traffic)) else {"price": value}


class Egress(Traffic):
    """A row of prices for data that leaves `origin` (a provider, region or zone) for `to`.

    `to`: "internet", "region" (another place of the same region), or the name of a provider, region or zone.
    `per_request`: of each request; None is unknown. `ingress`: for data that comes in; None is unknown.
    """

    name: Text
    origin: Annotated[Text, Field(alias="from")]
    to: Text = "internet"
    per_request: PriceOrNone = None
    ingress: Annotated[Traffic | None, BeforeValidator(_traffic), AlsoWritten(*AS_PRICE)] = None
    source: Text = "declared"
    seen: Seen = None
    notes: Text | None = None

    @model_validator(mode="after")
    def _one_currency(self) -> Egress:
        problems = mixed_currencies(self._amounts())
        if problems:
            raise Contradiction(*problems)
        return self

    def _amounts(self) -> Iterator[tuple[tuple[str | int, ...], object]]:
        ways: list[tuple[tuple[str, ...], Traffic]] = [((), self)]
        if self.ingress is not None:
            ways.append((("ingress",), self.ingress))
        for path, way in ways:
            yield (*path, "price"), way.price
            for index, tier in enumerate(way.tiers):
                yield (*path, "tiers", index, "price"), tier.price
        yield ("per_request",), self.per_request


def egress_cost(row: Egress, size: int, *, used: int = 0, requests: int = 0) -> Priced:
    """Return what `size` bytes out cost, after `used` bytes of the same month, in so many requests."""
    moved = _traffic_cost(row, row.name, size, used)
    if not requests or row.per_request is Word.NONE or moved.amount is None:
        return moved
    if not isinstance(row.per_request, Money):
        text = _("the price of a request of {row} is unknown").format(row=row.name)
        return Priced(amount=None, why=text)
    return Priced(
        amount=moved.amount + row.per_request.times(requests),
        why=_("{moved}; {count} requests at {price}").format(
            moved=moved.why, count=requests, price=row.per_request
        ),
    )


def ingress_cost(row: Egress, size: int, *, used: int = 0) -> Priced:
    """Return what `size` bytes in cost, after `used` bytes of the same month."""
    if row.ingress is None:
        return Priced(amount=None, why=_("the price of data into {row} is unknown").format(row=row.origin))
    return _traffic_cost(row.ingress, row.name, size, used)


def _traffic_cost(way: Traffic, name: str, size: int, used: int) -> Priced:
    if size < 0 or used < 0:
        raise ValueError(_("no fewer bytes than none can be moved"))
    if way.price is None and not way.tiers:
        return Priced(amount=None, why=_("the price of 1 GB of {row} is unknown").format(row=name))
    total: Money | None = None
    parts = []
    for start, end, price in _bands(way):
        count = (
            min(used + size, end) - max(used, start) if end is not None else used + size - max(used, start)
        )
        if count <= 0:
            continue
        if price is None:
            text = _("the price of {row} beyond {start} a month is unknown")
            return Priced(amount=None, why=text.format(row=name, start=show_bytes(start)))
        part = price.times(Decimal(count) / GB)
        total = part if total is None else total + part
        parts.append(_("{size} at {price} a GB").format(size=show_bytes(count), price=price))
    if total is None:
        known = next(price for _start, _end, price in _bands(way) if price is not None)
        return Priced(amount=known.times(0), why=_("nothing is moved, by {row}").format(row=name))
    return Priced(amount=total, why=_("{parts}, by {row}").format(parts=" + ".join(parts), row=name))


def _bands(way: Traffic) -> Iterator[tuple[int, int | None, Money | None]]:
    """Yield each part of a month's bytes with its price: where it begins, and ends (None: never)."""
    start = 0
    if way.free is not None and way.price is not None:
        yield 0, way.free, way.price.times(0)
        start = way.free
    price = way.price
    for tier in way.tiers:
        yield start, tier.over, price
        start, price = tier.over, tier.price
    yield start, None, price
