"""One campaign among many: what its owner looks for later. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from lastro.journal.views import CampaignView
from lastro.locale import _
from lastro.records import dataclass
from lastro.units import Money
from lastro.view import show
from lastro.view.outcome import outcome_of
from lastro.view.verdict import headline_of


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What `lastro status --all` shows of a campaign and searches in.

    `state`: as `view.parts.Headline.verdict`. `run`: name of the adopted one. `cost`: by currency, as far as
    it is known; `cost_reason` says what is missing, None when nothing is. `orders`: references of what was
    bought. `learned`: stages that lay outside of what was reserved, and what people wrote down: why a stage
    went otherwise, reasons of decisions, doubts that were settled. `doubts`: those that are open. Times are
    ISO 8601.
    """

    campaign: str
    question: str | None
    state: str
    run: str | None
    why: str | None
    cost: tuple[Money, ...]
    cost_reason: str | None
    frozen_at: str | None
    closed_at: str | None
    orders: tuple[str, ...]
    learned: tuple[str, ...]
    doubts: tuple[str, ...]

    def holds(self, text: str) -> bool:
        """Say whether every word of `text` stands somewhere in it; upper and lower case are one."""
        said = "\n".join(self._texts()).casefold()
        return all(word in said for word in text.casefold().split())

    def _texts(self) -> list[str]:
        single = (
            self.campaign,
            self.question,
            self.state,
            self.run,
            self.why,
            self.frozen_at,
            self.closed_at,
        )
        return [*filter(None, single), *map(str, self.cost), *self.orders, *self.learned, *self.doubts]

    def as_json(self) -> dict[str, Any]:
        """Return the summary as JSON values."""
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        return {**found, "cost": [amount.as_json() for amount in self.cost]}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Summary:
        """Read what `as_json` wrote."""
        several = {name: tuple(value[name]) for name in ("orders", "learned", "doubts")}
        cost = tuple(Money.from_json(amount) for amount in value["cost"])
        return cls(**{**value, **several, "cost": cost})


def summary_of(campaign: CampaignView, name: str) -> Summary:
    """Return the summary of a campaign; `name` is what home calls it, also before a plan is frozen."""
    concluded, bill = campaign.conclusion, campaign.cost
    adopted = concluded.run if concluded is not None else None
    return Summary(
        campaign=campaign.name or name,
        question=campaign.plan.get("question") if campaign.plan else None,
        state=headline_of(campaign).verdict,
        run=next((run.name for run in campaign.runs if run.id == adopted), adopted),
        why=concluded.why if concluded is not None else None,
        cost=bill.by_currency if bill.total is None else (bill.total,),
        cost_reason=bill.reason if bill.total is None else None,
        frozen_at=campaign.frozen_at,
        closed_at=campaign.closed["at"] if campaign.closed else None,
        orders=orders_of(campaign),
        learned=learned_in(campaign),
        doubts=tuple(doubt.text for doubt in campaign.doubts if doubt.settled is None),
    )


def orders_of(campaign: CampaignView) -> tuple[str, ...]:
    """Return the references by which what was bought is found again: orders, expenses, invoices."""
    orders = [lease.order for lease in campaign.leases]
    orders += [paid.ref for paid in campaign.expenses if paid.ref and paid.undone is None]
    orders += [invoice.number for invoice in campaign.invoices if invoice.undone is None]
    return tuple(dict.fromkeys(orders))


def learned_in(campaign: CampaignView) -> tuple[str, ...]:
    """Return what the next campaign should know: estimates that were off, and what people wrote down."""
    outcome = outcome_of(campaign)
    learned = [
        _("{stage}: {observed} observed, {low} to {high} reserved").format(
            stage=row.name,
            observed=show.hours(row.observed),
            low=show.hours(row.low),
            high=show.hours(row.high),
        )
        for row in (outcome.stages if outcome else ())
        if row.outside
    ]
    learned += [f"{told.stage}: {told.why}" for told in campaign.explanations]
    learned += [f"{made.stage}: {made.why}" for made in campaign.decisions if made.why]
    learned += [f"{doubt.text}: {doubt.settled}" for doubt in campaign.doubts if doubt.settled is not None]
    return tuple(learned)


def cost_text(summary: Summary) -> str:
    """Return what the campaign has cost; a part that is not known is never left out silently."""
    amounts = ", ".join(map(str, summary.cost))
    if summary.cost_reason is None:
        return amounts
    if not amounts:
        return _("cost unknown: {why}").format(why=summary.cost_reason)
    return _("{amounts} and more: {why}").format(amounts=amounts, why=summary.cost_reason)
