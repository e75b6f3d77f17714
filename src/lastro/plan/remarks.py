"""What a reader of the plan should know: what is missing, what does not fit, what cannot be concluded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta

from lastro.locale import _
from lastro.plan.calendar import Calendar
from lastro.plan.model import Option, Remark
from lastro.plan.price import Choice
from lastro.spec.campaign import Campaign
from lastro.units import show_duration

FAIL, WARN, NOTE = "fail", "warn", "note"


def remarks(
    campaign: Campaign, calendar: Calendar, options: Sequence[Option], choice: Choice
) -> tuple[Remark, ...]:
    """Return all remarks on a plan, what makes it impossible first."""
    found = [
        *_of_window(campaign, calendar),
        *_of_money(campaign, options, choice),
        *_of_design(campaign),
        *_of_decision(campaign),
        *(
            Remark(code="duration_unknown", level=NOTE, text=f"{item.stage} {item.run or ''}: {item.why}")
            for item in calendar.unplaced
        ),
    ]
    order = [FAIL, WARN, NOTE]
    return tuple(sorted(found, key=lambda remark: order.index(remark.level)))


def _hours(hours: float) -> str:
    return show_duration(timedelta(hours=hours))


def _of_window(campaign: Campaign, calendar: Calendar) -> Iterator[Remark]:
    if campaign.window is None:
        yield Remark(
            code="no_window", level=NOTE, text=_("no window: nothing says when the campaign has to be over")
        )
        return
    if calendar.total is None:
        return
    window = campaign.window.total_seconds() / 3600
    if calendar.total.likely > window:
        text = _("the calendar takes {likely}, the window is {window}: {over} too short").format(
            likely=_hours(calendar.total.likely),
            window=_hours(window),
            over=_hours(calendar.total.likely - window),
        )
        yield Remark(code="window_too_short", level=FAIL, text=text)
    elif calendar.total.high > window:
        text = _("when everything takes long, the calendar takes {high}, {over} more than the window").format(
            high=_hours(calendar.total.high), over=_hours(calendar.total.high - window)
        )
        yield Remark(code="window_tight", level=WARN, text=text)


def _of_money(campaign: Campaign, options: Sequence[Option], choice: Choice) -> Iterator[Remark]:
    if campaign.budget is None:
        yield Remark(code="no_budget", level=NOTE, text=_("no budget: nothing stops the spending"))
    if campaign.offers and choice.offer is None:
        # `here` is a machine that is there already: without an offer its price is unknown, no more.
        level = WARN if campaign.provider == "here" else FAIL
        yield Remark(code="no_offer", level=level, text=choice.why)
    chosen = next((option for option in options if choice.offer and option.offer == choice.offer.name), None)
    if chosen is None or campaign.budget is None or chosen.cost is None:
        return
    if chosen.fits_budget is False:
        text = _("{offer} costs {cost}, the budget is {budget}").format(
            offer=chosen.offer, cost=chosen.cost, budget=campaign.budget
        )
        yield Remark(code="over_budget", level=FAIL, text=text)
    elif chosen.fits_budget is None:
        text = _("{cost} and a budget of {budget} cannot be compared without a dated rate").format(
            cost=chosen.cost, budget=campaign.budget
        )
        yield Remark(code="budget_unknown", level=WARN, text=text)
    elif chosen.cost_high and chosen.cost_high.amount > campaign.budget.amount:
        text = _("when everything takes long, {offer} costs {cost}, more than the budget of {budget}").format(
            offer=chosen.offer, cost=chosen.cost_high, budget=campaign.budget
        )
        yield Remark(code="budget_tight", level=WARN, text=text)


def _of_design(campaign: Campaign) -> Iterator[Remark]:
    runs = campaign.runs()
    if len(runs) == 1:
        yield Remark(
            code="no_variants", level=NOTE, text=_("only the control runs: nothing is compared with it")
        )
    for run in runs:
        if len(run.changes) > 1:
            text = _(
                "{run} changes {count} things at once ({keys}): a difference will have no one cause"
            ).format(run=run.name, count=len(run.changes), keys=", ".join(run.changes))
            yield Remark(code="several_changes", level=WARN, text=text)


def _of_decision(campaign: Campaign) -> Iterator[Remark]:
    if not campaign.deliverables:
        yield Remark(
            code="no_deliverables",
            level=WARN,
            text=_("no deliverables: there is nothing to reload and accept"),
        )
    if campaign.decision is None:
        yield Remark(code="no_decision", level=NOTE, text=_("no decision rule: closing will not conclude"))
        return
    metric = campaign.decision.metric
    if all(item.metric is None or item.metric.name != metric for item in campaign.deliverables.values()):
        text = _("the decision is by {metric}, which no deliverable lets closing recompute").format(
            metric=metric
        )
        yield Remark(code="decision_without_metric", level=WARN, text=text)
