"""Several hosts, each with its own price: what one price for all passes over. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from lastro.locale import _
from lastro.plan.by_host import offers_at
from lastro.plan.levels import FAIL, WARN
from lastro.plan.options import Options, show_cost
from lastro.plan.parts import Finding
from lastro.spec.campaign import Campaign
from lastro.spec.offers import Offers


def findings(campaign: Campaign, market: Offers, chosen: Options) -> Iterator[Finding]:
    """Tell what the calendar's one price for all machines passes over, and hosts that cannot be taken."""
    refused = {option.offer: option.why for option in chosen.options if not option.offered}
    for host, offer in offers_at(campaign, market, chosen).items():
        theirs = [one.name for one in market.offers if one.place == host]
        if theirs and offer is None:
            text = _("{host} is one of the hosts, and its offer {offer} cannot be taken: {why}").format(
                host=host, offer=theirs[0], why=refused.get(theirs[0], _("the reason is unknown"))
            )
            yield Finding(code="host_refused", level=FAIL, text=text)
        elif offer is None or offer.machine_price is None:
            text = _("nobody says what a machine at {host} costs").format(host=host)
            yield Finding(code="host_unpriced", level=WARN, text=text)
        elif chosen.taken is not None and offer.machine_price != chosen.taken.offer.machine_price:
            text = _(
                "{host} costs {price}, and the forecast reckons with {offer} for every machine: {cost}; "
                "all of it at {host} would cost {other}"
            ).format(
                host=host,
                price=offer.machine_price,
                offer=chosen.taken.offer.name,
                cost=show_cost(chosen.taken),
                other=next(show_cost(one) for one in chosen.eligible if one.offer.name == offer.name),
            )
            yield Finding(code="host_price_differs", level=WARN, text=text)
