"""What is to be known of data: room on the disk, many small files, downloads that a paid machine waits for."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from decimal import Decimal

from lastro.billing import LeaseKind
from lastro.locale import _
from lastro.plan.bill import hourly_rate, show_hours
from lastro.plan.candidates import Candidate
from lastro.plan.disk_need import Measured
from lastro.plan.levels import NOTE, WARN
from lastro.plan.parts import DiskNeed, Finding
from lastro.plan.traffic import moves_of
from lastro.spec.campaign import Campaign
from lastro.spec.offers import Offer, Offers
from lastro.spec.stage import HOME, MACHINE
from lastro.units import Money, show_bytes

#: From here on opening files takes longer than reading them: measured in docs/benchmarks.md, Packing.
_MANY_FILES = 100_000
#: A file below this is small: a read of 1 MB costs little more than its opening.
_SMALL = 1_000_000


def findings(
    campaign: Campaign,
    market: Offers,
    measured: Measured,
    taken: Candidate | None,
    need: DiskNeed,
    today: date,
) -> Iterator[Finding]:
    """Return what is to be known of the campaign's data."""
    yield from _of_disk(campaign, need)
    yield from _of_files(need)
    if taken is not None:
        yield from _of_downloads(campaign, market, taken)
        yield from _of_places(campaign, market, taken)


def _of_disk(campaign: Campaign, need: DiskNeed) -> Iterator[Finding]:
    if need.needed is None:
        if campaign.stages:
            yield Finding(code="disk_unknown", level=NOTE, text=need.why)
        return
    if not need.complete:
        missing = [part for part in need.parts if part.bytes is None]
        text = _("the size of the disk counts no {parts}: {why}").format(
            parts=", ".join(part.name for part in missing), why=missing[0].why
        )
        yield Finding(code="disk_incomplete", level=WARN, text=text)
    if need.recommended is None:
        yield Finding(code="disk_too_large", level=WARN, text=need.why)
    size = campaign.disk.size if campaign.disk else None
    if size is not None and size < need.needed:
        text = _("the disk has {size}, {needed} are needed").format(
            size=show_bytes(size), needed=show_bytes(need.needed)
        )
        yield Finding(code="disk_too_small", level=WARN, text=text)
    if campaign.disk is None and campaign.provider != "here":
        text = _("no disk is named: what is on a machine is gone with it")
        yield Finding(code="no_disk", level=NOTE, text=text)


def _of_files(need: DiskNeed) -> Iterator[Finding]:
    for part in need.parts:
        if part.files is None or part.bytes is None or part.files < _MANY_FILES:
            continue
        if part.bytes / part.files < _SMALL:
            text = _(
                "{name}: {files} files of {size} on average: packed into a few large ones they are read in order, "
                "and moved in as many requests as there are packs"
            ).format(name=part.name, files=part.files, size=show_bytes(part.bytes // part.files))
            yield Finding(code="many_files", level=WARN, text=text)


def _of_downloads(campaign: Campaign, market: Offers, taken: Candidate) -> Iterator[Finding]:
    """Price each download at the machine that waits for it; a CPU machine waits for less."""
    rate = hourly_rate(taken.offer.lease())
    cpu = _cpu_machine(market)
    for name, stage in campaign.stages.items():
        if stage.moves is None or stage.moves.to != MACHINE or not stage.gpu:
            continue
        hours = stage.moves.rate.hours(stage.moves.size).likely
        if rate is None:
            continue
        waits = _of_hours(rate, hours)
        text = _("{stage} holds a GPU for {hours}, which is {cost} of {offer}").format(
            stage=name, hours=show_hours(hours), cost=waits, offer=taken.offer.name
        )
        cheap = hourly_rate(cpu.lease()) if cpu else None
        if cpu is not None and cheap is not None and cheap.currency == rate.currency:
            on_cpu = _of_hours(cheap, hours)
            if on_cpu.amount < waits.amount:
                text += _("; on {cpu} it would be {cost}: give it cpu: 1 instead of gpu").format(
                    cpu=cpu.name, cost=on_cpu
                )
        yield Finding(code="download_on_gpu", level=NOTE, text=text)


def _of_hours(rate: Money, hours: float) -> Money:
    return rate.times(Decimal(repr(round(hours, 9))))


def _cpu_machine(market: Offers) -> Offer | None:
    """Return the cheapest machine without a GPU that is rented by the hour; None: there is none."""
    found = [
        offer
        for offer in market.offers
        if offer.gpus == 0 and offer.kind is LeaseKind.HOURLY and offer.machine_price is not None
    ]
    return min(found, key=lambda one: one.machine_price.amount if one.machine_price else 0, default=None)


def _of_places(campaign: Campaign, market: Offers, taken: Candidate) -> Iterator[Finding]:
    """Name what is read from another region, every time that it is read."""
    region = taken.offer.region or taken.offer.zone
    for move in moves_of(campaign):
        if move.to != MACHINE or move.origin in (HOME, "internet") or region is None:
            continue
        if move.origin not in (region, taken.offer.zone, taken.offer.provider):
            text = _("{name} reads {quantity} from {origin}, and {offer} is in {region}").format(
                name=move.name,
                quantity=move.quantity,
                origin=move.origin,
                offer=taken.offer.name,
                region=region,
            )
            yield Finding(code="other_region", level=WARN, text=text)
