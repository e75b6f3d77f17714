"""Second paths, places and providers: plan B, residency, concentration, lead times, balances, old prices."""

from __future__ import annotations

from collections.abc import Iterator

from lastro.billing import LeaseKind
from lastro.locale import _
from lastro.plan.bill import show_hours
from lastro.plan.candidates import Candidate
from lastro.plan.eligible import lies_in, on_demand_twin
from lastro.plan.interruption import Interruption
from lastro.plan.intervals import GPU, Interval, work_of
from lastro.plan.levels import FAIL, NOTE, WARN
from lastro.plan.on_spot import lifetimes_of, saves_of, tolerance_of
from lastro.plan.parts import Finding
from lastro.plan.second_path import reached_by
from lastro.plan.traffic import moves_of
from lastro.spec.campaign import Campaign
from lastro.spec.offers import Offer, Offers
from lastro.spec.plan_b import PlanB
from lastro.units import show_bytes, show_duration


def findings(campaign: Campaign, market: Offers, taken: Candidate | None) -> Iterator[Finding]:
    """Return what is to be known of places and providers."""
    yield from _of_transfers(campaign, market)
    if campaign.stages and taken is not None:
        yield from _of_plan_b(campaign, market, taken)
    if taken is not None:
        yield from _of_place(campaign, taken.offer)
        yield from _of_provider(market, taken)
        yield from _of_spot(campaign, market, taken.offer)
    yield from _of_loss(campaign, taken)


# --- plan B -------------------------------------------------------------------------------------------


def _of_plan_b(campaign: Campaign, market: Offers, taken: Candidate) -> Iterator[Finding]:
    """Ask for a second path of each required stage that holds a machine, and look at those that there are."""
    held = [one for one in work_of(campaign).intervals if one.holds == GPU and one.priority == "required"]
    first = {one.stage: one for one in reversed(held)}
    without = [one.stage for one in first.values() if one.stage not in campaign.plan_b]
    if without:
        text = _("no plan B for {stages}: another region or card, prepared before it is needed").format(
            stages=", ".join(reversed(without))
        )
        yield Finding(code="no_plan_b", level=WARN, text=text)
    for stage, second in campaign.plan_b.items():
        if stage in first:
            yield from _of_second(campaign, market, taken, first[stage], second)


def _of_second(
    campaign: Campaign, market: Offers, taken: Candidate, interval: Interval, second: PlanB
) -> Iterator[Finding]:
    stage = interval.stage
    reached = reached_by(market, second)
    if not reached:
        text = _("no offer is what the plan B of {stage} names").format(stage=stage)
        yield Finding(code="plan_b_unknown", level=WARN, text=text)
    if any(offer.name == taken.offer.name for offer in reached) and len(reached) == 1:
        text = _("the plan B of {stage} is its plan A: {offer}").format(stage=stage, offer=taken.offer.name)
        yield Finding(code="plan_b_is_plan_a", level=WARN, text=text)
    for offer in reached:
        if interval.memory is not None and offer.memory is not None and offer.memory < interval.memory:
            text = _("the plan B of {stage}, {offer}, has {has} of memory, it needs {needs}").format(
                stage=stage,
                offer=offer.name,
                has=show_bytes(offer.memory),
                needs=show_bytes(interval.memory),
            )
            yield Finding(code="plan_b_too_small", level=WARN, text=text)
        if not lies_in(offer.jurisdiction, campaign.jurisdictions):
            text = _("the plan B of {stage}, {offer}, lies in {place}, which is not allowed").format(
                stage=stage, offer=offer.name, place=offer.jurisdiction
            )
            yield Finding(code="plan_b_outside", level=WARN, text=text)
    gpu = second.gpu or (reached[0].gpu if reached else None)
    if (second.hours or interval.durations).on(gpu) is None:
        text = _("nobody says how long the plan B of {stage} takes on {gpu}").format(
            stage=stage, gpu=gpu or _("its cards")
        )
        yield Finding(code="plan_b_duration", level=WARN, text=text)
    for what, value in (
        (_("the image"), second.image),
        (_("the data"), second.data),
        (_("the last checkpoint"), second.checkpoint),
    ):
        if value is None:
            text = _("the plan B of {stage} does not say how {what} gets there").format(
                stage=stage, what=what
            )
            yield Finding(code="plan_b_incomplete", level=NOTE, text=text)


# --- where data goes ----------------------------------------------------------------------------------


def _of_transfers(campaign: Campaign, market: Offers) -> Iterator[Finding]:
    """Refuse what would bring data to a place that is not allowed, as far as the offers file knows places."""
    for move in moves_of(campaign, work_of(campaign)):
        for place in (move.origin, move.to):
            lies = _jurisdictions_of(market, place)
            if lies and not any(lies_in(one, campaign.jurisdictions) for one in lies):
                text = _("{name} goes to {place}, which lies in {where}; allowed are {allowed}")
                if place == move.origin:
                    text = _("{name} comes from {place}, which lies in {where}; allowed are {allowed}")
                yield Finding(
                    code="transfer_outside",
                    level=FAIL,
                    text=text.format(
                        name=move.name,
                        place=place,
                        where=", ".join(sorted(lies)),
                        allowed=", ".join(campaign.jurisdictions),
                    ),
                )


