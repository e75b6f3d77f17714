"""Offers in the order in which one compares them: what is the same thing together, the cheapest first."""

from __future__ import annotations

import datetime as dates
from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import Decimal

from lastro.billing import LeaseKind
from lastro.flow.offers.catalogue import GIB
from lastro.flow.offers.wanted import Wanted, left_out
from lastro.locale import _
from lastro.records import dataclass
from lastro.spec.doubts import Doubt, age_days, doubts
from lastro.spec.durations import card
from lastro.spec.offers import Offer, Offers
from lastro.spec.prices import GB
from lastro.units import Money, show_bytes

#: The order in which the offers of a class can be listed.
ORDERS = ("price", "age", "name")


@dataclass(frozen=True, kw_only=True)
class Derived:
    """A figure that nobody quotes: `amount` for one GPU (or machine without GPUs) and hour; `why`: when."""

    amount: Money
    why: str


@dataclass(frozen=True, kw_only=True)
class Listed:
    """An offer with what can be said of it on a day. `age_days` None: nobody wrote down its day."""

    offer: Offer
    age_days: int | None
    derived: Derived | None
    doubts: tuple[Doubt, ...]


@dataclass(frozen=True, kw_only=True)
class Class:
    """What is the same thing to a program: one card with one memory, or no card. Never empty."""

    name: str
    offers: tuple[Listed, ...]


@dataclass(frozen=True, kw_only=True)
class Listing:
    """An offers file as it is shown. `left_out`: how many offers, by the reason. `doubts`: of other rows."""

    today: dates.date
    classes: tuple[Class, ...]
    left_out: Mapping[str, int]
    doubts: tuple[Doubt, ...]


def list_offers(file: Offers, wanted: Wanted, today: dates.date, *, order: str = "price") -> Listing:
    """Return the offers that are wanted, by class.

    By `price`: hourly and spot before lots, machines with fewer GPUs first, each by what one machine costs,
    as it is quoted; a price for a term and a price for an hour are never compared, so a lot stands after the
    others of its class, by its term. Unknown prices come last.
    """
    others: list[Doubt] = []
    own: dict[str, list[Doubt]] = {}
    for doubt in doubts(file, today):
        (own.setdefault(doubt.row, []) if doubt.table == "offers" else others).append(doubt)
    reasons: Counter[str] = Counter()
    classes: dict[str, list[Listed]] = {}
    for offer in file.offers:
        reason = left_out(wanted, offer)
        if reason is not None:
            reasons[reason] += 1
            continue
        listed = Listed(
            offer=offer,
            age_days=age_days(offer, today),
            derived=derived_price(offer),
            doubts=tuple(own.get(offer.name, ())),
        )
        classes.setdefault(card(class_of(offer)), []).append(listed)
    return Listing(
        today=today,
        classes=tuple(
            Class(name=class_of(offers[0].offer), offers=_ordered(offers, order))
            for _key, offers in sorted(classes.items())
        ),
        left_out=dict(reasons),
        doubts=tuple(others),
    )


def class_of(offer: Offer) -> str:
    """Return what an offer is to a program: `RTX 4090, 24 GB`."""
    if not offer.gpus:
        return _("without GPU")
    gpu = offer.gpu or _("GPU not named")
    return f"{gpu}, {_size(offer)}" if offer.memory else gpu


def _size(offer: Offer) -> str:
    """Return the memory of a card as it is written, or in whole GiB: drivers tell 24564 MiB of 24 GiB."""
    size = offer.memory or 0
    return show_bytes(size) if size % GB == 0 else f"{round(size / GIB)} GiB"


def derived_price(offer: Offer) -> Derived | None:
    """Return what one GPU costs by the hour where the offer does not say it in these words.

    None where it does, or where the price is unknown.
    """
    price = offer.machine_price
    if price is None:
        return None
    gpus = max(offer.gpus, 1) * offer.machines
    if offer.kind is LeaseKind.LOT and offer.term is not None:
        hours = Decimal(str(offer.term.total_seconds())) / 3600
        why = (
            _("if all of its {hours} h are used on all of its GPUs")
            if gpus > 1
            else _("if all of its {hours} h are used")
        )
        return Derived(amount=price.times(1 / (hours * gpus)), why=why.format(hours=f"{hours.normalize():f}"))
    if gpus > 1:
        return Derived(
            amount=price.times(Decimal(1) / gpus),
            why=_("if all of its {count} GPUs are used").format(count=gpus),
        )
    return None


def _ordered(offers: Iterable[Listed], order: str) -> tuple[Listed, ...]:
    if order == "name":
        return tuple(sorted(offers, key=lambda one: one.offer.name))
    if order == "age":
        unknown = Decimal("Infinity")
        return tuple(sorted(offers, key=lambda one: unknown if one.age_days is None else one.age_days))
    return tuple(sorted(offers, key=_by_price))


def _by_price(one: Listed) -> tuple[bool, bool, str, float, int, Decimal, str]:
    offer = one.offer
    price = offer.machine_price
    term = offer.term.total_seconds() if offer.term else 0.0
    amount = price.amount if price is not None else Decimal(0)
    currency = price.currency if price is not None else ""
    return offer.kind is LeaseKind.LOT, price is None, currency, term, offer.gpus, amount, offer.name
