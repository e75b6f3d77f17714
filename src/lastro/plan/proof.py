"""What nothing can undercut: a proven lower bound of what a protocol costs, over all offers together.

The problem that is solved is easier than the truth wherever the two differ, so that its bound holds: whole
ticks are rounded down, a lot may be given back before the outputs are collected, a machine is there at once,
disks are paid only while a machine is held, and disk and traffic of unknown price cost nothing. Offers whose
own price is unknown, or in a currency without a rate, are left out: no bound can be told of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from decimal import ROUND_FLOOR, Decimal

from lastro.billing import LeaseKind
from lastro.locale import _
from lastro.plan.bill import disk_for
from lastro.plan.calendar import Calendar, Placement, calendar_of
from lastro.plan.candidates import Protocol, Question
from lastro.plan.disk_need import disk_need, peak_of
from lastro.plan.eligible import Peak, refusal
from lastro.plan.intervals import CPU, GPU, PERSON, Interval, Work, hours_on
from lastro.plan.on_spot import on_spot
from lastro.plan.solve import NORMAL, Effort, NoPlan, Package, Problem, Solution, Task, solve
from lastro.plan.traffic import moves_of, traffic_lines
from lastro.records import dataclass
from lastro.spec.durations import Hours
from lastro.spec.offers import Offer
from lastro.spec.rates import convert
from lastro.units import Money

_HOUR = 3600
_MICRO = Decimal("0.000001")
_GB = 10**9
#: A month is 730 hours, as `spec.disks` bills it.
_MONTH = 730
#: So many ticks hold the longest plan; more would only make the solver slow.
_MOST_TICKS = 200_000


@dataclass(frozen=True, kw_only=True)
class Mixture:
    """A plan of several offers, as the solver found it: what is held of each, and the calendar."""

    held: tuple[tuple[Offer, float, Money], ...]
    calendar: Calendar
    cost: Money


@dataclass(frozen=True, kw_only=True)
class Proof:
    """No plan for this protocol costs less than `bound`; None: nothing could be proven. `why` says how.

    `within_window`: it holds for plans that end within the window, and says nothing of later ones. `mixture`:
    the cheapest plan that was found, when it takes more than one offer.
    """

    bound: Money | None
    why: str
    within_window: bool = False
    mixture: Mixture | None = None


#: A first look settles most plans: nothing undercuts the cheapest option. Work is spent on the others.
_LOOK = Effort(lists=40, nodes=300, gap=0.005, rounds=1, work=0.05, enough=0.02)
#: So near to the bound nothing is left to be found.
_MET = Decimal("0.999")


def prove(
    question: Question, protocol: Protocol, *, window: bool, lanes: int, known: Money | None = None
) -> Proof:
    """Return what no plan for a protocol can undercut.

    Args:
        question: the campaign and what can be rented.
        protocol: what is done.
        window: whether it has to end within the window; where nothing does, the bound is for any length.
        lanes: the most machines at once.
        known: the cost of the cheapest candidate; where the bound meets it, the search ends.
    """
    asked = _Asked.of(question, protocol)
    if isinstance(asked, str):
        return Proof(bound=None, why=asked)
    limit = question.window_hours if window else None
    problem = asked.problem(limit, lanes)
    found = solve(problem, effort=_LOOK)
    if not asked.is_met(found, known):
        found = solve(problem, effort=NORMAL)
    if isinstance(found, NoPlan):
        return Proof(bound=None, why=found.why)
    bound = None if found.bound is None else asked.money(found.bound)
    return Proof(bound=bound, why=found.why, within_window=limit is not None, mixture=asked.mixture(found))


@dataclass(frozen=True, kw_only=True)
class _Kind:
    """One class of machines: an offer's card, whether it is spot, and what its intervals take there."""

    offers: tuple[Offer, ...]
    hours: Mapping[int, Hours]


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """A protocol as a problem in whole numbers, and the way back."""

    question: Question
    work: Work
    kinds: Mapping[str, _Kind]
    tick: int
    currency: str

    @classmethod
    def of(cls, question: Question, protocol: Protocol) -> _Asked | str:
        """Return it; a text says why it cannot be asked."""
        work = protocol.work
        if work.unplaced:
            return _("a duration is unknown, so nothing is proven")
        if question.currency is None:
            return _("no price is known, so nothing is proven")
        kinds = _kinds(question, work)
        if not kinds:
            return _("no offer with a price can be taken")
        tick = _tick(question, work, kinds)
        if tick is None:
            return _("the shortest stage is too short beside the longest for whole ticks")
        return cls(question=question, work=work, kinds=kinds, tick=tick, currency=question.currency)

    def problem(self, window: float | None, lanes: int) -> Problem:
        return Problem(
            tasks=self._tasks(),
            packages=tuple(
                self._package(name, offer) for name, kind in self.kinds.items() for offer in kind.offers
            ),
            ticks_per_hour=_HOUR // self.tick,
            window_ticks=None if window is None else math.ceil(round(window * _HOUR / self.tick, 6)),
            lanes=lanes,
        )

    def is_met(self, found: Solution | NoPlan, known: Money | None) -> bool:
        """Say whether a bound is as high as what is known to be possible."""
        if isinstance(found, NoPlan):
            return found.proven
        if found.proven:
            return True
        if found.bound is None or known is None or known.currency != self.currency:
            return False
        return self.money(found.bound).amount >= known.amount * _MET

    def money(self, micro: int) -> Money:
        return Money(Decimal(micro) * _MICRO, self.currency)

    # --- to the solver --------------------------------------------------------------------------------

    def _ticks(self, hours: float) -> int:
        return max(1, math.floor(round(hours * _HOUR / self.tick, 6)))

    def _tasks(self) -> tuple[Task, ...]:
        out = self._bytes_out() // _GB
        last = max((i for i, one in enumerate(self.work.intervals) if one.holds == GPU), default=None)
        return tuple(
            self._task(index, one, out if index == last else 0)
            for index, one in enumerate(self.work.intervals)
        )

    def _task(self, index: int, one: Interval, out: int) -> Task:
        after = tuple(self.work.intervals[before].name for before in one.after)
        if one.holds != GPU:
            hours = hours_on(one, None)
            assert hours is not None, "what holds no card takes as long everywhere"
            alone = self._ticks(hours.likely)
            person = one.holds if one.holds in (PERSON, CPU) else None
            return Task(name=one.name, alone_ticks=alone, person=person, after=after)
        ticks = {
            name: self._ticks(kind.hours[index].likely)
            for name, kind in self.kinds.items()
            if index in kind.hours
        }
        return Task(name=one.name, ticks=ticks, after=after, never_spot=one.never_spot, out=out)

    def _package(self, name: str, offer: Offer) -> Package:
        price = _converted(self.question, _least_price(offer), self.currency)
        renewal = _converted(self.question, offer.renewal_price, self.currency)
        assert price is not None, "only offers with a price are asked about"
        return Package(
            name=offer.name,
            machine_class=name,
            kind=offer.kind,
            price=price,
            machines=offer.machines,
            unit_ticks=max(1, int(offer.unit.total_seconds()) // self.tick) if offer.unit else 1,
            minimum_ticks=int(offer.minimum.total_seconds()) // self.tick if offer.minimum else 0,
            term_ticks=math.ceil(offer.term.total_seconds() / self.tick) if offer.term else None,
            renewal=renewal,
            capacity=offer.capacity,
            holding=self._holding(offer),
            per_out=self._per_out(offer),
        )

    def _holding(self, offer: Offer) -> int:
        """Return micro-units of an hour of the disk that a machine holds; 0 where it is unknown."""
        row = disk_for(self.question.market, offer)
        if row is None:
            return 0
        need = disk_need(self.question.campaign, self.question.measured, row)
        prices = [price for price in (row.price, row.stopped_price) if price is not None]
        if need.recommended is None or not prices or row.attach > 1:
            return 0
        least = min(prices, key=lambda price: price.amount)
        hour = least.times(Decimal(need.recommended) / _GB / _MONTH)
        return _converted(self.question, hour, self.currency) or 0

    def _per_out(self, offer: Offer) -> int:
        """Return micro-units of a GB that leaves: what all of it costs, in equal shares; 0 when unknown."""
        count = self._bytes_out() // _GB
        lines = [*traffic_lines(self.question.campaign, self.question.market, offer, self.work)]
        amounts = [line.amount for line in lines if line.amount is not None]
        if not count or len({amount.currency for amount in amounts}) != 1:
            return 0
        total = sum((amount.amount for amount in amounts), Decimal(0))
        return (_converted(self.question, Money(total, amounts[0].currency), self.currency) or 0) // (
            count + 1
        )

    def _bytes_out(self) -> int:
        return sum(move.bytes for move in moves_of(self.question.campaign, self.work))

    # --- and back -------------------------------------------------------------------------------------

    def mixture(self, found: Solution) -> Mixture | None:
        """Return a solution that takes several offers; one that takes a single one is a candidate already."""
        packages = {one.machine: one.package for one in found.held}
        if len(set(packages.values())) < 2:
            return None
        offers = {offer.name: offer for kind in self.kinds.values() for offer in kind.offers}
        class_of = {offer.name: name for name, kind in self.kinds.items() for offer in kind.offers}
        lanes = {machine: f"{GPU} {place}" for place, machine in enumerate(sorted(packages), start=1)}
        index_of = {one.name: index for index, one in enumerate(self.work.intervals)}
        placed = []
        for one in sorted(found.placed, key=lambda each: (each.start, index_of[each.task])):
            index = index_of[one.task]
            interval = self.work.intervals[index]
            if one.machine is None:
                hours, lane = hours_on(interval, None), interval.holds
            else:
                hours = self.kinds[class_of[packages[one.machine]]].hours[index]
                lane = lanes[one.machine]
            assert hours is not None, "what was placed has a duration"
            placed.append(Placement(index=index, interval=interval, hours=hours, lane=lane))
        held = tuple(
            (offers[one.package], (one.end - one.start) * self.tick / _HOUR, self.money(one.cost))
            for one in found.held
        )
        calendar = calendar_of(self.work, placed, machines=len(lanes))
        return Mixture(held=held, calendar=calendar, cost=self.money(found.cost))


