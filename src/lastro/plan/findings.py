"""What a reader of the plan should know: what is missing, what does not fit, what cannot be concluded."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from lastro.locale import _
from lastro.plan import (
    findings_of_data,
    findings_of_design,
    findings_of_hosts,
    findings_of_paths,
    findings_of_time,
)
from lastro.plan.bill import show_hours
from lastro.plan.calendar import Calendar
from lastro.plan.candidates import Candidate
from lastro.plan.checklist import findings_of_checklist, needed_of, states
from lastro.plan.disk_need import Measured
from lastro.plan.ladder import not_reached
from lastro.plan.levels import FAIL, NOTE, WARN
from lastro.plan.options import Options
from lastro.plan.parts import REDUCED, DiskNeed, Finding
from lastro.plan.second_path import reached_by
from lastro.records import dataclass
from lastro.spec.campaign import Campaign
from lastro.spec.checklist import Checklist
from lastro.spec.doubts import doubts
from lastro.spec.offers import Offers


@dataclass(frozen=True, kw_only=True)
class Known:
    """All that findings are made from."""

    campaign: Campaign
    market: Offers
    measured: Measured
    calendar: Calendar
    chosen: Options
    need: DiskNeed
    protocol: str
    now: datetime
    checklist: Checklist | None = None

    @property
    def taken(self) -> Candidate | None:
        return self.chosen.taken


def findings(known: Known) -> tuple[Finding, ...]:
    """Return all findings on a plan, what makes it impossible first."""
    found = [
        *_of_window(known),
        *_of_money(known),
        *_of_prices(known),
        *findings_of_design.findings(known.campaign),
        *findings_of_time.findings(
            [(one.offer, one.calendar) for one in known.chosen.offered], known.now, known.campaign.window
        ),
        *findings_of_paths.findings(known.campaign, known.market, known.taken),
        *_of_second_paths(known),
        *findings_of_hosts.findings(known.campaign, known.market, known.chosen),
        *findings_of_data.findings(known.campaign, known.market, known.measured, known.taken, known.need),
        *_of_checklist(known),
        *(
            Finding(code="duration_unknown", level=NOTE, text=f"{item.stage} {item.run or ''}: {item.why}")
            for item in known.calendar.unplaced
        ),
    ]
    order = [FAIL, WARN, NOTE]
    return tuple(sorted(found, key=lambda finding: order.index(finding.level)))


def _of_second_paths(known: Known) -> Iterator[Finding]:
    """Tell which second path leads to no offer that could be taken: it would never be gone."""
    if known.taken is None:
        return
    for stage, offer, why in not_reached(known.campaign, known.market, known.chosen):
        text = _("the plan B of {stage}, {offer}, cannot be taken: {why}").format(
            stage=stage, offer=offer, why=why
        )
        yield Finding(code="plan_b_refused", level=WARN, text=text)


def _of_checklist(known: Known) -> Iterator[Finding]:
    """Tell what is open with the providers that the plan would rent from, where a checklist is kept."""
    if known.checklist is None:
        return
    taken = [known.taken.offer] if known.taken is not None else []
    second = [offer for path in known.campaign.plan_b.values() for offer in reached_by(known.market, path)]
    total = known.calendar.total
    until = known.now + timedelta(hours=total.high) if total is not None else known.now
    needed = needed_of([*taken, *second], known.campaign.machines, known.campaign.jurisdictions, until.date())
    yield from findings_of_checklist(states(known.checklist, needed, known.now.date()))


def _of_window(known: Known) -> Iterator[Finding]:
    total = known.calendar.total
    if known.campaign.window is None:
        text = _("no window: nothing says when the campaign has to be over")
        yield Finding(code="no_window", level=NOTE, text=text)
        return
    if total is None:
        return
    window = known.campaign.window.total_seconds() / 3600
    if total.likely > window:
        text = _("the calendar takes {likely}, the window is {window}: {over} too short").format(
            likely=show_hours(total.likely), window=show_hours(window), over=show_hours(total.likely - window)
        )
        yield Finding(code="window_too_short", level=FAIL, text=text)
        yield from _another_way(known)
    elif total.high > window:
        text = _("when everything takes long, the calendar takes {high}, {over} more than the window").format(
            high=show_hours(total.high), over=show_hours(total.high - window)
        )
        yield Finding(code="window_tight", level=WARN, text=text)
    risk = known.chosen.risk
    if risk is not None and risk.p_late is not None and risk.p_late > known.campaign.max_late:
        text = _("late in {late:.0%} of {count} draws of the durations, {limit:.0%} are accepted").format(
            late=risk.p_late, count=risk.draws, limit=known.campaign.max_late
        )
        yield Finding(code="likely_late", level=WARN, text=text)


def _another_way(known: Known) -> Iterator[Finding]:
    for option in known.chosen.options:
        if not option.fits or known.protocol == REDUCED:
            continue
        text = _("{name} fits").format(name=option.name)
        if option.protocol == REDUCED:
            text = _("{name} fits: `lastro plan --reduced --freeze` takes it").format(name=option.name)
        elif option.notes:
            text = _("{name} fits, and {note}").format(name=option.name, note=option.notes[-1])
        yield Finding(code="another_option_fits", level=NOTE, text=text)


def _of_prices(known: Known) -> Iterator[Finding]:
    """Doubt the prices that an option is made of; those of offers that are not offered say nothing."""
    shown = {option.offer for option in known.chosen.options if option.offered}
    for doubt in doubts(known.market, known.now.date()):
        if doubt.table != "offers" or doubt.row in shown:
            yield Finding(code=f"price_{doubt.code}", level=WARN, text=doubt.text)


def _of_money(known: Known) -> Iterator[Finding]:
    campaign, chosen = known.campaign, known.chosen
    if campaign.budget is None:
        yield Finding(code="no_budget", level=NOTE, text=_("no budget: nothing stops the spending"))
    if campaign.offers and chosen.taken is None:
        # `here` is a machine that is there already: without an offer its price is unknown, no more.
        level = WARN if campaign.provider == "here" else FAIL
        yield Finding(code="no_offer", level=level, text=chosen.why)
    if chosen.taken is None or campaign.budget is None:
        return
    cost, budget = chosen.taken.bill.cost, campaign.budget
    compared = chosen.taken.compared
    name = chosen.taken.name
    unchecked = _("the budget of {budget} cannot be checked: {why}").format(budget=budget, why=cost.why)
    if compared is None or compared.currency != budget.currency:
        if cost.at_least is not None:
            unchecked = _("{cost} and a budget of {budget} cannot be compared without a dated rate").format(
                cost=cost.at_least, budget=budget
            )
        yield Finding(code="budget_unknown", level=WARN, text=unchecked)
        return
    if compared.amount > budget.amount:
        text = _("{offer} costs {cost}, the budget is {budget}").format(
            offer=name, cost=cost.total or cost.at_least, budget=budget
        )
        yield Finding(code="over_budget", level=FAIL, text=text)
    elif cost.total is None:
        yield Finding(code="budget_unknown", level=WARN, text=unchecked)
    elif cost.high and cost.high.currency == budget.currency and cost.high.amount > budget.amount:
        text = _("when everything takes long, {offer} costs {cost}, more than the budget of {budget}").format(
            offer=name, cost=cost.high, budget=budget
        )
        yield Finding(code="budget_tight", level=WARN, text=text)
