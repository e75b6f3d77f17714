"""Which offers somebody wants to see, and why the others are left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from lastro.billing import LeaseKind
from lastro.locale import _
from lastro.plan.eligible import lies_in
from lastro.records import dataclass
from lastro.spec.durations import card
from lastro.units import Money, show_bytes


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What an offer has to have; None and () ask for nothing.

    `memory`: bytes of one GPU, at least. `price`: at most, as the offer says it: for one hour, or for the
    term of a lot.
    """

    gpu: str | None = None
    memory: int | None = None
    kinds: tuple[LeaseKind, ...] = ()
    region: str | None = None
    jurisdiction: str | None = None
    price: Money | None = None
    provider: str | None = None


class Rentable(Protocol):
    """What is asked of an offer, or of a line of a catalogue that may become one."""

    @property
    def kind(self) -> LeaseKind: ...
    @property
    def gpu(self) -> str | None: ...
    @property
    def memory(self) -> int | None: ...
    @property
    def region(self) -> str | None: ...
    @property
    def zone(self) -> str | None: ...
    @property
    def jurisdiction(self) -> str | None: ...
    @property
    def provider(self) -> str | None: ...
    @property
    def machine_price(self) -> Money | None: ...


def left_out(wanted: Wanted, offer: Rentable) -> str | None:
    """Return why an offer is not shown; None when it is. What is unknown does not count as fitting."""
    return next(_reasons(wanted, offer), None)


def _reasons(wanted: Wanted, offer: Rentable) -> Iterator[str]:
    if wanted.kinds and offer.kind not in wanted.kinds:
        yield _("another kind")
    if wanted.gpu is not None and card(wanted.gpu) not in card(offer.gpu or ""):
        yield _("another GPU")
    if wanted.provider is not None and wanted.provider.casefold() != (offer.provider or "").casefold():
        yield _("another provider")
    if wanted.region is not None and not _names(wanted.region, (offer.region, offer.zone)):
        yield _("another region")
    if wanted.jurisdiction is not None:
        yield from _jurisdiction(wanted.jurisdiction, offer)
    if wanted.memory is not None:
        yield from _memory(wanted.memory, offer)
    if wanted.price is not None:
        yield from _price(wanted.price, offer)


def _names(wanted: str, places: Iterable[str | None]) -> bool:
    return any(wanted.casefold() in place.casefold() for place in places if place)


def _jurisdiction(wanted: str, offer: Rentable) -> Iterator[str]:
    there = offer.jurisdiction
    if there is None:
        yield _("its jurisdiction is unknown")
    elif not lies_in(there, (wanted,)):
        yield _("another jurisdiction")


def _memory(wanted: int, offer: Rentable) -> Iterator[str]:
    if offer.memory is None:
        yield _("its memory is unknown")
    elif offer.memory < wanted:
        yield _("less memory than {size}").format(size=show_bytes(wanted))


def _price(wanted: Money, offer: Rentable) -> Iterator[str]:
    price = offer.machine_price
    if price is None:
        yield _("its price is unknown")
    elif price.currency != wanted.currency:
        yield _("its price is in another currency")
    elif price.amount > wanted.amount:
        yield _("dearer than {price}").format(price=wanted)