def _kinds(question: Question, work: Work) -> dict[str, _Kind]:
    """Return the classes of machines: offers on which the same intervals take the same time."""
    peak = peak_of(question.campaign, question.measured)
    grouped: dict[str, tuple[list[Offer], dict[int, Hours]]] = {}
    for offer in question.market.offers:
        if _converted(question, offer.machine_price, question.currency or "") is None or offer.gpus == 0:
            continue
        hours = _hours_on_offer(question, work, offer, peak)
        if not hours:
            continue
        shape = {index: (each.low, each.likely, each.high) for index, each in hours.items()}
        spot = offer.kind is LeaseKind.SPOT
        grouped.setdefault(f"{offer.gpu} {spot} {sorted(shape.items())}", ([], hours))[0].append(offer)
    return {
        f"class {place}": _Kind(offers=tuple(offers), hours=hours)
        for place, (offers, hours) in enumerate(grouped.values())
    }


def _hours_on_offer(question: Question, work: Work, offer: Offer, peak: Peak | None) -> dict[int, Hours]:
    """Return how long each interval that an offer can hold takes there, by its index."""
    spot = on_spot(question.campaign, offer, work)
    found = {}
    for index, one in enumerate(work.intervals):
        hours = hours_on(one, offer.gpu)
        if one.holds != GPU or hours is None:
            continue
        # Alone: an offer that is too small for another interval may still hold this one.
        alone = Work(intervals=(replace(one, after=()),), unplaced=())
        if refusal(question.campaign, question.market, offer, alone, peak) is None:
            found[index] = hours.times(spot.factors.get(index, 1.0))
    return found


