"""Spot or on-demand for a run: by what each is expected to cost in all. An unknown price never wins."""

from __future__ import annotations

from decimal import Decimal

from lastro.billing import Lease, LeaseKind, cost
from lastro.errors import PlanError
from lastro.locale import _
from lastro.plan.lifetimes import Lifetimes
from lastro.plan.spot_lives import SpotEstimate, Work, expect_spot
from lastro.records import dataclass
from lastro.units import Money

_HOUR = 3600
#: Money is told to the millionth: the hours behind it are binary fractions.
_MICRO = Decimal("0.000001")


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Spot or on-demand for a run, and why. `choose` None: neither can be shown to be better.

    Costs None are unknown. `spot` None: no expectation could be made. `break_even`: the price of a spot hour
    at which both would cost the same; None: unknown.
    """

    choose: LeaseKind | None
    why: str
    spot: SpotEstimate | None
    spot_cost: Money | None
    on_demand_cost: Money | None
    on_demand_hours: float
    break_even: Money | None


def compare(
    work: Work,
    spot: Lease,
    on_demand: Lease,
    lifetimes: Lifetimes | None,
    *,
    away: float | None = None,
    window: float | None = None,
) -> Comparison:
    """Choose spot or on-demand for a run by what each is expected to cost in all.

    The on-demand machine is taken to start once and never to go away or save, so that spot is not flattered.
    A price that is unknown never wins, and spot is never chosen where it is not cheaper.

    Args:
        work: the run.
        spot: price by the hour and billing of a spot machine.
        on_demand: the same of one that stays.
        lifetimes: of the spot machines; None: nobody knows, and spot is not chosen.
        away: as for `expect_spot`.
        window: hours within which the run has to be done; None sets no limit.
    """
    hours = work.start + work.hours
    stays = cost(on_demand, hours * _HOUR)
    expected, failed = _expected(work, spot, lifetimes, away)
    spent = money_of(spot.price, expected.billed) if expected and spot.price else None
    even = None
    if stays is not None and expected is not None:
        even = Money((stays.amount / Decimal(repr(expected.billed))).quantize(_MICRO), stays.currency)
    choose, why = _choose(work, spot, on_demand, expected, failed, spent, stays, window)
    return Comparison(
        choose=choose,
        why=why,
        spot=expected,
        spot_cost=spent,
        on_demand_cost=stays,
        on_demand_hours=hours,
        break_even=even,
    )


def _expected(
    work: Work, spot: Lease, lifetimes: Lifetimes | None, away: float | None
) -> tuple[SpotEstimate | None, str | None]:
    if lifetimes is None:
        return None, _("nobody knows how long machines of {offer} live").format(offer=spot.offer)
    try:
        return expect_spot(work, spot, lifetimes, away=away), None
    except PlanError as error:
        return None, error.message


def money_of(price: Money, hours: float) -> Money:
    """Return what an expected number of billed hours costs, to the millionth."""
    return Money((price.amount * Decimal(repr(hours))).quantize(_MICRO), price.currency)


def _choose(
    work: Work,
    spot: Lease,
    on_demand: Lease,
    expected: SpotEstimate | None,
    failed: str | None,
    spent: Money | None,
    stays: Money | None,
    window: float | None,
) -> tuple[LeaseKind | None, str]:
    if work.never_spot:
        return LeaseKind.HOURLY, _("this run is never put on spot")
    against = _dearer(spot, on_demand) or failed
    if against is None and spent is not None and stays is not None and spent.amount >= stays.amount:
        against = _("with interruptions {spot} is expected to cost {spent}, {other} {stays}").format(
            spot=spot.offer, spent=spent, other=on_demand.offer, stays=stays
        )
    against = against or _too_late(spot, expected, window)
    if against is not None:
        return (LeaseKind.HOURLY if stays is not None else None), against
    assert expected is not None and spent is not None, "without either there is something against spot"
    if stays is None:
        why = _("{spot} is expected to cost {spent}; the price of {other} is unknown, and that never wins")
        return LeaseKind.SPOT, why.format(spot=spot.offer, spent=spent, other=on_demand.offer)
    why = _("{spot} is expected to cost {spent} with {interruptions:.1f} interruptions, {other} {stays}")
    return LeaseKind.SPOT, why.format(
        spot=spot.offer,
        spent=spent,
        interruptions=expected.lives - 1,
        other=on_demand.offer,
        stays=stays,
    )


def _too_late(spot: Lease, expected: SpotEstimate | None, window: float | None) -> str | None:
    if expected is None or expected.end is None or window is None or expected.end <= window:
        return None
    return _("with interruptions {spot} is expected to end after {end:.1f} h of {window:g} h").format(
        spot=spot.offer, end=expected.end, window=window
    )


def _dearer(spot: Lease, on_demand: Lease) -> str | None:
    """Return what the prices of an hour say against spot; None for nothing."""
    if spot.price is None:
        return _("the price of {spot} is unknown, and that never wins").format(spot=spot.offer)
    if on_demand.price is None:
        return None
    if spot.price.currency != on_demand.price.currency:
        return _("{spot} and {other} an hour cannot be compared without a dated rate").format(
            spot=spot.price, other=on_demand.price
        )
    if spot.price.amount >= on_demand.price.amount:
        return _("{spot} costs {price} an hour, no less than {other} for {stays}").format(
            spot=spot.offer, price=spot.price, other=on_demand.offer, stays=on_demand.price
        )
    return None
