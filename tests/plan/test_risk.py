from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lastro.billing import Lease, LeaseKind, cost
from lastro.errors import UsageError
from lastro.plan.draws import DrawnInterval, Draws, Held, Machine
from lastro.plan.parts import Span
from lastro.plan.risk import Risk, assess_risk
from lastro.units import Money


def usd(amount: str) -> Money:
    return Money(Decimal(amount), "USD")


def fixed(hours: float) -> Span:
    return Span(low=hours, likely=hours, high=hours)


def hourly(price: str | None, unit: int = 1, minimum: int = 0) -> Lease:
    money = None if price is None else usd(price)
    return Lease(offer="card", kind=LeaseKind.HOURLY, price=money, unit_seconds=unit, minimum_seconds=minimum)


LOT = Lease(offer="three days", kind=LeaseKind.LOT, price=usd("47.14"), term_seconds=72 * 3600)


def effects(risk: Risk) -> dict[str, tuple[float, float]]:
    return {effect.name: (effect.critical, round(effect.one_more_hour, 9)) for effect in risk.effects}


# --- late ---------------------------------------------------------------------------------------------


def test_one_triangle_is_late_as_often_as_its_area_says() -> None:
    """Low 2, likely 4, high 6 in 5 h: (6 - 5)^2 / (4 * 2) = 1/8 is later; P50 is 4 h, P90 4.8 + 0.31 h.

    P90: 6 - sqrt(0.1 * 4 * 2) = 5.1056 h.
    """
    draws = Draws(intervals=(DrawnInterval(name="run", hours=Span(low=2, likely=4, high=6)),))

    risk = assess_risk(draws, window_hours=5.0)

    assert risk.p_late == pytest.approx(1 / 8, abs=0.01)
    assert risk.end_hours is not None
    assert (risk.end_hours.p50, risk.end_hours.p90) == pytest.approx((4.0, 5.1056), abs=0.04)
    assert (risk.method, risk.draws, risk.margin) == ("numpy", 10_000, 0.01)


def test_the_sum_of_likely_hours_hides_how_often_it_is_late() -> None:
    """Ten stages of 1, 2, 6 h: 20 h are likely and fit into 24 h, but the mean is 30 h."""
    stages = tuple(
        DrawnInterval(name=f"s{number}", hours=Span(low=1, likely=2, high=6), lanes=(0,))
        for number in range(10)
    )

    risk = assess_risk(Draws(intervals=stages), window_hours=24.0)

    assert risk.p_late is not None and risk.p_late > 0.9


def test_a_window_that_is_just_reached_is_not_late() -> None:
    """48 h in 48 h."""
    risk = assess_risk(
        Draws(intervals=tuple(DrawnInterval(name=n, hours=fixed(4.8), lanes=(0,)) for n in "abcdefghij")),
        window_hours=48.0,
    )

    assert risk.p_late == 0.0


def test_lanes_are_used_in_order_and_waits_hold_none() -> None:
    """`a` 2 h on lane 0; `b` waits 3 h for it, 1 h on lane 1: 6 h. `c` 1 h on lane 0 follows `a`: 3 h."""
    draws = Draws(
        intervals=(
            DrawnInterval(name="a", hours=fixed(2), lanes=(0,)),
            DrawnInterval(name="b", hours=fixed(1), lanes=(1,), after=(0,), wait_hours=3),
            DrawnInterval(name="c", hours=fixed(1), lanes=(0,)),
        )
    )
    risk = assess_risk(draws, count=1)

    assert risk.end_hours is not None and risk.end_hours.p99 == 6.0
    assert effects(risk) == {"a": (1.0, 1.0), "b": (1.0, 1.0), "c": (0.0, 0.0)}


def test_one_more_hour_moves_the_end_by_what_exceeds_the_slack() -> None:
    """`short` has 0.75 h less than `long` beside it: one hour more moves the end by 0.25 h."""
    draws = Draws(
        intervals=(DrawnInterval(name="long", hours=fixed(2)), DrawnInterval(name="short", hours=fixed(1.25)))
    )

    assert effects(assess_risk(draws, count=3)) == {"long": (1.0, 1.0), "short": (0.0, 0.25)}


