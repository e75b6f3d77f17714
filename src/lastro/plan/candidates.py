"""Every offer that can be taken, laid out and priced: what options are chosen from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal

from lastro.billing import LeaseKind
from lastro.locale import _
from lastro.plan.bill import Bill, bill, disk_for, hourly_rate, unknown_bill
from lastro.plan.calendar import Calendar, lay_out
from lastro.plan.disk_need import Measured, disk_need, peak_of
from lastro.plan.eligible import refusal
from lastro.plan.intervals import GPU, Work, work_of
from lastro.plan.on_spot import OnSpot, on_spot
from lastro.plan.parts import REDUCED, WHOLE
from lastro.plan.shorter import shorter
from lastro.records import dataclass
from lastro.spec.campaign import Campaign, RunSpec
from lastro.spec.offers import Offer, Offers
from lastro.spec.rates import convert
from lastro.units import Money, show_duration


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """What is done: all but what is exploratory, or less. `left_out`: runs that are not done."""

    kind: str
    runs: tuple[str, ...]
    left_out: tuple[str, ...]
    work: Work


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One offer for all machines: its calendar and its bill. `compared`: its cost in the plan's currency.

    `compared` None: unknown, or in a currency for which no rate was given. `note`: what it hangs on.
    """

    offer: Offer
    machines: int
    protocol: Protocol
    calendar: Calendar
    bill: Bill
    compared: Money | None
    note: str | None = None

    @property
    def name(self) -> str:
        # As many as are rented: a calendar may need fewer machines than it may have.
        count = self.bill.holding.leases or self.machines
        text = f"{count} x {self.offer.name}" if count > 1 else self.offer.name
        if self.protocol.kind == REDUCED:
            return _("reduced, {offer}").format(offer=text)
        return text

    @property
    def ends_before(self) -> str | None:
        """Say that it is a lot that ends before the work does, and cannot be renewed; None: it does not."""
        terms = self.bill.holding.terms
        if self.offer.kind is not LeaseKind.LOT or self.offer.renewable or terms is None or terms < 2:
            return None
        assert self.offer.term is not None, "a lot has a term"
        return _("it lasts {term} and cannot be renewed, and the work takes longer").format(
            term=show_duration(self.offer.term)
        )

    @property
    def end_hours(self) -> float | None:
        return self.calendar.total.likely if self.calendar.total else None

    @property
    def rank(self) -> tuple[bool, Decimal, Decimal, float]:
        """Cheapest first; what is not known to be complete after all that is; the earlier of two alike.

        Where no cost is known, because a duration is not, what is cheaper by the hour comes first.
        """
        complete = self.bill.cost.total is not None and self.compared is not None
        rate = hourly_rate(self.offer.lease())
        never = Decimal("Infinity")
        return (
            not complete,
            self.compared.amount if self.compared else never,
            rate.amount if rate else never,
            self.end_hours or 0.0,
        )


@dataclass(frozen=True, kw_only=True)
class Question:
    """What candidates are made from: the campaign, what can be rented, what was measured, and when."""

    campaign: Campaign
    market: Offers
    measured: Measured
    now: datetime

    @property
    def on(self) -> date:
        """The day, for rates of exchange and the age of prices."""
        return self.now.date()

    @property
    def window_hours(self) -> float | None:
        window = self.campaign.window
        return window.total_seconds() / 3600 if window else None

    @property
    def currency(self) -> str | None:
        """The currency that costs are compared in: the budget's, else that of the first price."""
        if self.campaign.budget is not None:
            return self.campaign.budget.currency
        return next((offer.price.currency for offer in self.market.offers if offer.price), None)

    def affordable(self, known: Money | None, *, complete: bool) -> bool | None:
        """Say whether a cost is within the budget; None: it cannot be told.

        Args:
            known: in any currency; None: nothing is known of it.
            complete: whether it is all of the cost, or what is known of it.
        """
        budget = self.campaign.budget
        if budget is None or known is None or known.currency != budget.currency:
            return None
        if known.amount > budget.amount:
            return False
        return True if complete else None

    def refusals(self, work: Work) -> Mapping[str, str | None]:
        """Return why each offer cannot be taken for this work, by its name; None when it can."""
        peak = peak_of(self.campaign, self.measured)
        return {
            offer.name: refusal(self.campaign, self.market, offer, work, peak) for offer in self.market.offers
        }


