"""What a machine costs at each of several hosts, by the offers that are theirs. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from lastro.billing import Lease
from lastro.plan.options import Options
from lastro.spec.addresses import each_of, is_address
from lastro.spec.campaign import Campaign
from lastro.spec.offers import Offer, Offers


def leases_at(campaign: Campaign, market: Offers, chosen: Options) -> Mapping[str, Lease | None]:
    """Return what a machine of each host is taken under; empty where no offer names one of them.

    A host has its own offer, or else one that names no place. None: nobody says what it costs there, or its
    own offer cannot be taken.
    """
    offers = offers_at(campaign, market, chosen)
    return {host: offer.lease() if offer else None for host, offer in offers.items()}


def offers_at(campaign: Campaign, market: Offers, chosen: Options) -> Mapping[str, Offer | None]:
    """Return the offer by which a machine of each host is taken; see `leases_at`."""
    hosts = each_of(campaign.provider) if is_address(campaign.provider) else ()
    named = {offer.place for offer in market.offers} & set(hosts)
    if not named:
        return {}
    offers = [one.offer for one in (chosen.taken, *chosen.eligible) if one is not None]
    wanted = {host: host if host in named else None for host in hosts}
    return {
        host: next((offer for offer in offers if offer.place == place), None)
        for host, place in wanted.items()
    }
