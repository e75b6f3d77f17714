from __future__ import annotations

from decimal import Decimal

import pytest

from lastro.billing import Lease, LeaseKind
from lastro.errors import UsageError
from lastro.plan.draws import DrawnInterval, Draws, Held, Machine
from lastro.plan.parts import Span
from lastro.units import Money

HOUR = Span(low=1, likely=1, high=1)
LOT = Lease(offer="lot", kind=LeaseKind.LOT, price=Money(Decimal(10), "USD"), term_seconds=3600)
HOURLY = Lease(offer="hourly", kind=LeaseKind.HOURLY, price=Money(Decimal(1), "USD"))


@pytest.mark.parametrize(
    ("intervals", "said"),
    [
        (
            (DrawnInterval(name="a", hours=HOUR), DrawnInterval(name="a", hours=HOUR)),
            "two intervals are named a",
        ),
        ((DrawnInterval(name="a", hours=HOUR, after=(0,)),), "waits for an interval that is not before it"),
        ((DrawnInterval(name="a", hours=HOUR, after=(-1,)),), "waits for an interval that is not before it"),
        ((DrawnInterval(name="a", hours=Span(low=2, likely=1, high=3)),), "low <= likely <= high"),
        ((DrawnInterval(name="a", hours=Span(low=1, likely=1, high=float("nan"))),), "low <= likely <= high"),
        ((DrawnInterval(name="a", hours=HOUR, wait_hours=-1),), "low <= likely <= high"),
    ],
)
def test_what_cannot_be_laid_out_is_refused_by_name(intervals: tuple[DrawnInterval, ...], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Draws(intervals=intervals)


@pytest.mark.parametrize(
    "machine",
    [
        Machine(lease=LOT, lanes=(0,)),
        Machine(lease=HOURLY, lanes=(0, 1)),
        Machine(lease=Lease(offer="lot", kind=LeaseKind.LOT, price=None), lanes=(0,), held=Held.END),
    ],
    ids=["a lot by intervals", "two lanes by intervals", "a lot without a term"],
)
def test_a_machine_that_cannot_be_billed_so_is_refused(machine: Machine) -> None:
    with pytest.raises(UsageError, match=machine.lease.offer):
        Draws(intervals=(), machines=(machine,))
