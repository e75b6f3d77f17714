from __future__ import annotations

from decimal import Decimal

from hypothesis import example, given
from hypothesis import strategies as st

from lastro.billing import Lease, LeaseKind, billed_seconds, cost
from lastro.plan.solve import Held, Package, Placed, Problem, billed_ticks, cost_of
from lastro.units import Money

from .problems import hourly, lot, problem, task


@example(span=0, unit=300, minimum=301, price=246)
@given(
    span=st.integers(0, 5000),
    unit=st.integers(1, 900),
    minimum=st.integers(0, 900),
    price=st.integers(0, 10**7),
)
def test_time_is_billed_by_the_law_of_the_bill(span: int, unit: int, minimum: int, price: int) -> None:
    """A tick is a second here, so both count the same units, and the same money to a micro-unit."""
    package = hourly(price=price, unit_ticks=unit, minimum_ticks=minimum)
    lease = Lease(
        offer="hourly",
        kind=LeaseKind.HOURLY,
        price=Money(Decimal(price).scaleb(-6), "USD"),
        unit_seconds=unit,
        minimum_seconds=minimum,
    )

    assert billed_ticks(package, span) == billed_seconds(lease, span)
    money = cost(lease, span)
    assert money is not None
    line = lines(problem([task("t", max(1, span))], [package], ticks_per_hour=3600), (0, span))[0]
    assert 0 <= line - money.amount.scaleb(6) < 1


def lines(one: Problem, *spans: tuple[int, int], lease: int | None = None) -> tuple[int, ...]:
    """Return what machines of the first package cost for these times; one lease for all, if it is given."""
    held = [
        Held(
            package=one.packages[0].name,
            machine=number,
            start=span[0],
            end=span[1],
            cost=0,
            lease=number if lease is None else lease,
        )
        for number, span in enumerate(spans)
    ]
    placed = [
        Placed(task=each.name, machine=number, start=0, end=1)
        for number, each in enumerate(one.tasks[: len(held)])
    ]
    return cost_of(one, held, placed)


def test_a_lot_costs_its_price_until_its_term_is_over_and_then_its_renewal() -> None:
    """47.14 for 72 h, a further term 40: 72 h 47.14, 73 h 87.14, 145 h 127.14."""
    days = lot(price=47_140_000, term=72, renewal=40_000_000)
    one = problem([task("t")], [days])

    assert [lines(one, (0, end))[0] for end in (1, 72, 73, 145)] == [
        47_140_000,
        47_140_000,
        87_140_000,
        127_140_000,
    ]


def test_a_lot_of_two_machines_has_its_price_once() -> None:
    """100 for both; each holds its disk 5 h at 2 and is set up for 3: 100 + 10 + 3, and 10 + 3."""
    pair = lot(price=100, machines=2, holding=2, once=3)

    assert lines(problem([task("t"), task("u")], [pair]), (0, 5), (0, 5), lease=0) == (113, 13)


def test_what_leaves_a_machine_is_paid_where_its_task_ran() -> None:
    """2 h at 10, and 500 GB at 9: 20 + 4500."""
    assert lines(problem([task("t", out=500)], [hourly(per_out=9)]), (0, 2)) == (4520,)


def test_a_line_is_rounded_up_once() -> None:
    """7 ticks of 60 in an hour, at 100 an hour: 11.67, so 12."""
    one = problem([task("t")], [hourly(price=100)], ticks_per_hour=60)

    assert lines(one, (0, 7)) == (12,)


def test_the_minimum_is_billed_in_whole_units() -> None:
    package: Package = hourly(unit_ticks=4, minimum_ticks=6)

    assert [billed_ticks(package, span) for span in (1, 6, 8, 9)] == [8, 8, 8, 12]
