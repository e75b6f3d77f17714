"""What the risk of a candidate is drawn from: its calendar, and the machines that are paid for."""

from __future__ import annotations

from dataclasses import replace

from lastro.billing import LeaseKind
from lastro.locale import _
from lastro.plan.bill import machine_lanes
from lastro.plan.candidates import Candidate
from lastro.plan.draws import Draws, Held, Machine
from lastro.plan.risk import Risk, assess_risk
from lastro.units import Money


def risk_of(one: Candidate, *, window_hours: float | None, budget: Money | None, seed: int) -> Risk:
    """Return the risk of a candidate. A chance is unknown where the end, or the cost, is not known whole.

    Args:
        one: laid out and priced.
        window_hours: as for `assess_risk`.
        budget: the same.
        seed: the same.
    """
    risk = assess_risk(draws_of(one), window_hours=window_hours, budget=budget, seed=seed)
    if one.calendar.total is None:
        text = _("a part of the calendar has no duration")
        return replace(risk, p_late=None, p_over_budget=None, unknown=(*risk.unknown, text))
    why = _cost_unknown(one)
    return replace(risk, p_over_budget=None, unknown=(*risk.unknown, why)) if why else risk


def _cost_unknown(one: Candidate) -> str | None:
    """Say why it cannot be told how often a candidate is too dear; None: it can."""
    cost = one.bill.cost
    if cost.total is None:
        return cost.why or _("its cost is unknown")
    if cost.high is None:
        return _("what it costs when everything takes long is unknown")
    if one.offer.by_hour:
        return _("its prices go by the hour of the day, and draws have one price")
    return None


def draws_of(one: Candidate) -> Draws:
    """Return the draws of a candidate: order and lanes as laid out, what does not depend on time beside."""
    lanes = machine_lanes(one.calendar, one.offer)
    size = one.offer.machines if one.offer.kind is LeaseKind.LOT else 1
    groups = [lanes[first : first + size] for first in range(0, len(lanes), size)]
    places = {lane: place for place, lane in enumerate(one.calendar.lanes)}
    machines = tuple(
        Machine(
            lease=one.offer.lease(),
            lanes=tuple(places[lane] for lane in group),
            boot_seconds=one.offer.boot_seconds,
            held=Held.END if one.offer.kind is LeaseKind.LOT else one.bill.held,
            renewal=one.offer.renewal_price,
        )
        for group in groups
    )
    return Draws(intervals=one.calendar.drawn, machines=machines, other=_other(one))


def _other(one: Candidate) -> Money | None:
    """Return what is paid beside machines; None: nothing, or nothing that is known in their currency."""
    price = one.offer.machine_price
    amounts = [line.amount for line in one.bill.cost.lines if line.kind != "machine" and line.amount]
    total: Money | None = None
    for amount in amounts:
        if price is not None and amount.currency == price.currency:
            total = amount if total is None else total + amount
    return total
