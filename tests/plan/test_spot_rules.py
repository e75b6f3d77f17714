from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from benchmarks.spot_replay import Job, Rule, Trace, greedy, lastro, replay, ticks_of
from lastro.billing import LeaseKind
from lastro.plan.spot_rules import Now, Terms, needs_guarantee, next_machine, should_return
from lastro.units import Money

SPOT, HOURLY = LeaseKind.SPOT, LeaseKind.HOURLY


def usd(amount: str) -> Money:
    return Money(Decimal(amount), "USD")


TERMS = Terms(spot=usd("1"), on_demand=usd("3"), restart=0.5, every=0.25, tick=0.25, work=48.0, window=72.0)
#: In the middle, with much time.
NOW = Now(work=24.0, window=40.0, on=None, spot_there=True, spent=usd("25"), useful=24.0)


# --- the safety net -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("window", "bound"), [(25.5, True), (25.4, True), (25.6, False)])
def test_the_net_by_hand(window: float, bound: bool) -> None:
    """24 h of work + 2 * 0.5 h + 0.25 h + 0.25 h = 25.5 h."""
    found = needs_guarantee(replace(NOW, window=window), TERMS)

    assert found.yes is bound
    assert ("for 25.5 h: work, two restarts, one interval, one look" in found.why) is bound


def test_without_a_window_nothing_is_late() -> None:
    assert not needs_guarantee(replace(NOW, window=None), TERMS).yes


@given(
    there=st.lists(st.booleans(), min_size=60, max_size=60),
    tick=st.sampled_from([1 / 6, 195 / 3600, 0.25]),
    work=st.floats(0.5, 6),
    slack=st.floats(0, 4),
    restart=st.sampled_from([0.0, 0.02, 0.1, 0.5, 0.9]),
    every=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
)
@settings(max_examples=80, deadline=None)
def test_no_availability_makes_a_run_late(
    there: list[bool], tick: float, work: float, slack: float, restart: float, every: float
) -> None:
    """Whatever comes and goes, with work lost each time and starts of several ticks, it is in time.

    The window is cut to whole ticks; what a machine that stays from the start could not do is left out.
    """
    trace = Trace(name="drawn", tick=tick, there=tuple(there) * 8, spot=1.0)
    job = Job(work=work, window=work + restart + slack, restart=restart, every=every)
    assume(ticks_of(job, trace) * tick >= work + restart)

    assert replay(lastro, trace, 0, job).late == 0.0


@pytest.mark.parametrize("rule", [lastro, greedy])
@pytest.mark.parametrize("restart", [0.0, 0.6])
@pytest.mark.parametrize("every", [0.0, 1.0])
@pytest.mark.parametrize("slack", [0.0, 0.3, 1.0, 1.25, 1.9, 3.1])
def test_spot_that_is_gone_for_good_at_any_moment_makes_no_run_late(
    rule: Rule, restart: float, every: float, slack: float
) -> None:
    """It goes at each tick in turn: in the worst one all since the last save is lost just above the net."""
    job = Job(work=2.9, window=3 + restart + slack + 0.25, restart=restart, every=every)
    for ticks in range(26):
        trace = Trace(name="ends", tick=0.25, there=(True,) * ticks + (False,) * 60, spot=1.0)
        assert replay(rule, trace, 0, job).late == 0.0, ticks


def test_spot_that_comes_for_one_tick_at_a_time_makes_no_run_late() -> None:
    """A start takes three ticks and no machine stays for more than two: nothing is ever done on spot."""
    trace = Trace(name="flickers", tick=0.25, there=(True, True, False) * 60, spot=1.0)
    bill = replay(lastro, trace, 0, Job(work=6, window=20, restart=0.75, every=0.5))

    assert bill.late == 0.0
    assert bill.interruptions > 0


