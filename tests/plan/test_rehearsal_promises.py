"""Promises that were kept or not, and why, against numbers worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lastro.plan.rehearsal_account import Blow
from lastro.plan.rehearsal_promises import Answer, Outputs, Promise, RunEnd, Seen, promises_of, verdict_of
from lastro.plan.rehearsal_shape import Shape
from lastro.plan.rehearsal_weather import Kind

from .planning import usd
from .rehearsing import CAMPAIGN, SPOT, scale, shape

RUNS = {"control": 100, "wide": 100, "deep": 100}


def blow(index: int | None, run: str = "control", delay: float | None = 1.0, lost: float = 0.5) -> Blow:
    return Blow(
        index=index,
        kind=Kind.SUDDEN,
        run=run,
        step=50,
        happened=True,
        lost_steps=5,
        lost=lost,
        delay=delay,
        held=delay,
    )


CALM = Seen(
    blows=(),
    runs=(RunEnd(run="control", required=True, status="completed"),),
    outputs=Outputs(promised=3, failed=()),
    answers=("adopt wide", "adopt wide"),
    rented=(),
)


def promises(shaped: Shape, *blows: Blow, **more: object) -> dict[str, Promise]:
    seen = replace(CALM, blows=blows, **more)  # type: ignore[arg-type]
    return {one.name: one for one in promises_of(shaped, scale(**RUNS), seen)}


@pytest.fixture
def planned(tmp_path: Path) -> Shape:
    return shape(tmp_path)


def test_what_was_kept_stands_beside_what_was_promised(planned: Shape) -> None:
    """48 h and 1 h later; 2 + 30 + 8 h and a boot of 0.1 h at 1 USD, 1 h of another machine: 41.10 USD."""
    found = promises(planned, blow(0))

    assert {one.answer for one in found.values()} == {Answer.HELD}
    assert verdict_of(tuple(found.values())) is Answer.HELD
    assert (found["window"].promised, found["window"].seen) == ("3 d 0 h", "2 d 1 h")
    assert (found["budget"].promised, found["budget"].seen) == ("60.00 USD", "41.10 USD")
    assert (found["loss"].promised, found["loss"].seen) == ("1 h 00 min", "30 min 00 s")


def test_the_fault_that_makes_the_difference_to_the_window_is_named(planned: Shape) -> None:
    """48 + 20 + 5 = 73 of 72 h: without the first 53, without the second 68; the dearer one is named."""
    found = promises(planned, blow(0, delay=5.0), blow(1, "wide", delay=20.0))["window"]

    assert (found.answer, found.faults) == (Answer.BROKEN, (1,))
    assert found.why == "without fault 2 it would have held"


def test_faults_that_break_it_only_together_are_named_together(planned: Shape) -> None:
    """48 + 30 + 30 = 108: without either 78."""
    found = promises(planned, blow(0, delay=30.0), blow(1, delay=30.0), blow(2, delay=0.1))["window"]

    assert found.faults == (0, 1)
    assert found.why == "only without all of fault 1, fault 2 it would have held"


def test_what_is_over_undisturbed_is_no_faults_doing(tmp_path: Path) -> None:
    """48 h in a window of 40, and 40.10 USD of a budget of 20."""
    shaped = shape(tmp_path, CAMPAIGN.replace("72h", "40h").replace("60 USD", "20 USD"))
    found = promises(shaped, blow(0))

    assert (found["window"].answer, found["window"].faults) == (Answer.BROKEN, ())
    assert found["window"].why == "none of the faults: undisturbed it is 2 d 0 h already"
    assert found["budget"].why == "none of the faults: undisturbed it is 40.10 USD already"


def test_a_budget_is_broken_by_what_was_held_too_long(tmp_path: Path) -> None:
    """40.10 + 5 + 1 = 46.10 of 45 USD."""
    shaped = shape(tmp_path, CAMPAIGN.replace("60 USD", "45 USD"))
    found = promises(shaped, blow(0), blow(1, delay=5.0))["budget"]

    assert (found.answer, found.faults) == (Answer.BROKEN, (1,))
    assert found.money == (usd("45"), usd("46.1"))


@pytest.mark.parametrize(
    ("offers", "why"),
    [
        (SPOT.replace("1 USD", "unknown"), "the price of spot is unknown"),
        (SPOT.replace("1 USD", "1 EUR"), "prices in EUR, USD do not add up without a dated rate"),
        (SPOT.replace("boot", 'by_hour: {"22-06": 0.5 USD}, boot'), "its prices go by the hour of the day"),
        (None, "no offer is taken"),
    ],
)
def test_an_unknown_cost_is_no_cost_of_nothing(tmp_path: Path, offers: str | None, why: str) -> None:
    found = promises(shape(tmp_path, CAMPAIGN, offers))["budget"]

    assert (found.answer, found.seen, found.why) == (Answer.NOT_SHOWN, "-", why)


def test_a_lot_costs_its_price_unless_the_work_outlasts_it(tmp_path: Path) -> None:
    """48 h in 3 days: 47.14 USD whatever is lost; 48 + 30 h end in a second lot."""
    lot = "offers:\n  - {name: lot, kind: lot, price: 47.14 USD, term: 3d}\n"
    shaped = shape(tmp_path, CAMPAIGN.replace("72h", "90h"), lot)

    assert promises(shaped, blow(0))["budget"].seen == "47.14 USD"
    assert promises(shaped, blow(0, delay=30.0))["budget"].answer is Answer.NOT_SHOWN


def test_too_much_work_lost_at_once_is_the_worst_faults_doing(planned: Shape) -> None:
    found = promises(planned, blow(0, lost=1.5), blow(1, lost=2.0), blow(2))["loss"]

    assert (found.answer, found.faults, found.seen) == (Answer.BROKEN, (1,), "2 h 00 min")


def test_what_cannot_be_told_is_not_shown_and_never_held(planned: Shape) -> None:
    unknown = promises(planned, replace(blow(0), lost=None, delay=None, held=None))
    cut = promises(planned, blow(0), cut=True)
    unseen = promises(planned, blow(0), unseen=("wide",))

    assert {unknown[name].answer for name in ("window", "budget", "loss")} == {Answer.NOT_SHOWN}
    assert {cut[name].answer for name in ("window", "budget", "loss")} == {Answer.NOT_SHOWN}
    assert {unseen[name].why for name in ("window", "budget", "loss")} == {
        "no step was seen of wide: nothing happened to them"
    }
    assert verdict_of(tuple(cut.values())) is Answer.NOT_SHOWN


def test_what_nobody_promised_is_neither_kept_nor_broken(tmp_path: Path) -> None:
    shaped = replace(shape(tmp_path), window=None, budget=None)
    found = promises(shaped, outputs=Outputs(promised=0, failed=()))

    assert {name for name, one in found.items() if one.answer is Answer.UNPROMISED} == {
        "window",
        "budget",
        "outputs",
    }
    assert verdict_of(tuple(found.values())) is Answer.HELD


def test_where_nothing_bounds_what_is_lost_nothing_is_promised_of_it(planned: Shape) -> None:
    small = replace(scale(**RUNS), bound=None, saves=False)
    found = promises_of(planned, small, replace(CALM, blows=(blow(0),)))

    assert next(one.answer for one in found if one.name == "loss") is Answer.UNPROMISED


def test_waits_that_nobody_has_told_are_no_waits_of_nothing(tmp_path: Path) -> None:
    """48 h and two losses of 1 h: 22 h are left of 72, 11 h for each wait."""
    found = promises(shape(tmp_path, CAMPAIGN.replace(", away: 12min", "")), blow(0), blow(1))["window"]

    assert (found.answer, found.seen) == (Answer.HELD, "at least 2 d 2 h")
    assert found.condition == (
        "if another machine is to be had within 11 h 00 min, 2 times (interruption.away is not told)"
    )


def test_a_run_an_output_or_an_answer_that_is_not_there_is_laid_on_the_faults_of_its_run(
    planned: Shape,
) -> None:
    found = promises(
        planned,
        blow(0),
        blow(1, "wide"),
        runs=(RunEnd(run="control", required=True, status="failed", why="it crashed"),),
        outputs=Outputs(promised=3, failed=(("wide", "predictions: too few rows"),)),
        answers=("adopt wide", "undecided"),
    )

    assert [(found[name].faults, found[name].why) for name in ("runs", "outputs", "answer")] == [
        ((0,), "fault 1; control: it crashed"),
        ((1,), "fault 2; predictions: too few rows"),
        ((0, 1), "fault 1, fault 2; it hangs on the faults"),
    ]
    assert (found["runs"].promised, found["runs"].seen) == ("1 required", "0 completed")


def test_a_machine_that_is_left_breaks_what_needs_no_fault(planned: Shape) -> None:
    found = promises(planned, rented=("local-1",))["rented"]

    assert (found.answer, found.seen) == (Answer.BROKEN, "left: local-1")
