"""Options of several offers: what the solver found, and one machine that stays beside spot ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from lastro.locale import _
from lastro.plan.bill import show_hours
from lastro.plan.candidates import Candidate, Question
from lastro.plan.eligible import on_demand_twin
from lastro.plan.intervals import GPU, hours_on
from lastro.plan.lifetimes import Lifetimes
from lastro.plan.on_spot import lifetimes_of, spot_work
from lastro.plan.parts import Cost, CostLine, Holding, Option, Span
from lastro.plan.proof import Mixture
from lastro.plan.spot import compare
from lastro.plan.spot_group import Group, expect_group
from lastro.plan.spot_lives import Work as SpotWork
from lastro.plan.unpriced import NOTHING_LEFT, unpriced
from lastro.records import dataclass
from lastro.spec.offers import Offer
from lastro.units import Money

MIXTURE, GROUP = "mixture", "mixed group"


def mixture(question: Question, found: Mixture, bound: Money | None, best: Candidate) -> Option:
    """Return the option of several offers; its disk and traffic are those that the solver counted."""
    lines = tuple(
        CostLine(
            kind="machine",
            name=offer.name,
            quantity=_("held for {hours}").format(hours=show_hours(hours)),
            amount=cost,
            why=_("with its disk and its traffic ({source})").format(source=offer.source),
        )
        for offer, hours, cost in found.held
    )
    assert best.compared is not None, "it was compared"
    saved = Money(best.compared.amount - found.cost.amount, found.cost.currency)
    window, total = question.window_hours, found.calendar.total
    gap = None if bound is None else max(0.0, float((found.cost.amount - bound.amount) / found.cost.amount))
    return replace(
        unpriced(" + ".join(dict.fromkeys(offer.name for offer, _h, _c in found.held)), "mixture", 0, ""),
        roles=(MIXTURE,),
        offered=True,
        offer=None,
        why=_("{saved} less than {best}, by several offers").format(saved=saved, best=best.name),
        machines=len(found.held),
        holdings=tuple(
            Holding(
                offer=offer.name,
                kind=offer.kind.value,
                gpu=offer.gpu,
                leases=1,
                machines=1,
                terms=None,
                hours=round(hours, 9),
            )
            for offer, hours, _cost in found.held
        ),
        cost=Cost(total=found.cost, low=None, high=None, at_least=found.cost, lines=lines),
        end=total,
        slack_hours=None if window is None or total is None else round(window - total.likely, 9),
        fits_window=None if window is None or total is None else total.likely <= window,
        bound=bound,
        gap=gap,
        proven=gap is not None and gap <= NOTHING_LEFT,
        notes=(_("`lastro run` takes one offer: a mixture is a campaign for each, planned by hand"),),
        calendar=found.calendar.slots,
    )


def groups(question: Question, spot: Candidate) -> Iterator[Option]:
    """Return one machine on demand and the others on spot, for work that divides among them.

    Nothing where the campaign has one machine, or where nothing stands on demand beside the spot offer. The
    figures are expectations; the work is all that holds a GPU.
    """
    beside = _beside(question, spot)
    if beside is None or question.campaign.machines < 2:
        return
    found = expect_group(
        beside.work,
        beside.twin.lease(),
        spot.offer.lease(),
        beside.lives,
        nodes=question.campaign.machines - 1,
        away=beside.away,
    )
    yield _group(question, beside.twin, spot, found)


def against_on_demand(question: Question, spot: Candidate) -> str | None:
    """Say which of spot and on demand is expected to cost less, and where they meet; None: there is one."""
    beside = _beside(question, spot)
    if beside is None:
        return None
    found = compare(
        beside.work,
        spot.offer.lease(),
        beside.twin.lease(),
        beside.lives,
        away=beside.away,
        window=question.window_hours,
    )
    if found.break_even is None:
        return found.why
    return _("{why}; both cost the same at {price} an hour of spot").format(
        why=found.why, price=found.break_even
    )


@dataclass(frozen=True, kw_only=True)
class _Beside:
    """What stands on demand beside a spot offer, and all that holds a GPU as work on it. `away`: hours."""

    twin: Offer
    lives: Lifetimes
    work: SpotWork
    away: float | None


def _beside(question: Question, spot: Candidate) -> _Beside | None:
    twin, lives = on_demand_twin(question.market, spot.offer), lifetimes_of(spot.offer)
    intervals = [one for one in spot.protocol.work.intervals if one.holds == GPU]
    if twin is None or lives is None or any(one.never_spot for one in intervals):
        return None
    hours = [hours_on(one, spot.offer.gpu) for one in intervals]
    work = spot_work(question.campaign, spot.offer, sum(each.likely for each in hours if each), lives)
    away = question.campaign.interruption.away
    if work is None:
        return None
    return _Beside(
        twin=twin, lives=lives, work=work, away=None if away is None else away.total_seconds() / 3600
    )


def _group(question: Question, twin: Offer, spot: Candidate, found: Group) -> Option:
    name = f"{twin.name} + {found.nodes} x {spot.offer.name}"
    text = _("one machine stays, {nodes} are on spot: {why}").format(nodes=found.nodes, why=found.why)
    window = question.window_hours
    late = None if window is None or found.end is None else found.end <= window
    holdings = tuple(
        Holding(
            offer=offer.name,
            kind=offer.kind.value,
            gpu=offer.gpu,
            leases=count,
            machines=1,
            terms=None,
            hours=round(count * (found.end or 0.0), 9),
        )
        for offer, count in ((twin, 1), (spot.offer, found.nodes))
    )
    line = CostLine(
        kind="machine",
        name=name,
        quantity=_("unknown") if found.end is None else show_hours(found.end),
        amount=found.cost,
        why=found.why,
    )
    total = found.cost
    return replace(
        unpriced(name, GROUP, found.nodes + 1, text),
        roles=(GROUP,),
        offered=found.end is not None,
        offer=None,
        holdings=holdings,
        cost=Cost(total=total, low=None, high=None, at_least=total, lines=(line,), why=found.why),
        end=None if found.end is None else Span(low=found.end, likely=found.end, high=found.end),
        slack_hours=None if window is None or found.end is None else round(window - found.end, 9),
        fits_window=late,
        fits_budget=question.affordable(total, complete=True),
        notes=(
            _("machines alone, without disk and traffic; the work is taken to divide among the machines"),
            _("`lastro run` takes one offer: a group is a campaign for each, planned by hand"),
        ),
    )