def test_two_that_are_alike_share_the_critical_path() -> None:
    span = Span(low=1, likely=2, high=3)
    draws = Draws(intervals=(DrawnInterval(name="a", hours=span), DrawnInterval(name="b", hours=span)))

    shares = [effect.critical for effect in assess_risk(draws).effects]

    assert sum(shares) == pytest.approx(1.0)
    assert shares[0] == pytest.approx(0.5, abs=0.02)


def test_what_is_long_together_is_late_more_often_at_the_edge() -> None:
    """Four stages of 1, 2, 3 h in 10 h: moving as one they are late when each takes more than 2.5 h: 1/8."""
    alone = tuple(
        DrawnInterval(name=name, hours=Span(low=1, likely=2, high=3), lanes=(0,)) for name in "abcd"
    )
    as_one = tuple(replace(interval, together="card") for interval in alone)

    apart, joined = (assess_risk(Draws(intervals=found), window_hours=10.0) for found in (alone, as_one))

    assert joined.p_late == pytest.approx(1 / 8, abs=0.01)
    assert apart.p_late is not None and apart.p_late < 0.05


# --- money --------------------------------------------------------------------------------------------


def test_a_lot_of_three_days_is_paid_twice_when_the_work_takes_longer() -> None:
    """Low 60, likely 72, high 84: half of the draws need a second lot, so P90 is 94.28 and P(> 60) is 1/2."""
    draws = Draws(
        intervals=(DrawnInterval(name="run", hours=Span(low=60, likely=72, high=84), lanes=(0,)),),
        machines=(Machine(lease=LOT, lanes=(0,), held=Held.END),),
    )

    risk = assess_risk(draws, budget=usd("60"))

    assert risk.p_over_budget == pytest.approx(0.5, abs=0.02)
    assert risk.cost is not None
    assert [money.amount for money in risk.cost.money()][1:] == [Decimal("94.28"), Decimal("94.28")]


def test_a_lot_with_two_lanes_has_its_price_once_and_its_own_price_for_renewal() -> None:
    """Two lanes of 80 h under one lot of 72 h: 47.14 + 40 = 87.14."""
    draws = Draws(
        intervals=(
            DrawnInterval(name="a", hours=fixed(80), lanes=(0,)),
            DrawnInterval(name="b", hours=fixed(80), lanes=(1,)),
        ),
        machines=(Machine(lease=LOT, lanes=(0, 1), held=Held.WHOLE, renewal=usd("40")),),
    )
    risk = assess_risk(draws, count=1)

    assert risk.cost is not None and risk.cost.money()[0] == usd("87.14")


def test_a_machine_held_to_the_end_is_paid_while_a_person_looks() -> None:
    """1 h of work, 2 h of a person: held whole 1 h, to the end 3 h, at 2 USD; and 5 USD for a disk."""
    intervals = (
        DrawnInterval(name="run", hours=fixed(1), lanes=(0,)),
        DrawnInterval(name="look", hours=fixed(2), lanes=(1,), after=(0,)),
    )
    costs = [
        assess_risk(
            Draws(
                intervals=intervals,
                machines=(Machine(lease=hourly("2"), lanes=(0,), held=held),),
                other=usd("5"),
            ),
            count=1,
        ).cost
        for held in (Held.INTERVAL, Held.WHOLE, Held.END)
    ]

    assert [found.p50 for found in costs if found] == [7.0, 7.0, 11.0]


def test_a_machine_with_nothing_to_do_costs_nothing() -> None:
    machines = (Machine(lease=hourly("2"), lanes=(0,)), Machine(lease=LOT, lanes=(7,), held=Held.END))
    draws = Draws(intervals=(DrawnInterval(name="run", hours=fixed(1), lanes=(0,)),), machines=machines)

    found = assess_risk(draws, count=1).cost

    assert found is not None and found.p99 == 2.0