def whole(campaign: Campaign) -> Protocol:
    """Return all runs but the exploratory ones, which start on request only."""
    runs = tuple(run.name for run in campaign.runs() if run.priority != "exploratory")
    return _protocol(campaign, WHOLE, runs)


def reductions(campaign: Campaign) -> Iterator[Protocol]:
    """Return what still answers the question, from most to least: useful runs fall away one after the other.

    A run that changes several things at once falls away first: it has no one cause to tell of. Of those that
    change as many, the last in the file.
    """
    useful = [run for run in campaign.runs() if run.priority == "useful"]
    useful.sort(key=lambda run: len(run.changes))
    required = [run.name for run in campaign.runs() if run.priority == "required"]
    order = [run.name for run in campaign.runs()]
    for count in range(len(useful), -1, -1):
        kept = {*required, *(run.name for run in useful[:count])}
        protocol = _protocol(campaign, REDUCED, tuple(name for name in order if name in kept))
        if protocol.left_out or _optional_stages(campaign):
            yield protocol


def _optional_stages(campaign: Campaign) -> bool:
    return any(stage.priority == "useful" for stage in campaign.stages.values())


def _protocol(campaign: Campaign, kind: str, runs: tuple[str, ...]) -> Protocol:
    skipped = [run.name for run in campaign.runs() if run.name not in runs and _counts(run)]
    work = work_of(campaign, runs, only_required=kind == REDUCED)
    return Protocol(kind=kind, runs=runs, left_out=tuple(skipped), work=work)


def _counts(run: RunSpec) -> bool:
    return run.priority != "exploratory"


def candidates(question: Question, protocol: Protocol, counts: Sequence[int]) -> list[Candidate]:
    """Return a candidate for each offer that can be taken and each number of machines, in their order."""
    refused = question.refusals(protocol.work)
    laid: dict[tuple[str | None, int, float], Calendar] = {}
    found = []
    for offer in question.market.offers:
        if refused[offer.name] is not None:
            continue
        lead = offer.lead.total_seconds() / 3600 if offer.lead else 0.0
        spot = on_spot(question.campaign, offer, protocol.work)
        for count in counts:
            if offer.capacity is not None and -(-count // offer.machines) > offer.capacity:
                continue
            key = (offer.gpu, count, lead)
            calendar = laid.get(key)
            if calendar is None or spot.factors:
                calendar = lay_out(
                    protocol.work, machines=count, gpu=offer.gpu, lead_hours=lead, factors=spot.factors
                )
                if not lead:
                    calendar = shorter(
                        protocol.work, calendar, machines=count, gpu=offer.gpu, factors=spot.factors
                    )
            if not spot.factors:
                laid[key] = calendar
            found.append(candidate(question, protocol, offer, count, calendar, spot))
    return found


def candidate(
    question: Question, protocol: Protocol, offer: Offer, count: int, calendar: Calendar, spot: OnSpot
) -> Candidate:
    """Return what a calendar on one offer costs."""
    if calendar.total is None:
        priced = unknown_bill(offer, _("a duration is unknown, so the cost is"))
    else:
        need = disk_need(question.campaign, question.measured, disk_for(question.market, offer))
        priced = bill(question.campaign, question.market, offer, protocol.work, calendar, need, question.now)
    if spot.unknown is not None and priced.cost.total is not None:
        # What is known is what it costs without a single interruption.
        unknown = replace(priced.cost, total=None, low=None, high=None, why=spot.unknown)
        priced = replace(priced, cost=unknown)
    return Candidate(
        offer=offer,
        machines=count,
        protocol=protocol,
        calendar=calendar,
        bill=priced,
        compared=_compared(question, priced),
        note=spot.note,
    )


def _compared(question: Question, priced: Bill) -> Money | None:
    known = priced.cost.total or priced.cost.at_least
    if known is None or question.currency is None:
        return known
    return convert(known, question.currency, question.market.rates, question.on).amount


def useful_counts(campaign: Campaign, work: Work) -> tuple[int, ...]:
    """Return the numbers of machines worth laying out: as many as the campaign has, and a pair of them.

    More machines than intervals that hold one are never of use.
    """
    most = max(1, sum(1 for one in work.intervals if one.holds == GPU))
    return tuple(sorted({campaign.machines, *(count for count in (1, 2) if count <= most)}))
