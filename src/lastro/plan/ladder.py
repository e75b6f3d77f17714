"""The ladder of offers: what is taken, and what is taken in its place when it cannot be had. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lastro.locale import _
from lastro.plan.candidates import Candidate
from lastro.plan.options import Options, show_cost
from lastro.plan.rung import Rung
from lastro.plan.second_path import reached_by
from lastro.spec.campaign import Campaign
from lastro.spec.offers import Offers

#: More offers than these are not gone through without a person: a market may have thousands.
_MOST_OTHERS = 8


def ladder_of(campaign: Campaign, market: Offers, chosen: Options) -> tuple[Rung, ...]:
    """Return the offers in the order in which they are asked for; none where there is one or nothing.

    What is taken comes first. Where the campaign names second paths (`plan_b`), what these reach follows,
    and nothing else; otherwise further offers with which the campaign fits, cheapest first, eight at most.
    Each can be taken: of the allowed places, with enough memory, and on spot only where no stage forbids it.
    """
    if chosen.taken is None:
        return ()
    found: dict[str, Rung] = {}
    for one, why in [(chosen.taken, chosen.why), *_others(campaign, market, chosen)]:
        found.setdefault(one.offer.name, _rung(campaign, one, why))
    return tuple(found.values()) if len(found) > 1 else ()


def _others(campaign: Campaign, market: Offers, chosen: Options) -> Iterator[tuple[Candidate, str]]:
    if campaign.plan_b:
        yield from _named(campaign, market, chosen.eligible)
        return
    fitting = [one for one in chosen.eligible if one.offer.name in chosen.fitting]
    for one in fitting[:_MOST_OTHERS]:
        yield one, _("the next in cost of what fits: {cost}").format(cost=show_cost(one))


def _named(
    campaign: Campaign, market: Offers, eligible: Sequence[Candidate]
) -> Iterator[tuple[Candidate, str]]:
    for stage, second in campaign.plan_b.items():
        names = {offer.name for offer in reached_by(market, second)}
        for one in eligible:
            if one.offer.name in names:
                yield one, _("plan B of {stage}: {cost}").format(stage=stage, cost=show_cost(one))


def _rung(campaign: Campaign, one: Candidate, why: str) -> Rung:
    window, end = campaign.window, one.end_hours
    hours = window.total_seconds() / 3600 if window is not None else None
    return Rung(
        offer=one.offer.name,
        lease=one.offer.lease(),
        why=why,
        cost=one.bill.cost.total,
        end_hours=end,
        slack_hours=None if hours is None or end is None else round(hours - end, 9),
        boot_seconds=one.offer.boot_seconds,
        gpu=one.offer.gpu,
        region=one.offer.region,
    )


def not_reached(campaign: Campaign, market: Offers, chosen: Options) -> Iterator[tuple[str, str, str]]:
    """Give each offer that a second path names and that cannot be taken: stage, offer, why."""
    eligible = {one.offer.name for one in chosen.eligible}
    refused = {option.offer: option.why for option in chosen.options if not option.offered}
    for stage, second in campaign.plan_b.items():
        for offer in reached_by(market, second):
            if offer.name not in eligible and offer.name in refused:
                yield stage, offer.name, refused[offer.name]