@given(
    hours=st.floats(0, 200),
    price=st.decimals(0, 50, places=2),
    unit=st.sampled_from([1, 60, 3600]),
    minimum=st.sampled_from([0, 90, 3600]),
    boot=st.sampled_from([0.0, 45.0, 600.0]),
)
@settings(max_examples=60, deadline=None)
def test_held_time_is_billed_as_a_lease_is(
    hours: float, price: Decimal, unit: int, minimum: int, boot: float
) -> None:
    """Rounded to the second: a unit that is begun by less than a millionth is told apart by neither."""
    hours = round(hours * 3600) / 3600
    lease = hourly(str(price), unit, minimum)
    draws = Draws(
        intervals=(DrawnInterval(name="run", hours=fixed(hours), lanes=(0,)),),
        machines=(Machine(lease=lease, lanes=(0,), boot_seconds=boot),),
    )
    found = assess_risk(draws, count=1, numpy=False).cost

    billed = cost(lease, round(hours * 3600) + boot)
    assert billed is not None and found is not None
    assert found.p50 == pytest.approx(float(billed.amount))


# --- unknown ------------------------------------------------------------------------------------------


def test_an_unknown_duration_leaves_all_unknown_and_is_named() -> None:
    draws = Draws(
        intervals=(
            DrawnInterval(name="run", hours=fixed(1), lanes=(0,)),
            DrawnInterval(name="export", hours=None),
        ),
        machines=(Machine(lease=hourly("2"), lanes=(0,)),),
    )
    risk = assess_risk(draws, window_hours=9.0, budget=usd("9"))

    assert (risk.p_late, risk.p_over_budget, risk.end_hours, risk.cost, risk.effects) == (
        None, None, None, None, (),
    )  # fmt: skip
    assert risk.unknown == ("nobody knows how long export takes",)


@pytest.mark.parametrize(
    ("price", "budget", "said"),
    [
        (None, usd("9"), "the price of card is unknown"),
        ("2", None, "there is no budget"),
        ("2", Money(Decimal(9), "BRL"), "a budget of 9.00 BRL cannot be compared without a dated rate"),
    ],
)
def test_what_cannot_be_said_of_the_money_is_said(price: str | None, budget: Money | None, said: str) -> None:
    draws = Draws(
        intervals=(DrawnInterval(name="run", hours=fixed(1), lanes=(0,)),),
        machines=(Machine(lease=hourly(price), lanes=(0,)),),
    )
    risk = assess_risk(draws, window_hours=2.0, budget=budget, count=1)

    assert (risk.p_late, risk.p_over_budget) == (0.0, None)
    assert (risk.cost is None) == (price is None)
    assert said in " ".join(risk.unknown)


def test_two_currencies_give_no_total() -> None:
    draws = Draws(
        intervals=(DrawnInterval(name="run", hours=fixed(1), lanes=(0,)),),
        machines=(Machine(lease=hourly("2"), lanes=(0,)),),
        other=Money(Decimal(1), "BRL"),
    )
    risk = assess_risk(draws, count=1)

    assert risk.cost is None
    assert "BRL, USD do not add up" in risk.unknown[0]


def test_without_any_price_the_cost_is_unknown_and_not_nothing() -> None:
    risk = assess_risk(Draws(intervals=(DrawnInterval(name="run", hours=fixed(1)),)), count=1)

    assert risk.cost is None
    assert "nothing has a price, so the cost is unknown" in risk.unknown


# --- the numbers --------------------------------------------------------------------------------------


def calendars() -> st.SearchStrategy[Draws]:
    """Return calendars of up to eight intervals on three lanes, with a lot and a machine by the hour."""

    @st.composite
    def built(draw: st.DrawFn) -> Draws:
        intervals = []
        for place in range(draw(st.integers(1, 8))):
            low, likely, high = sorted(draw(st.tuples(*[st.floats(0, 40)] * 3)))
            after = draw(st.sets(st.integers(0, place - 1), max_size=3)) if place else set()
            lanes = draw(st.sets(st.integers(0, 2), max_size=2))
            intervals.append(
                DrawnInterval(
                    name=f"s{place}",
                    hours=Span(low=low, likely=likely, high=high),
                    lanes=tuple(sorted(lanes)),
                    after=tuple(sorted(after)),
                    wait_hours=draw(st.sampled_from([0.0, 0.5])),
                )
            )
        machines = (
            Machine(lease=LOT, lanes=(0, 1), held=draw(st.sampled_from([Held.WHOLE, Held.END]))),
            Machine(lease=hourly("0.69", 3600), lanes=(2,), boot_seconds=90),
        )
        return Draws(intervals=tuple(intervals), machines=machines)

    return built()


