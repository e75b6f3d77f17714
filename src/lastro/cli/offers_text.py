"""Offers in a terminal of 80 columns: what each costs, what is included, how old its price is, whence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from lastro.billing import LeaseKind
from lastro.flow.offers.listing import Class, Listed, Listing
from lastro.locale import _, ngettext
from lastro.spec.disks import Disk
from lastro.spec.doubts import STALE_AFTER, age_days
from lastro.spec.egress import Egress
from lastro.spec.offers import Offer, Offers
from lastro.spec.prices import Word
from lastro.units import Money, show_bytes, show_duration

#: What a terminal has at least.
_WIDTH = 80


def listing_text(listing: Listing, file: Offers, *, whole: bool) -> RenderableType:
    """Return what `lastro offers` shows. `whole`: with the disks and the egress rows of the file."""
    parts: list[RenderableType] = [_class(one) for one in listing.classes]
    if not listing.classes:
        parts.append(Text(_("No offer is left.") if listing.left_out else _("The file has no offers.")))
    if whole:
        parts += [*_disks(file, listing.today), *_egress(file, listing.today)]
    if listing.left_out:
        reasons = "; ".join(
            _("{count}: {reason}").format(count=count, reason=reason)
            for reason, count in sorted(listing.left_out.items())
        )
        parts.append(Text(_("Left out: {reasons}.").format(reasons=reasons), style="dim"))
    return Group(*parts)


def _class(one: Class) -> RenderableType:
    below = [tuple(_below(listed)) for listed in one.offers]
    tones = ["yellow" if listed.doubts else "" for listed in one.offers]
    return _section(one.name, [_row(listed) for listed in one.offers], below, tones)


def _section(
    name: str, rows: Sequence[tuple[str, ...]], below: Sequence[Sequence[Text]], tones: Sequence[str]
) -> RenderableType:
    """Return rows in columns, each with lines of its own below it, under a heading."""
    widths = [max(cell_len(row[column]) for row in rows) for column in range(len(rows[0]))]
    too_wide = sum(widths) + 2 * len(widths) > _WIDTH
    lines: list[RenderableType] = [Text(name, style="bold")]
    for row, under, tone in zip(rows, below, tones, strict=True):
        cells = [cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
        if too_wide:  # names that an import has made are long
            lines.append(Text(f"  {row[0]}", style=tone))
            cells = ["  ", *cells[1:]]
        lines.append(Text("  " + "  ".join(cells).rstrip(), style=tone))
        lines += [Padding(line, (0, 0, 0, 6)) for line in under]
    return Padding(Group(*lines), (0, 0, 1, 0))


def _row(listed: Listed) -> tuple[str, str, str, str]:
    offer = listed.offer
    return offer.name, price_text(offer), _included(offer), _age(offer.seen, listed.age_days)


def price_text(offer: Offer) -> str:
    """Return a price as it is quoted, with what it is for."""
    if offer.price is None:
        price = _("price unknown")
    elif offer.kind is LeaseKind.LOT and offer.term is not None:
        return _("{price} for {term}").format(price=offer.price, term=_length(offer.term))
    elif offer.machine_price != offer.price:
        price = _("{price} a GPU and hour").format(price=offer.price)
    else:
        price = _("{price} an hour").format(price=offer.price)
    return price if offer.kind is LeaseKind.HOURLY else f"{price} ({offer.kind.value})"


def _included(offer: Offer) -> str:
    parts = []
    if offer.machines > 1:
        parts.append(_("{count} machines").format(count=offer.machines))
    if offer.gpus:
        parts.append(ngettext("{n} GPU", "{n} GPUs", offer.gpus).format(n=offer.gpus))
    elif offer.cpus:
        parts.append(ngettext("{n} CPU", "{n} CPUs", offer.cpus).format(n=offer.cpus))
    text = " × ".join(parts)
    return _("{what} each").format(what=text) if offer.machines > 1 and offer.gpus > 1 else text


def _length(duration: timedelta) -> str:
    days, rest = divmod(duration, timedelta(days=1))
    return show_duration(duration) if rest else ngettext("{n} day", "{n} days", days).format(n=days)


def _age(seen: date | None, days: int | None) -> str:
    if seen is None or days is None:
        return _("no date")
    if days < 0:
        return seen.isoformat()
    if not days:
        return _("read today")
    text = ngettext("{n} day old", "{n} days old", days).format(n=days)
    return _("{age}, stale").format(age=text) if timedelta(days=days) > STALE_AFTER else text


def _below(listed: Listed) -> Iterator[Text]:
    """Yield the lines below an offer: whence and where, what else holds, derived figures, doubts."""
    offer = listed.offer
    places = [offer.provider, offer.region, offer.zone, offer.jurisdiction]
    where = ", ".join(dict.fromkeys(place for place in places if place))
    yield Text(f"{_source(offer)} · {where}" if where else _source(offer), style="dim")
    terms = "; ".join([*_machine(offer), *_terms(offer)])
    if terms:
        yield Text(terms, style="dim")
    if listed.derived is not None:
        text = (
            _("derived: {amount} a GPU and hour {why}")
            if offer.gpus
            else _("derived: {amount} an hour {why}")
        )
        yield Text(text.format(amount=listed.derived.amount, why=listed.derived.why), style="dim italic")
    for doubt in listed.doubts:
        if doubt.code not in ("stale", "undated"):  # these stand in the row itself
            yield Text.assemble((_("careful"), "yellow"), ": ", doubt.text)


def _source(row: Offer | Disk | Egress) -> str:
    return row.source + (f", {row.seen.isoformat()}" if row.seen else "")


def _terms(offer: Offer) -> Iterator[str]:
    if offer.kind is LeaseKind.LOT and offer.renewal is not Word.SAME:
        if offer.renewable:
            yield _("a following term: {price}").format(price=offer.renewal_price or _("unknown"))
        else:
            yield _("no following term")
    if offer.unit is not None:
        yield _("billed by {unit}").format(unit=_length(offer.unit))
    if offer.minimum:
        yield _("at least {minimum}").format(minimum=_length(offer.minimum))
    for part, price in (offer.by_hour or {}).items():
        yield _by_hour(part, price)
    if offer.lead:
        yield _("to be had after {lead}").format(lead=_length(offer.lead))
    if offer.capacity is not None:
        yield _("{count} left").format(count=offer.capacity)


def _machine(offer: Offer) -> Iterator[str]:
    if offer.cpus is not None and offer.gpus:
        yield ngettext("{n} CPU", "{n} CPUs", offer.cpus).format(n=offer.cpus)
    if offer.ram is not None:
        yield _("{size} of RAM").format(size=show_bytes(offer.ram))
    if offer.disk is not None:
        yield _("disk {name}").format(name=offer.disk)
    if offer.egress is not None:
        yield _("egress {name}").format(name=offer.egress)


def _by_hour(part: str, price: Money | Word | None) -> str:
    if price is Word.NONE:
        return _("not from {part} h").format(part=part)
    return _("{price} from {part} h").format(price=price or _("unknown"), part=part)


def _disks(file: Offers, today: date) -> Iterator[RenderableType]:
    rows = [
        (disk.name, _disk_price(disk), _sizes(disk), _age(disk.seen, age_days(disk, today)))
        for disk in file.disks
    ]
    if rows:
        below = [(Text(_source(disk), style="dim"),) for disk in file.disks]
        yield _section(_("Disks, for 1 GB and a month of 730 h"), rows, below, [""] * len(rows))


def _disk_price(disk: Disk) -> str:
    price = str(disk.price) if disk.price is not None else _("price unknown")
    if disk.stopped is Word.SAME:
        return price
    if not disk.outlives_machine:
        return _("{price}, gone with its machine").format(price=price)
    stopped = disk.stopped_price or _("unknown")
    return _("{price}, {stopped} while stopped").format(price=price, stopped=stopped)


def _sizes(disk: Disk) -> str:
    if disk.smallest is None and disk.largest is None:
        return ""
    sizes = [show_bytes(size) if size else "?" for size in (disk.smallest, disk.largest)]
    return _("{smallest} to {largest}").format(smallest=sizes[0], largest=sizes[1])


def _egress(file: Offers, today: date) -> Iterator[RenderableType]:
    rows = [
        (
            row.name,
            "" if row.to == "internet" else _("to {place}").format(place=row.to),
            _traffic(row),
            _age(row.seen, age_days(row, today)),
        )
        for row in file.egress
    ]
    if rows:
        below = [(Text(_source(row), style="dim"),) for row in file.egress]
        yield _section(
            _("Egress, for 1 GB; to the internet where nothing else is said"), rows, below, [""] * len(rows)
        )


def _traffic(row: Egress) -> str:
    text = str(row.price) if row.price is not None else _("price unknown")
    if row.free is not None:
        text = _("{price}, {free} free").format(price=text, free=show_bytes(row.free))
    if row.tiers:
        text = _("{price}, tiers").format(price=text)
    return text
