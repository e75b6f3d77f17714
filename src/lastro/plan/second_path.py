"""What a campaign says of its second paths, where the planner needs it: hours on other cards. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from lastro.spec.campaign import Campaign
from lastro.spec.durations import Durations, Hours, card
from lastro.spec.offers import Offer, Offers
from lastro.spec.plan_b import PlanB


def reached_by(market: Offers, second: PlanB) -> list[Offer]:
    """Return the offers that a second path could take."""
    return [
        offer
        for offer in market.offers
        if (second.offer is None or offer.name == second.offer)
        and (second.gpu is None or card(offer.gpu or "") == card(second.gpu))
        and (second.region is None or second.region in (offer.region, offer.zone))
    ]


def with_second_hours(campaign: Campaign, market: Offers) -> Campaign:
    """Return the campaign with the hours that second paths give for their cards; the same when none do."""
    stages = dict(campaign.stages)
    for name, second in campaign.plan_b.items():
        hours = stages[name].hours
        told = {card(gpu): found for gpu, found in _hours(market, second)}
        if hours is not None and told:
            known: Durations = replace(hours, on_card={**hours.on_card, **told})
            stages[name] = stages[name].model_copy(update={"hours": known})
    return campaign if stages == campaign.stages else campaign.model_copy(update={"stages": stages})


def _hours(market: Offers, second: PlanB) -> Iterator[tuple[str, Hours]]:
    for offer in reached_by(market, second) if second.hours is not None else ():
        found = second.hours.on(offer.gpu) if second.hours is not None else None
        if offer.gpu is not None and found is not None:
            yield offer.gpu, found