# --- back to on-demand --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spent", "useful", "back"),
    [
        ("10", 10.0, False),
        ("32.8", 10.0, False),
        ("32.9", 10.0, True),
        ("2.8", 0.0, False),
        ("2.9", 0.0, True),
    ],
)
def test_it_goes_back_when_recovery_has_cost_more_than_it_saved(
    spent: str, useful: float, back: bool
) -> None:
    """10 h cost 30 USD on demand; a move 1.50 USD, 2 % of 48 h 2.88 USD. The other 24 h: 0.29 more each."""
    found = should_return(replace(NOW, spent=usd(spent), useful=useful), TERMS)

    assert found.yes is back
    assert ("costs more than it saves" in found.why) is back


def test_it_stays_when_too_little_is_left_for_a_move() -> None:
    """33 USD for 10 h: 0.30 USD an hour too much. For 4 h that is 1.20 USD, and a move costs 1.50 USD."""
    found = should_return(replace(NOW, work=4.0, spent=usd("33"), useful=10.0), TERMS)

    assert not found.yes
    assert "a move of 1.50 USD does not pay" in found.why


@pytest.mark.parametrize("price", ["3", "3.01"])
def test_it_goes_back_as_soon_as_an_hour_of_spot_costs_no_less(price: str) -> None:
    assert should_return(NOW, replace(TERMS, spot=usd(price))).yes


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        (replace(TERMS, on_demand=None), "a price is unknown"),
        (replace(TERMS, spot=None), "a price is unknown"),
        (replace(TERMS, on_demand=Money(Decimal(9), "BRL")), "several currencies"),
    ],
)
def test_what_is_unknown_shows_nothing(terms: Terms, said: str) -> None:
    found = should_return(replace(NOW, spent=usd("999"), useful=1.0), terms)

    assert not found.yes
    assert said in found.why


@given(
    useful=st.decimals(0, 40, places=1),
    lost=st.decimals(0, 40, places=1),
    tenths=st.integers(1, 9),
)
@settings(max_examples=100, deadline=None)
def test_spot_that_has_cost_less_than_on_demand_is_never_left(
    useful: Decimal, lost: Decimal, tenths: int
) -> None:
    ratio = Decimal(tenths) / 10
    spent = (useful + lost) * ratio
    found = should_return(
        replace(NOW, spent=Money(spent, "USD"), useful=float(useful)),
        replace(TERMS, spot=Money(ratio, "USD"), on_demand=usd("1")),
    )

    assert not (found.yes and spent <= useful)


# --- which machine ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("now", "terms", "use"),
    [
        (NOW, TERMS, SPOT),
        (replace(NOW, on=SPOT), TERMS, SPOT),
        (replace(NOW, spot_there=False), TERMS, None),
        (replace(NOW, spot_there=False, window=None), replace(TERMS, window=None), None),
        (NOW, replace(TERMS, never_spot=True), HOURLY),
        (NOW, replace(TERMS, spot=None), HOURLY),
        (NOW, replace(TERMS, spot=usd("3")), HOURLY),
        (replace(NOW, window=25.5), TERMS, HOURLY),
        (replace(NOW, on=HOURLY), TERMS, SPOT),
        (replace(NOW, on=HOURLY, window=26.4), TERMS, HOURLY),
        (replace(NOW, on=HOURLY, spot_there=False), TERMS, HOURLY),
        (replace(NOW, spent=usd("99")), TERMS, HOURLY),
    ],
    ids=[
        "spot is there",
        "spot is kept",
        "there is time to wait",
        "there is no window",
        "never spot",
        "unknown price",
        "no cheaper",
        "the net",
        "back to spot",
        "no slack for a move",
        "on-demand is kept",
        "recovery costs too much",
    ],
)
def test_which_machine_is_used(now: Now, terms: Terms, use: LeaseKind | None) -> None:
    move = next_machine(now, terms)

    assert move.use is use
    assert move.why


def test_waiting_ends_before_the_slack_does() -> None:
    """At the start 72 - 48 - 1.5 = 22.5 h of slack; with half of the work left, half of the kept share."""
    kept = 22.5 * 0.5
    uses = [
        next_machine(replace(NOW, spot_there=False, window=24 + 1.5 + slack), TERMS).use
        for slack in (kept, kept * 0.05)
    ]

    assert uses == [None, HOURLY]
