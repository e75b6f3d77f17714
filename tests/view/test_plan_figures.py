from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lastro.plan.parts import Finding, Holding
from lastro.plan.points import DecisionPoint
from lastro.view import plan_figures as figures
from tests.view.plans import CALENDAR, cost, option, plan_of, refused, usd


@pytest.mark.parametrize(
    ("share", "draws", "text"),
    [
        (None, 10000, "unknown"),
        (0.0, None, "unknown"),
        (0.0, 10000, "< 0.1 %"),
        (0.0, 200, "0 of 200"),
        (0.0004, 10000, "< 0.1 %"),
        (0.0173, 10000, "1.7 %"),
        (0.9827, 10000, "98 %"),
        (1.0, 10000, "> 99.9 %"),
        (1.0, 200, "200 of 200"),
    ],
)
def test_a_chance_is_no_certainty_and_unknown_is_no_chance(
    share: float | None, draws: int | None, text: str
) -> None:
    assert figures.chance(share, draws) == text


def test_nothing_can_be_late_without_a_window_or_too_dear_without_a_budget(tmp_path: Path) -> None:
    free = plan_of(tmp_path, option(), window_hours=None, budget=None)

    assert figures.chance_late(option(), free) == figures.chance_dear(option(), free) == "–"
    assert figures.chance_late(option(), plan_of(tmp_path, option())) == "25 %"


def test_a_cost_with_an_unknown_line_is_at_least_the_others() -> None:
    assert figures.cost(cost(("machine", "40"), ("disk", "2"))) == "42.00 USD"
    assert figures.cost(cost(("machine", "40"), ("disk", None))) == "at least 40.00 USD"
    assert figures.cost(cost(("machine", None))) == "unknown"


def test_nothing_is_proven_without_a_proof(tmp_path: Path) -> None:
    proven = option()
    open_ = option("b", bound=usd("30"), gap=0.25, proven=False)
    made = plan_of(tmp_path, proven, open_)

    assert figures.bound(proven, made) == "proven: nothing below 40.00 USD does the same"
    assert figures.bound(open_, made) == "bound 30.00 USD, 25 % below this"
    assert figures.bound(option(bound=None, gap=None, proven=False), made) == "no bound"


def test_the_bound_of_an_option_that_is_too_long_is_for_those_that_are_not(tmp_path: Path) -> None:
    late = option("late", fits_window=False, bound=usd("94.28"))
    text = "proven: nothing below 94.28 USD does it in the window"

    assert figures.bound(late, plan_of(tmp_path, late, option())) == text
    assert figures.bound(late, plan_of(tmp_path, late)) == "proven: nothing below 94.28 USD does the same"


def test_what_is_rented_is_told_with_its_terms() -> None:
    """Two lots of one machine for two terms of 72 h: 288 h in all, 144 h each."""
    two = Holding(offer="a", kind="lot", gpu="X", leases=2, machines=1, terms=2, hours=288)
    hourly = Holding(offer="b", kind="hourly", gpu="X", leases=2, machines=1, terms=None, hours=40)

    assert figures.holdings(option(holdings=(two,))) == "2 lots of a, held for 6 d 0 h (2 terms)"
    assert figures.holdings(option(holdings=(hourly,))) == "2 × b for 40 h 00 min"
    unknown = Holding(offer="c", kind="lot", gpu=None, leases=0, machines=0, terms=None, hours=0)
    assert figures.holdings(option(holdings=(unknown,))) == "c, nobody knows for how long"
    assert figures.holdings(option(holdings=())) == "nothing that could be priced"


def test_what_is_not_known_to_fit_is_not_said_to_fit(tmp_path: Path) -> None:
    made = plan_of(tmp_path, option())

    assert figures.fit(option(), made) == ("fits", "fits")
    assert figures.fit(option(fits_budget=None), made) == ("unsure", "fits as far as is known")
    assert figures.fit(option(fits_budget=None), replace(made, budget=None)) == ("fits", "fits")
    assert figures.fit(option(fits_window=False), made) == ("breaks", "too long for the window")
    assert figures.fit(option(fits_window=False, fits_budget=False), made)[1] == "too long and too dear"


@pytest.mark.parametrize(
    ("value", "whole", "text"),
    [
        (2.0, 72.0, "2"),
        (0.05, 72.0, "0.05"),
        (0.05, 2.0, "3"),
        (0.01, 0.04, "36"),
        (-6.0, 72.0, "−6"),
        (0, 9, "0"),
    ],
)
def test_moments_are_told_in_the_unit_of_their_calendar(value: float, whole: float, text: str) -> None:
    """0.05 h are 3 min, 0.01 h are 36 s: in a short campaign nothing is rounded to zero."""
    assert figures.moment(value, whole) == text


def test_an_effect_that_was_not_drawn_is_unknown() -> None:
    assert figures.effect(CALENDAR[0]) == "unknown"
    assert figures.effect(replace(CALENDAR[0], one_more_hour=0.0)) == "0"
    assert figures.effect(replace(CALENDAR[0], one_more_hour=0.874)) == "+0.87"


def test_a_note_that_several_options_share_is_told_once() -> None:
    assert figures.notes_once([option(notes=("a", "b")), option(notes=("b", "c"))]) == [("a", "b"), ("c",)]


def test_a_decision_names_what_waits_for_it(tmp_path: Path) -> None:
    points = (
        DecisionPoint(stage="pilot", shares=(), holds=("wide", "deep")),
        DecisionPoint(stage="review", shares=(), holds=()),
    )

    assert list(figures.decisions(plan_of(tmp_path, decision_points=points))) == [
        "pilot ends with a decision; what waits for it: wide, deep",
        "review ends with a decision; nothing waits for it",
    ]


def test_the_next_step_names_the_options_that_do_fit(tmp_path: Path) -> None:
    late = option("late", fits_window=False)
    others = (option("reduced, late", protocol="reduced"), option("2 x late", machines=2), refused("x", "no"))
    failed = plan_of(
        tmp_path, late, *others, findings=(Finding(code="window_too_short", level="fail", text="too short"),)
    )

    step = figures.next_step(failed, frozen=False)

    assert "`lastro plan --reduced --freeze` takes reduced, late" in step
    assert "`machines: 2` in the campaign file takes 2 x late" in step
    assert "nothing that is offered fits" in figures.next_step(replace(failed, options=(late,)), frozen=False)
    assert figures.next_step(replace(failed, findings=()), frozen=False) == "`lastro plan --freeze` keeps it."
    assert "lastro run" in figures.next_step(failed, frozen=True)
