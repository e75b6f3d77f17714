"""Under which lease a machine is taken."""

from __future__ import annotations

from lastro.billing import Lease
from lastro.journal.leases import is_valid
from lastro.journal.views import CampaignView
from lastro.plan.model import Plan


def bought_for(view: CampaignView, provider: str) -> bool:
    """Say whether anything was bought by hand for the machines of a provider."""
    return any(one.host == provider for one in view.leases)


def lease_for(plan: Plan, view: CampaignView, provider: str) -> Lease | None:
    """Return the lease under which a machine of a provider is taken now. Pure.

    What was bought by hand for it comes first: the one that ends first, so that none is wasted. When all of
    these have ended the last one is returned, and its end bars the start.
    """
    bought = [one for one in view.leases if one.host == provider]
    if not bought:
        return plan.lease
    valid = [one for one in bought if is_valid(one, view.at)]
    ends = sorted(valid or bought[-1:], key=lambda one: one.lease.ends_at or "")
    return ends[0].lease


def lease_at(plan: Plan, view: CampaignView, host: str, otherwise: Lease | None) -> Lease | None:
    """Return the lease under which the machine of one of several hosts is taken now. Pure.

    What was bought by hand for it comes first, then what the plan says of it. None: nobody knows its price.
    """
    if bought_for(view, host):
        return lease_for(plan, view, host)
    return plan.leases_at.get(host, otherwise)
