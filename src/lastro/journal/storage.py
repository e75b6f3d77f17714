"""Lines of the bill for disks and moved data, by the prices that the frozen plan holds. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from lastro.billing import storage
from lastro.clock import from_iso
from lastro.journal.events import EventType
from lastro.journal.streams import Event
from lastro.journal.views import CostLine, MachineView, StillBilled
from lastro.locale import _
from lastro.records import dataclass
from lastro.units import Money, show_bytes, show_duration

#: Lines of a plan's bill that are moved data.
_MOVED = ("egress", "ingress")


@dataclass(frozen=True, kw_only=True)
class _Period:
    """From when until when a plan was the frozen one. `hours` None: a clock was set back between."""

    tariff: Mapping[str, Any]
    hours: Decimal | None


def storage_lines(
    home: Sequence[Event], machines: Sequence[MachineView], until: datetime, *, running: bool
) -> tuple[CostLine, ...]:
    """Return a line for each disk tariff that was the frozen one, for the time in which it was.

    The disk is counted from the freezing, which is written on it, until `until`: that it was deleted nobody
    has told. Its size is the one that the plan has rented. Hours in which a machine holds it are those of the
    machines, which may hold it one after the other or together.
    """
    periods = _periods(home, until)
    held = _held_hours(machines)
    lines = []
    for number, period in enumerate(periods):
        # What machines were rented for is not told by period: the price while held goes to the first ones.
        busy = None if held is None or period.hours is None else min(held, period.hours)
        held = held if held is None or busy is None else held - busy
        lines.append(_line(period, busy, running=running and number == len(periods) - 1))
    return tuple(lines)


def _periods(home: Sequence[Event], until: datetime) -> list[_Period]:
    told = [
        (event.at, (event.facts["plan"].get("tariffs") or {}).get("disk"))
        for event in home
        if event.type in (EventType.PLAN_FROZEN, EventType.PLAN_REVISED)
    ]
    changes = [one for at, one in enumerate(told) if at == 0 or told[at - 1][1] != one[1]]
    found = []
    for number, (at, tariff) in enumerate(changes):
        end = from_iso(changes[number + 1][0]) if number + 1 < len(changes) else until
        seconds = (end - from_iso(at)) / timedelta(seconds=1)
        hours = Decimal(str(seconds)) / 3600 if seconds >= 0 else None
        if tariff is not None:
            found.append(_Period(tariff=tariff, hours=hours))
    return found


def _held_hours(machines: Sequence[MachineView]) -> Decimal | None:
    """Return for how long machines were rented, in all; None where it is unknown of one."""
    uses = [machine.seconds for machine in machines if machine.created_at is not None]
    known = [Decimal(str(use)) for use in uses if use is not None]
    return sum(known, Decimal(0)) / 3600 if len(known) == len(uses) else None


def _line(period: _Period, held: Decimal | None, *, running: bool) -> CostLine:
    tariff = period.tariff
    size, count = tariff["bytes"], int(tariff["disks"])
    price = Money.from_json(tariff["price"]) if tariff["price"] else None
    amount, reason = _amount(period, held, price)
    name = f"{count} × {tariff['name']}" if count > 1 else str(tariff["name"])
    shown = show_duration(timedelta(hours=float(period.hours))) if period.hours is not None else _("unknown")
    return CostLine(
        what=_("disk {name}").format(name=name),
        quantity=_("{size} for {time}").format(
            size=show_bytes(size) if size is not None else _("unknown size"), time=shown
        ),
        amount=amount,
        source=_source(tariff),
        reason=reason,
        running=running,
        kind="disk",
        unit_price=price,
        per=_("GB and month"),
        origin="planned",
        ref=str(tariff["name"]),
    )


def _source(tariff: Mapping[str, Any]) -> str:
    return f"{tariff['source']}, {tariff['seen']}" if tariff["seen"] else str(tariff["source"])


def _amount(period: _Period, held: Decimal | None, price: Money | None) -> tuple[Money | None, str | None]:
    tariff, hours = period.tariff, period.hours
    name = tariff["name"]
    if hours is None:
        return None, _("for how long disk {name} was there is unknown: a clock was set back").format(
            name=name
        )
    if tariff["bytes"] is None:
        return None, _("the size of disk {name} is unknown").format(name=name)
    stopped = Money.from_json(tariff["stopped"]) if tariff["stopped"] else None
    if price is None or (tariff["outlives"] and stopped is None):
        return None, _("disk {name} has no price").format(name=name)
    if held is None and (stopped != price or not tariff["outlives"]):
        return None, _("for how long a machine held disk {name} is unknown").format(name=name)
    busy = held if held is not None else hours
    total = storage(price, tariff["bytes"], busy)
    if tariff["outlives"] and stopped is not None:
        total += storage(stopped, tariff["bytes"], hours - busy)
    return total.times(int(tariff["disks"])), None


def storage_that_stays(plan: Mapping[str, Any] | None) -> tuple[StillBilled, ...]:
    """Return the disk of the plan, which is paid until somebody deletes it; empty when none is rented."""
    tariff = ((plan or {}).get("tariffs") or {}).get("disk")
    if tariff is None or not tariff["outlives"]:
        return ()
    price = Money.from_json(tariff["stopped"]) if tariff["stopped"] else None
    return (
        StillBilled(
            what=_("disk {name}").format(name=tariff["name"]),
            unit_price=price,
            per=_("GB and month"),
            why=_("it is paid until it is deleted, which lastro never does"),
        ),
    )


def transfer_lines(home: Sequence[Event]) -> Iterator[CostLine]:
    """Yield a line for each move of the plan that somebody bills, once anything was rented.

    Bytes are those that the campaign file declares, at the price of the plan that first held the move: nobody
    measures what a provider counts.
    """
    if all(event.type is not EventType.MACHINE_CREATED for event in home):
        return
    found: dict[tuple[str, str, str], Mapping[str, Any]] = {}
    current: set[tuple[str, str, str]] = set()
    for event in home:
        if event.type in (EventType.PLAN_FROZEN, EventType.PLAN_REVISED):
            moves = {(one["kind"], one["name"], one["quantity"]): one for one in _moves(event.facts["plan"])}
            current = set(moves)
            found = {**moves, **found}
    for key, line in found.items():
        if key in current:
            yield CostLine(
                what=str(line["name"]),
                quantity=str(line["quantity"]),
                amount=Money.from_json(line["amount"]) if line["amount"] else None,
                source=str(line["why"]),
                reason=None if line["amount"] else str(line["why"]),
                kind=str(line["kind"]),
                origin="declared",
                ref=str(line["name"]),
            )


def _moves(plan: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    option = plan.get("option") or ""
    taken = next((one for one in plan.get("options") or () if one.get("name") == option), None)
    return [line for line in taken["cost"]["lines"] if line["kind"] in _MOVED] if taken else []
