from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from lastro.plan.parts import Slot
from lastro.view.plan_calendar import Axis, Lease, axis_of
from lastro.view.plan_gantt import Picture, picture, small_picture
from tests.view.plans import CALENDAR, slot

AXIS = Axis(hours=40, window=20)
COLOURS = {"control": 0, "wide": 1}


def places(svg: str, kind: str) -> list[tuple[float, float]]:
    """Return start and width in percent of the rectangles of a class."""
    found = re.findall(rf'<rect class="{kind}[^"]*" x="([\d.]+)%" y="[\d.]+" width="([\d.]+)%"', svg)
    return [(float(x), float(width)) for x, width in found]


def rows(made: Picture) -> dict[str, str]:
    return {row.label: row.svg for row in made.rows}


def test_bars_lie_where_their_hours_are() -> None:
    """On an axis of 40 h: 2 to 10 h is 5 % to 25 %; until 16 h when all is high, 15 % more."""
    drawn = rows(picture(CALENDAR, AXIS, COLOURS, ()))

    assert places(drawn["run control"], "likely s0") == [(5, 20)]
    assert places(drawn["run control"], "tail s0") == [(25, 15)]
    assert 'x="20.000%"' in drawn["run control"], "the notch of the low end, at 8 h"
    assert places(drawn["run wide"], "likely s1") == [(25, 20)]
    assert places(drawn["prepare"], "likely other") == [(0, 5)]
    assert '<line class="free" x1="5.000%" x2="12.500%"' in drawn["prepare"], "3 h of slack"


def test_a_decision_stands_at_the_end_of_its_stage() -> None:
    drawn = rows(picture(CALENDAR, AXIS, COLOURS, ()))

    assert re.findall(r'<svg x="([\d.]+)%"[^>]*><title>decision after run control', drawn["run control"]) == [
        "25.000"
    ]
    assert "decide" not in drawn["run wide"]


def test_the_window_ends_where_it_ends_and_what_is_behind_is_tinted() -> None:
    behind = picture(CALENDAR, AXIS, COLOURS, ()).behind

    assert '<line class="window" x1="50.000%" x2="50.000%"' in behind
    assert '<rect class="beyond" x="50.000%" y="0" width="50.000%"' in behind
    assert "window" not in picture(CALENDAR, Axis(hours=40, window=None), COLOURS, ()).behind


def test_lanes_are_headed_and_a_small_picture_has_a_row_for_each() -> None:
    labels = ["person", "prepare", "GPU 1", "run control", "run wide", "holds nothing", "collect"]

    assert [row.label for row in picture(CALENDAR, AXIS, COLOURS, ()).rows] == labels
    small = small_picture(CALENDAR, AXIS, COLOURS, ())
    assert [row.label for row in small.rows] == ["person", "GPU 1", "holds nothing"]
    assert len(places(rows(small)["GPU 1"], "likely")) == 2
    assert places(rows(small)["GPU 1"], "tail") == [(45, 15)], "what follows the last, to 24 h"


def test_a_lot_that_is_paid_beyond_the_picture_stays_open() -> None:
    within = picture(CALENDAR, AXIS, COLOURS, [Lease(lane="gpu 1", start=2, end=40)])
    beyond = picture(CALENDAR, AXIS, COLOURS, [Lease(lane="gpu 1", start=2, end=170)])

    assert places(rows(within)["GPU 1"], "held") == [(5, 95)]
    assert 'class="held open"' not in rows(within)["GPU 1"]
    assert 'class="held open"' in rows(beyond)["GPU 1"] and 'class="on"' in rows(beyond)["GPU 1"]
    assert "the lot is paid from 2 h to 170 h" in rows(beyond)["GPU 1"]


def test_who_does_not_see_it_is_told_the_same() -> None:
    told = picture(CALENDAR, AXIS, COLOURS, ()).described

    assert "prepare on person: from 0 to 2 h, 3 h of slack" in told
    assert (
        "run control on GPU 1: from 2 to 10 h, its end from 8 to 16 h, 0 h of slack, then a decision" in told
    )


def test_names_of_users_are_escaped() -> None:
    made = (slot("<script>", "gpu 1", 0, 1, decide=True),)

    drawn = "".join(row.svg for row in picture(made, AXIS, COLOURS, ()).rows)

    assert "<script>" not in drawn and "&lt;script&gt;" in drawn


HOURS = st.floats(min_value=0, max_value=1e4, allow_nan=False).map(lambda value: round(value, 6))


@st.composite
def any_slot(draw: st.DrawFn) -> Slot:
    start, long, more, slack = (draw(HOURS) for _ in range(4))
    return slot(
        "work",
        draw(st.sampled_from(["person", "gpu 1", "gpu 2", None])),
        start,
        start + long,
        end_high_hours=start + long + more,
        slack_hours=slack,
        decide=draw(st.booleans()),
    )


@given(st.lists(any_slot(), min_size=1, max_size=6), st.none() | HOURS)
def test_nothing_is_drawn_outside_the_picture(slots: list[Slot], window: float | None) -> None:
    axis = axis_of([slots], window)
    if axis is None:
        return
    made = [picture(slots, axis, {}, ()), small_picture(slots, axis, {}, ())]

    drawn = "".join(row.svg for one in made for row in one.rows) + made[0].behind

    for x, width in re.findall(r'x="([\d.]+)%" y="[\d.]+" width="([\d.]+)%"', drawn):
        assert float(x) + float(width) <= 100.01
    assert all(float(x) <= 100 for x in re.findall(r'x[12]?="([\d.]+)%"', drawn))
