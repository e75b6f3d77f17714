"""What a plan does when its offer cannot be had, in two lines."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from lastro.locale import _, ngettext
from lastro.plan.model import Plan
from lastro.plan.rung import Rung
from lastro.providers.registry import traits_of
from lastro.rules.moving import ASK, WAIT
from lastro.units import show_duration
from lastro.view import show

#: More names than these say less.
_SHOWN = 3


def ladder_lines(plan: Plan) -> Iterator[str]:
    """Give the offers that follow, and when one is left; nothing where there is no other offer.

    Hosts that have prices of their own follow each other by their own rules.
    """
    if len(plan.leases_at) > 1:
        yield _("The hosts are taken in their own order, each at its own price.")
        return
    if len(plan.ladder) < 2:
        return
    first, following = plan.ladder[0], plan.ladder[1:]
    others = ", ".join(map(_rung, following[:_SHOWN]))
    if len(following) > _SHOWN:
        others = _("{others} and {count} more").format(others=others, count=len(following) - _SHOWN)
    yield _("When {offer} cannot be had: {others}.").format(offer=first.offer, others=others)
    traits = traits_of(plan.provider)
    if traits is None or not (traits.takes_offers or (traits.takes_places and _of_places(plan))):
        yield _("On {provider} a person gets them: lastro asks for no other machine there.").format(
            provider=plan.provider
        )
        return
    rules = plan.move_on
    refused = ngettext("{count} refusal", "{count} refusals in a row", rules.refusals)
    yield _("An offer is left after {refused}, or {boot} without a boot; when none is left: {then}.").format(
        refused=refused.format(count=rules.refusals),
        boot=show_duration(timedelta(seconds=rules.boot_seconds)),
        then=_then(rules.when_none_left),
    )


def _of_places(plan: Plan) -> bool:
    """Say whether the offers are of several places."""
    return len({rung.place for rung in plan.ladder}) > 1


def _rung(rung: Rung) -> str:
    return _("{offer} ({cost} in all)").format(
        offer=rung.offer, cost=str(rung.cost) if rung.cost is not None else show.unknown()
    )


def _then(code: str) -> str:
    return {ASK: _("a person is asked"), WAIT: _("it waits and asks again")}.get(code, _("it stops"))