def _jurisdictions_of(market: Offers, place: str) -> set[str]:
    """Return the countries in which a region, zone or provider is said to lie."""
    rows = [(one.jurisdiction, {one.zone, one.region, one.provider}) for one in market.offers]
    rows += [(disk.jurisdiction, {disk.zone, disk.region, disk.provider}) for disk in market.disks]
    return {country for country, names in rows if country and place in names}


# --- places and providers -----------------------------------------------------------------------------


def _of_place(campaign: Campaign, offer: Offer) -> Iterator[Finding]:
    if campaign.jurisdictions and offer.jurisdiction is None:
        text = _("{offer} does not say where it lies; the campaign allows {allowed}").format(
            offer=offer.name, allowed=", ".join(campaign.jurisdictions)
        )
        yield Finding(code="place_unknown", level=WARN, text=text)
    if campaign.jurisdictions and offer.subprocessors is None:
        text = _("who else processes the data at {offer} is not written down (subprocessors)").format(
            offer=offer.name
        )
        yield Finding(code="subprocessors_unknown", level=NOTE, text=text)


def _of_provider(market: Offers, taken: Candidate) -> Iterator[Finding]:
    offer = taken.offer
    if offer.lead is not None and offer.lead.total_seconds() > 0:
        text = _("{offer} can be had {lead} after it is asked for: ask now (account, KYC, quota)").format(
            offer=offer.name, lead=show_hours(offer.lead.total_seconds() / 3600)
        )
        yield Finding(code="lead_time", level=NOTE, text=text)
    yield from _of_balance(market, taken)
    companies = {one.provider for one in market.offers if one.provider}
    if offer.provider is not None and offer.place is None:  # a place says nothing of whose it is
        text = _("all required work, its disk and all open spending are at {provider}").format(
            provider=offer.provider
        )
        if len(companies) > 1:
            others = ", ".join(sorted(companies - {offer.provider}))
            text += _("; {others} would be others").format(others=others)
        yield Finding(code="concentration", level=NOTE, text=text)


def _of_balance(market: Offers, taken: Candidate) -> Iterator[Finding]:
    cost = taken.bill.cost.total or taken.bill.cost.at_least
    for balance in market.balances:
        if balance.provider != taken.offer.provider or cost is None:
            continue
        if balance.amount.currency != cost.currency:
            text = _("the balance at {provider} is {amount}, the cost {cost}: not comparable").format(
                provider=balance.provider, amount=balance.amount, cost=cost
            )
            yield Finding(code="balance_unknown", level=NOTE, text=text)
        elif balance.amount.amount < cost.amount:
            text = _(
                "the balance at {provider} is {amount}, {offer} costs {cost}: machines stop when it ends"
            )
            yield Finding(
                code="balance_too_small",
                level=WARN,
                text=text.format(
                    provider=balance.provider, amount=balance.amount, offer=taken.name, cost=cost
                ),
            )


def _of_spot(campaign: Campaign, market: Offers, offer: Offer) -> Iterator[Finding]:
    if offer.kind is not LeaseKind.SPOT:
        return
    lives = lifetimes_of(offer)
    if lives is None:
        text = _("nobody knows how long machines of {offer} live: its cost is unknown").format(
            offer=offer.name
        )
        yield Finding(code="interruptions_unknown", level=WARN, text=text)
    else:
        yield _of_saves(saves_of(campaign, offer, lives))
    if on_demand_twin(market, offer) is None:
        text = _("nothing on demand stands beside {offer}: there is nowhere to go back to").format(
            offer=offer.name
        )
        yield Finding(code="no_way_back", level=NOTE, text=text)


def _of_loss(campaign: Campaign, taken: Candidate | None) -> Iterator[Finding]:
    tolerance = tolerance_of(campaign, lifetimes_of(taken.offer) if taken else None)
    if tolerance is None:
        return
    if tolerance.kept is None or tolerance.worst is None or tolerance.stalled is None:
        yield Finding(code="loss_unknown", level=NOTE, text=tolerance.why)
        return
    text = _("at most {worst} may be lost, and saves take {stalled:.1%} of the time: {why}").format(
        worst=show_duration(tolerance.worst), stalled=tolerance.stalled, why=tolerance.why
    )
    if tolerance.kept:
        yield Finding(code="loss_kept", level=NOTE, text=text)
    else:
        yield Finding(code="loss_too_large", level=WARN, text=text)


def _of_saves(saves: Interruption) -> Finding:
    if saves.every is None or saves.loss is None or saves.wasted is None:
        return Finding(code="nothing_kept", level=WARN, text=saves.why)
    text = _(
        "a save every {every} loses {loss} an interruption; {wasted:.0%} of the time is no work: {why}"
    ).format(
        every=show_duration(saves.every), loss=show_duration(saves.loss), wasted=saves.wasted, why=saves.why
    )
    return Finding(code="save_interval", level=NOTE, text=text)