@given(draws=calendars(), seed=st.integers(0, 2**70))
@settings(max_examples=30, deadline=None)
def test_with_and_without_numpy_it_is_the_same_to_the_last_bit(draws: Draws, seed: int) -> None:
    fast, plain = (
        assess_risk(draws, window_hours=60, budget=usd("90"), seed=seed, count=37, numpy=way)
        for way in (True, False)
    )

    assert replace(fast, method="python") == plain


@given(draws=calendars(), window=st.floats(0, 200), more=st.floats(0, 50))
@settings(max_examples=30, deadline=None)
def test_more_window_is_never_later_and_quantiles_are_in_order(
    draws: Draws, window: float, more: float
) -> None:
    tight, wide = (
        assess_risk(draws, window_hours=hours, count=50, numpy=False) for hours in (window, window + more)
    )

    assert tight.p_late is not None and wide.p_late is not None and wide.p_late <= tight.p_late
    assert tight.end_hours is not None
    assert tight.end_hours.p50 <= tight.end_hours.p90 <= tight.end_hours.p99
    assert all(0 <= effect.one_more_hour <= 1 for effect in tight.effects)


@given(draws=calendars(), data=st.data())
@settings(max_examples=30, deadline=None)
def test_one_more_hour_does_what_it_is_said_to_do(draws: Draws, data: st.DataObject) -> None:
    """Lay it out again with one hour more in a stage, in each draw, and compare the ends."""
    place = data.draw(st.integers(0, len(draws.intervals) - 1))
    span = draws.intervals[place].hours
    assert span is not None
    longer = Span(low=span.low + 1, likely=span.likely + 1, high=span.high + 1)
    changed = tuple(
        replace(interval, hours=longer) if index == place else interval
        for index, interval in enumerate(draws.intervals)
    )
    for seed in range(3):
        before, after = (
            assess_risk(found, seed=seed, count=1, numpy=False)
            for found in (draws, Draws(intervals=changed, machines=draws.machines))
        )
        assert before.end_hours is not None and after.end_hours is not None
        moved = after.end_hours.p50 - before.end_hours.p50
        assert before.effects[place].one_more_hour == pytest.approx(moved, abs=1e-5)


def test_a_stage_has_the_same_luck_in_every_plan() -> None:
    """Another stage before it changes nothing in its draws, so that plans are compared without noise."""
    span = Span(low=1, likely=2, high=9)
    alone = assess_risk(Draws(intervals=(DrawnInterval(name="run", hours=span),)), seed=4, count=99)
    later = assess_risk(
        Draws(intervals=(DrawnInterval(name="look", hours=fixed(0)), DrawnInterval(name="run", hours=span))),
        seed=4,
        count=99,
    )

    assert alone.end_hours == later.end_hours
    assert alone.end_hours != assess_risk(
        Draws(intervals=(DrawnInterval(name="run", hours=span),)), seed=5, count=99
    ).end_hours  # fmt: skip


def test_without_numpy_there_are_fewer_draws_and_it_says_so() -> None:
    risk = assess_risk(Draws(intervals=(DrawnInterval(name="run", hours=fixed(1)),)), numpy=False)

    assert (risk.method, risk.draws) == ("python", 1000)
    assert risk.margin == pytest.approx(0.0316, abs=0.0001)
    assert risk.order == "order and lanes stay as planned in every draw"


@pytest.mark.parametrize("way", [True, False])
def test_a_plan_without_stages_ends_at_once(way: bool) -> None:
    risk = assess_risk(Draws(intervals=(), other=usd("5")), window_hours=0.0, numpy=way, count=3)

    assert risk.p_late == 0.0
    assert risk.cost is not None and risk.cost.p50 == 5.0


def test_no_draws_are_refused() -> None:
    with pytest.raises(UsageError, match="0 draws"):
        assess_risk(Draws(intervals=()), count=0)
