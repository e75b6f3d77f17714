"""What is to be known of the disk that is rented: whether it is worth its price, where it is, who has it."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from lastro.billing import HOURS_OF_A_MONTH
from lastro.locale import _
from lastro.plan.bill import disk_for, machine_lanes, show_hours
from lastro.plan.candidates import Candidate
from lastro.plan.disk_need import Measured, had_again
from lastro.plan.keep_or_download import keep_or_download
from lastro.plan.levels import NOTE, WARN
from lastro.plan.parts import DiskNeed, Finding
from lastro.plan.traffic import Move, move_of, out_again
from lastro.plan.waiting import Waiting, cpu_machine, waits
from lastro.records import dataclass
from lastro.spec.campaign import Campaign
from lastro.spec.disks import Disk
from lastro.spec.offers import Offer, Offers
from lastro.spec.prices import GB
from lastro.spec.stage import HOME, MACHINE, Stage
from lastro.units import Money, show_bytes

#: Providers whose machines are processes of this box, and share its disk.
_THIS_BOX = ("here", "local")


def findings(
    campaign: Campaign, market: Offers, measured: Measured, taken: Candidate, need: DiskNeed
) -> Iterator[Finding]:
    """Return what is to be known of the disk beside the machines that are taken."""
    row = disk_for(market, taken.offer)
    again = _again(campaign, market, measured, taken.offer)
    if row is not None:
        yield from _of_life(row)
        yield from _of_zone(taken.offer, row)
        if again is not None and need.recommended is not None:
            yield from _of_keeping(taken, row, again, need.recommended)
    if campaign.provider not in _THIS_BOX:
        yield from _of_each(campaign, measured, taken, row, again)


def _of_life(row: Disk) -> Iterator[Finding]:
    if not row.outlives_machine:
        text = _("{disk} does not outlive its machine: what lies on it is gone with the machine").format(
            disk=row.name
        )
        yield Finding(code="disk_ends_with_machine", level=WARN, text=text)


def _of_zone(offer: Offer, row: Disk) -> Iterator[Finding]:
    if row.zone is not None and offer.zone is None:
        text = _("{disk} can be held in {zone} only, and {offer} does not say in which zone it is").format(
            disk=row.name, zone=row.zone, offer=offer.name
        )
        yield Finding(code="zone_unknown", level=WARN, text=text)


# --- another download ---------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Again:
    """One more download: its bytes and hours, who waits and what that costs, and what leaves the other place.

    `waiting` None: no machine waits, or its price is unknown. `out` None: it is unknown.
    """

    bytes: int
    hours: float
    machine: str
    waiting: Waiting | None
    out: Money | None
    out_is_free: bool

    @property
    def total(self) -> Money | None:
        """What it costs in all; None: a part is unknown, or is in another currency."""
        if self.waiting is None:
            return None
        if self.out_is_free:
            return self.waiting.amount
        if self.out is None or self.out.currency != self.waiting.amount.currency:
            return None
        return self.waiting.amount + self.out


def _again(campaign: Campaign, market: Offers, measured: Measured, taken: Offer) -> _Again | None:
    """Return another download of weights and dataset, at the rate of the stage that downloads."""
    stage = _download(campaign)
    if stage is None or stage.moves is None:
        return None
    size = had_again(campaign, measured) or stage.moves.size
    machine = taken if stage.gpu else cpu_machine(market)
    hours = stage.moves.rate.hours(size).likely
    move: Move = move_of("", size, stage.moves.origin, MACHINE)
    out = out_again(market, taken, move)
    return _Again(
        bytes=size,
        hours=hours,
        machine=machine.name if machine else "",
        waiting=waits(machine, hours) if machine else None,
        out=out.amount if out else None,
        out_is_free=out is None,
    )


def _download(campaign: Campaign) -> Stage | None:
    """Return the stage that downloads: the one that says so, else the first that brings data to a machine."""
    found = [
        stage
        for stage in campaign.stages.values()
        if stage.moves is not None and stage.moves.to == MACHINE and stage.moves.origin != HOME
    ]
    return next((stage for stage in found if stage.does == "download"), found[0] if found else None)


def _of_keeping(taken: Candidate, row: Disk, again: _Again, size: int) -> Iterator[Finding]:
    total, price = again.total, row.stopped_price
    if total is None or price is None or price.currency != total.currency:
        return
    an_hour = price.times(Decimal(size) / GB / HOURS_OF_A_MONTH)
    end = max((slot.end_hours for slot in taken.calendar.slots), default=0.0)
    found = keep_or_download(again=total, an_hour=an_hour, kept_hours=Decimal(repr(round(end, 9))))
    if found.longest_gap_hours is None or found.sessions is None:
        return
    text = _(
        "{disk} of {size} costs {day} a day while no machine holds it, downloading {bytes} again {again} "
        "({hours} of {machine}): up to {gap} between two sessions the disk is cheaper; kept through all "
        "{end} of the calendar, from {sessions} sessions on"
    ).format(
        disk=row.name,
        size=show_bytes(size),
        day=an_hour.times(24),
        bytes=show_bytes(again.bytes),
        again=total,
        hours=show_hours(again.hours),
        machine=again.machine,
        gap=show_hours(found.longest_gap_hours),
        end=show_hours(end),
        sessions=found.sessions,
    )
    yield Finding(code="keep_or_download", level=NOTE, text=text)


# --- a disk for each machine ----------------------------------------------------------------------------


def _of_each(
    campaign: Campaign, measured: Measured, taken: Candidate, row: Disk | None, again: _Again | None
) -> Iterator[Finding]:
    """Machines beside each other need a disk each, or one that all of them hold; each has to be filled."""
    machines = len(machine_lanes(taken.calendar, taken.offer))
    attach = row.attach if row else 1
    disks = -(-machines // attach)
    if disks < 2:
        return
    size = had_again(campaign, measured) + (measured.corpus.bytes if measured.corpus else 0)
    text = _("{machines} machines at once need {disks} disks ({disk}, held by {attach} at once)").format(
        machines=machines,
        disks=disks,
        disk=row.name if row else _("no row of disks says more"),
        attach=attach,
    )
    price = _price_of_more(taken, disks)
    if price is not None:
        text += _("; {price} of the cost are for all but the first").format(price=price)
    if size:
        text += _("; {size} have to be brought to each").format(size=show_bytes(size))
    if size and again is not None:
        cost = again.total.times(disks - 1) if again.total else _("an unknown amount")
        text += _(": {more} × {hours} and {cost} that the calendar does not count").format(
            more=disks - 1, hours=show_hours(again.hours * size / again.bytes), cost=cost
        )
    yield Finding(code="disk_for_each", level=WARN, text=text)


def _price_of_more(taken: Candidate, disks: int) -> Money | None:
    """Return what all disks but the first add to the bill; None: there is no such line, or it is unknown."""
    line = next((line for line in taken.bill.cost.lines if line.kind == "disk" and line.amount), None)
    if line is None or line.amount is None:
        return None
    return line.amount.times(Decimal(disks - 1) / disks)
