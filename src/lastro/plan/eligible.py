"""Why an offer cannot be taken at all. Pure: the first reason that speaks against it, with its numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lastro.billing import LeaseKind
from lastro.locale import _
from lastro.plan.calendar import unknown_on
from lastro.plan.intervals import GPU, Interval, Work
from lastro.records import dataclass
from lastro.spec.addresses import CLUSTER, each_of, is_within
from lastro.spec.campaign import Campaign
from lastro.spec.durations import card
from lastro.spec.offers import Offer, Offers
from lastro.units import show_bytes

#: Members of the European Union (europa.eu, read 2026-11): an offer in one of them lies in EU.
EU = frozenset(
    "AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK".split()  # noqa: SIM905
)
#: The ways in which lastro comes by a machine. Other names are companies, where it is rented by hand.
_WAYS = ("here", "local", "slurm", "ssh")


@dataclass(frozen=True, kw_only=True)
class Peak:
    """The memory that one card has to have, in bytes, and who says so."""

    bytes: int
    why: str


def refusal(campaign: Campaign, market: Offers, offer: Offer, work: Work, peak: Peak | None) -> str | None:
    """Return why an offer cannot be taken for this work; None when it can."""
    return next(_reasons(campaign, market, offer, work, peak), None)


def _reasons(
    campaign: Campaign, market: Offers, offer: Offer, work: Work, peak: Peak | None
) -> Iterator[str]:
    yield from _where(campaign, market, offer)
    yield from _what(offer, work.intervals, peak)
    unknown = unknown_on(work, offer.gpu)
    if unknown:
        yield _("nobody says how long {stage} takes on {gpu}").format(
            stage=unknown[0].name, gpu=offer.gpu or _("its cards")
        )
    if offer.kind is LeaseKind.SPOT:
        yield from _spot(market, offer, work.intervals)


def _where(campaign: Campaign, market: Offers, offer: Offer) -> Iterator[str]:
    elsewhere = offer.provider in _WAYS and offer.provider != campaign.provider.split(":")[0]
    if elsewhere or (offer.place is not None and not is_within(offer.place, campaign.provider)):
        yield _("it is had from {there}, the campaign runs on {here}").format(
            there=offer.provider, here=campaign.provider
        )
    if offer.place is None and _all_named(campaign, market):
        yield _("each place of the campaign has an offer of its own")
    if offer.capacity == 0:
        yield _("none is left")
    if not lies_in(offer.jurisdiction, campaign.jurisdictions):
        yield _("it lies in {place}, the campaign allows {allowed}").format(
            place=offer.jurisdiction, allowed=", ".join(campaign.jurisdictions)
        )
    if offer.zone and offer.disk is None:
        zones = sorted({disk.zone for disk in market.disks if disk.zone})
        if zones and offer.zone not in zones:
            yield _("no disk is to be had in its zone {zone}; disks are in {zones}").format(
                zone=offer.zone, zones=", ".join(zones)
            )
    disk = market.disk_of(offer)
    if disk is not None and not lies_in(disk.jurisdiction, campaign.jurisdictions):
        yield _("its disk {disk} lies in {place}, the campaign allows {allowed}").format(
            disk=disk.name, place=disk.jurisdiction, allowed=", ".join(campaign.jurisdictions)
        )


def lies_in(place: str | None, allowed: Sequence[str]) -> bool:
    """Say whether a country is allowed; a place that nobody has told, and no rule, forbid nothing."""
    if place is None or not allowed:
        return True
    return place in {*allowed, *(EU if "EU" in allowed else ())}


def _what(offer: Offer, intervals: Sequence[Interval], peak: Peak | None) -> Iterator[str]:
    held = [one for one in intervals if one.holds == GPU]
    if held and offer.gpus == 0:
        yield _("it has no GPU, and {stage} needs one").format(stage=held[0].name)
    for one in held:
        if one.gpus > offer.gpus:
            yield _(
                "{stage} needs {count} cards of one machine, it has {has}; machines do not join memories"
            ).format(stage=one.name, count=one.gpus, has=offer.gpus)
    if offer.memory is None:
        return
    for one in held:
        if one.memory is not None and one.memory > offer.memory:
            yield _("its memory of {has} is too small: {stage} needs {needs}").format(
                has=show_bytes(offer.memory), stage=one.name, needs=show_bytes(one.memory)
            )
    # What the user says of any training stage is believed: a prediction knows no offloading and no sharding.
    trains = [one for one in held if one.run is not None] or held
    said = any(one.memory is not None for one in trains)
    if trains and not said and peak is not None and peak.bytes > offer.memory:
        yield _("its memory of {has} is too small for the {needs} that are predicted: {why}").format(
            has=show_bytes(offer.memory), needs=show_bytes(peak.bytes), why=peak.why
        )


def _spot(market: Offers, offer: Offer, intervals: Sequence[Interval]) -> Iterator[str]:
    fixed = [one.name for one in intervals if one.never_spot]
    if fixed:
        yield _("{stage} never runs on spot").format(stage=fixed[0])
    twin = on_demand_twin(market, offer)
    if twin is None or offer.machine_price is None or twin.machine_price is None:
        return
    spot, demand = offer.machine_price, twin.machine_price
    if spot.currency == demand.currency and spot.amount >= demand.amount:
        yield _("spot at {spot} an hour is not cheaper than {twin} on demand at {demand}").format(
            spot=spot, twin=twin.name, demand=demand
        )


def on_demand_twin(market: Offers, offer: Offer) -> Offer | None:
    """Return the cheapest hourly offer of the same machine at the same provider and region; None: none."""
    twins = [
        other
        for other in market.offers
        if other.kind is LeaseKind.HOURLY
        and _seller(other) == _seller(offer)
        and (other.region, other.gpus) == (offer.region, offer.gpus)
        and card(other.gpu or "") == card(offer.gpu or "")
        and other.machine_price is not None
    ]
    return min(twins, key=lambda one: one.machine_price.amount if one.machine_price else 0, default=None)


def _all_named(campaign: Campaign, market: Offers) -> bool:
    """Say whether each place that the campaign runs at has an offer of its own, which is its price then."""
    named = {one.place for one in market.offers if one.place is not None}
    return named.issuperset(each_of(campaign.provider))


def _seller(offer: Offer) -> str | None:
    """Return whose machines an offer's are: partitions of a cluster are of one house."""
    inside = offer.place is not None and is_within(offer.place, CLUSTER)
    return CLUSTER if inside else offer.provider
