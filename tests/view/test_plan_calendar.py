from __future__ import annotations

from pathlib import Path

from lastro.plan.parts import Holding
from lastro.view.plan_calendar import axis_of, colours, lanes_of, leases_of
from tests.view.plans import CALENDAR, option, plan_of, slot


def test_lanes_come_in_the_order_of_their_first_use_and_what_holds_nothing_last() -> None:
    slots = (slot("collect", None, 0, 1), slot("run", "gpu 1", 3, 9), slot("prepare", "person", 0, 2))

    assert [lane.lane for lane in lanes_of(slots)] == ["person", "gpu 1", None]


def test_the_axis_reaches_to_the_latest_end_or_to_the_window() -> None:
    """The calendar ends at 26 h when all is high. 104 h are four times that: just not far."""
    short, inside, at_four, far = (axis_of([CALENDAR], window) for window in (20, 40, 104, 105))

    assert short and inside and at_four and far
    assert (short.hours, short.window) == (26, 20)
    assert (inside.hours, inside.window) == (40, 40)
    assert (at_four.hours, at_four.window) == (104, 104)
    assert (far.hours, far.window) == (26, None)


def test_what_has_no_end_has_no_axis() -> None:
    assert axis_of([], 72) is None
    assert axis_of([()], None) is None
    assert axis_of([(slot("prepare", "person", 0, 0),)], 72) is None


def test_a_run_keeps_its_colour_where_others_are_left_out(tmp_path: Path) -> None:
    made = plan_of(tmp_path, option(), option("reduced", calendar=(slot("run", "gpu 1", 0, 1, run="wide"),)))

    assert colours(made) == {"control": 0, "wide": 1}


def two_lanes(holding: Holding) -> list[tuple[str, float, float]]:
    slots = (slot("run", "gpu 1", 2, 9), slot("run", "gpu 2", 4, 8))
    made = option(holdings=(holding,), calendar=slots)
    return [(lease.lane, lease.start, lease.end) for lease in leases_of(made)]


def test_a_lot_is_paid_from_the_first_use_of_one_of_its_machines() -> None:
    """Two lots of one machine, 72 h each, begin with their own lane; one of two machines with the first."""
    both = Holding(offer="a", kind="lot", gpu="X", leases=2, machines=1, terms=1, hours=144)
    pair = Holding(offer="a", kind="lot", gpu="X", leases=1, machines=2, terms=1, hours=144)

    assert two_lanes(both) == [("gpu 1", 2, 74), ("gpu 2", 4, 76)]
    assert two_lanes(pair) == [("gpu 1", 2, 74), ("gpu 2", 2, 74)]


def test_what_cannot_be_told_of_a_lease_is_not_drawn() -> None:
    """By the hour nobody knows when; of two leases with two terms at most, one may have one term only."""
    hourly = Holding(offer="a", kind="hourly", gpu="X", leases=1, machines=1, terms=None, hours=11)
    uneven = Holding(offer="a", kind="lot", gpu="X", leases=2, machines=1, terms=2, hours=216)

    assert two_lanes(hourly) == []
    assert two_lanes(uneven) == []
