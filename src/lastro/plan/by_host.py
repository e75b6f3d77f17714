"""What a machine costs at each of several hosts, by the offers that are theirs. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from lastro.billing import Lease
from lastro.plan.options import Options
from lastro.spec.addresses import each_of, is_address
from lastro.spec.campaign import Campaign
from lastro.spec.offers import Offer


def leases_at(campaign: Campaign, chosen: Options) -> Mapping[str, Lease | None]:
    """Return what a machine of each host is taken under; empty where one offer is for all of them.

    A host's own offer comes first, then one that names no place. None: nobody says what it costs there.
    """
    return {host: offer.lease() if offer else None for host, offer in offers_at(campaign, chosen).items()}


def offers_at(campaign: Campaign, chosen: Options) -> Mapping[str, Offer | None]:
    """Return the offer by which a machine of each host is taken; see `leases_at`."""
    hosts = each_of(campaign.provider) if is_address(campaign.provider) else ()
    offers = [one.offer for one in (chosen.taken, *chosen.eligible) if one is not None]
    if len(hosts) < 2 or not any(offer.place for offer in offers):
        return {}
    return {
        host: next((offer for where in (host, None) for offer in offers if offer.place == where), None)
        for host in hosts
    }
