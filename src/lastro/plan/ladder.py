"""The ladder of offers: what is taken, and what is taken in its place when it cannot be had. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lastro.billing import LeaseKind
from lastro.locale import _
from lastro.plan.candidates import Candidate
from lastro.plan.eligible import on_demand_twin
from lastro.plan.options import Options, show_cost
from lastro.plan.rung import Rung
from lastro.plan.second_path import reached_by
from lastro.spec.campaign import Campaign
from lastro.spec.offers import Offers
from lastro.units import Money

#: More offers than these are not gone through without a person: a market may have thousands.
_MOST_OTHERS = 8
#: What costs more than so many times the plan's own way is a person's decision, who names it in `plan_b`. An
#: assumption: a lot of three days is no stand-in for an hour.
_DEARER = 2


def ladder_of(campaign: Campaign, market: Offers, chosen: Options) -> tuple[Rung, ...]:
    """Return the offers in the order in which they are asked for; none where there is one or nothing.

    What is taken comes first. Where the campaign names second paths (`plan_b`), what these reach follows,
    and nothing else; otherwise further offers with which the campaign fits, cheapest first, eight at most,
    and none that costs more than twice as much.
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
    most = _most(market, chosen)
    near = [
        one
        for one in chosen.eligible
        if one.offer.name in chosen.fitting and most is not None and _costs_at_most(one, most)
    ]
    for one in near[:_MOST_OTHERS]:
        yield one, _("the next in cost of what fits: {cost}").format(cost=show_cost(one))


def _most(market: Offers, chosen: Options) -> Money | None:
    """Return what an offer may cost that nobody has named; None: what the plan's own way costs is unknown.

    Of a plan on spot, that is reckoned from what the same machine costs on demand: the way back is open.
    """
    assert chosen.taken is not None, "without an offer there is no ladder"
    twin = on_demand_twin(market, chosen.taken.offer) if chosen.taken.offer.kind is LeaseKind.SPOT else None
    own = next((one for one in chosen.eligible if twin and one.offer.name == twin.name), chosen.taken)
    return own.compared.times(_DEARER) if _is_whole(own) and own.compared else None


def _costs_at_most(one: Candidate, most: Money) -> bool:
    cost = one.compared
    known = cost is not None and cost.currency == most.currency and _is_whole(one)
    return known and cost is not None and cost.amount <= most.amount


def _is_whole(one: Candidate) -> bool:
    """Say whether all of a cost is known: what is not is never taken by itself."""
    return one.bill.cost.total is not None


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
        place=one.offer.place,
    )


def not_reached(campaign: Campaign, market: Offers, chosen: Options) -> Iterator[tuple[str, str, str]]:
    """Give each offer that a second path names and that cannot be taken: stage, offer, why."""
    eligible = {one.offer.name for one in chosen.eligible}
    refused = {option.offer: option.why for option in chosen.options if not option.offered}
    for stage, second in campaign.plan_b.items():
        for offer in reached_by(market, second):
            if offer.name not in eligible and offer.name in refused:
                yield stage, offer.name, refused[offer.name]
