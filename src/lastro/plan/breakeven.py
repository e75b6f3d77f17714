"""A lot beside an hourly offer: after how many hours the lot is cheaper, if ever inside its term."""

from __future__ import annotations

from decimal import Decimal

from lastro.billing import Lease, LeaseKind
from lastro.errors import UsageError
from lastro.locale import _
from lastro.records import dataclass
from lastro.units import Money

_HOUR = Decimal(3600)


@dataclass(frozen=True, kw_only=True)
class BreakEven:
    """After how many hours of its use a lot is cheaper than the same GPUs by the hour.

    `hours` None: unknown. `inside`: whether that is within the term of the lot; None: unknown.
    `machines`: how many hourly machines carry as many GPUs as the lot.
    """

    hours: Decimal | None
    inside: bool | None
    term_hours: Decimal
    machines: int
    why: str


@dataclass(frozen=True, kw_only=True)
class DerivedRate:
    """What one GPU of a lot costs an hour when all of it is used: worked out, and nobody's tariff."""

    per_gpu_hour: Money
    why: str


def break_even(lot: Lease, hourly: Lease, *, lot_gpus: int = 1, hourly_gpus: int = 1) -> BreakEven:
    """Return after how many hours `lot` is cheaper than `hourly`.

    Whole machines are compared: two GPUs of a lot stand beside two hourly machines of one GPU, or one of
    two or more. All GPUs of the lot are taken to be in use, and the hours to be used in one piece; the
    figure is price of the lot / (machines * price of an hour), before hours are rounded up to billed units.

    Args:
        lot: a lot with a term.
        hourly: an hourly or spot lease; a spot price is taken as it is, without what interruptions cost.
        lot_gpus: GPUs that the lot includes, over all its machines.
        hourly_gpus: GPUs of one hourly machine.

    Raises:
        UsageError: `lot` is no lot with a term, or `hourly` is one, or there is no GPU.
    """
    _check(lot, hourly, lot_gpus, hourly_gpus)
    term = Decimal(lot.term_seconds or 0) / _HOUR
    machines = -(-lot_gpus // hourly_gpus)
    if lot.price is None or hourly.price is None:
        offers = ", ".join(lease.offer for lease in (lot, hourly) if lease.price is None)
        why = _("the price of {offers} is unknown").format(offers=offers)
        return BreakEven(hours=None, inside=None, term_hours=term, machines=machines, why=why)
    if lot.price.currency != hourly.price.currency:
        why = _("{lot} and {hourly} an hour cannot be compared without a dated rate").format(
            lot=lot.price, hourly=hourly.price
        )
        return BreakEven(hours=None, inside=None, term_hours=term, machines=machines, why=why)
    rate = hourly.price.amount * machines
    if rate <= 0:
        why = _("{hourly} costs nothing by the hour, so {lot} is never cheaper").format(
            hourly=hourly.offer, lot=lot.offer
        )
        return BreakEven(hours=None, inside=False, term_hours=term, machines=machines, why=why)
    hours = lot.price.amount / rate
    # At the very end of the term both cost the same, and the lot is not cheaper.
    inside = hours < term
    text = (
        _("{lot} for {price} is cheaper than {hourly} for {rate} an hour after {hours:.1f} of {term:.0f} h")
        if inside
        else _(
            "{lot} for {price} is never cheaper inside its {term:.0f} h: "
            "{hourly} for {rate} an hour costs as much only after {hours:.1f} h"
        )
    )
    why = text.format(
        lot=lot.offer,
        price=lot.price,
        hourly=hourly.offer if machines == 1 else f"{machines} x {hourly.offer}",
        rate=hourly.price.times(machines),
        hours=hours,
        term=term,
    )
    return BreakEven(hours=hours, inside=inside, term_hours=term, machines=machines, why=why)


def derived_rate(lot: Lease, *, gpus: int = 1) -> DerivedRate | None:
    """Return what a GPU-hour of a lot comes to when every hour of its term is used; None: price unknown.

    Raises UsageError when it is no lot with a term, or has no GPU.
    """
    _check(lot, None, gpus, 1)
    if lot.price is None:
        return None
    term = Decimal(lot.term_seconds or 0) / _HOUR
    why = _(
        "derived: {price} / ({term:.0f} h x {gpus} GPU), if all of it is used; the lot has no hourly tariff"
    )
    return DerivedRate(
        per_gpu_hour=lot.price.times(1 / (term * gpus)),
        why=why.format(price=lot.price, term=term, gpus=gpus),
    )


def _check(lot: Lease, hourly: Lease | None, lot_gpus: int, hourly_gpus: int) -> None:
    if lot.kind is not LeaseKind.LOT or not lot.term_seconds:
        raise UsageError(_("{offer} is no lot with a term").format(offer=lot.offer))
    if hourly is not None and hourly.kind is LeaseKind.LOT:
        raise UsageError(_("{offer} is a lot, and has no price for an hour").format(offer=hourly.offer))
    if lot_gpus < 1 or hourly_gpus < 1:
        raise UsageError(_("GPUs are compared, so each side needs one at least"))