def _tick(question: Question, work: Work, kinds: Mapping[str, _Kind]) -> int | None:
    """Return the seconds of a tick: a minute, or less where a stage is shorter; None: none is fine enough."""
    shortest, total = math.inf, 0.0
    for index, one in enumerate(work.intervals):
        durations = [kind.hours[index].likely for kind in kinds.values() if index in kind.hours]
        if one.holds != GPU:
            hours = hours_on(one, None)
            durations = [hours.likely] if hours else []
        if not durations:
            return None
        shortest, total = min(shortest, *durations, math.inf), total + max(durations)
    longest = max(total, question.window_hours or 0.0) * _HOUR
    for tick in (60, 30, 10, 5, 1):
        if shortest * _HOUR >= tick and longest / tick <= _MOST_TICKS:
            return tick
    return None


def _least_price(offer: Offer) -> Money | None:
    """Return the least that an hour, or a lot, can cost: in some hours of the day it may be less."""
    prices = [offer.machine_price, *offer.machine_by_hour.values()]
    known = [price for price in prices if price is not None]
    return min(known, key=lambda price: price.amount, default=None)


def _converted(question: Question, money: Money | None, currency: str) -> int | None:
    """Return an amount in whole micro-units of a currency, rounded down; None: unknown, or without a rate."""
    if money is None:
        return None
    amount = convert(money, currency, question.market.rates, question.on).amount
    return None if amount is None else int((amount.amount / _MICRO).to_integral_value(ROUND_FLOOR))
