"""What a decision looks like on the page: measured beside planned, choice and reason, what is left out."""

from __future__ import annotations

from lastro.journal.events import EventType as E
from lastro.view.as_json import page_json
from lastro.view.html import render
from lastro.view.model import page_of
from tests.view.story import Story, planned

RUN = {
    "run": "id-control", "name": "control", "status": "paused", "why": "over", "attempts": 1,
    "worked_hours": 1.0, "planned_hours": 0.5, "step": 40, "committed_step": 39, "lost_steps": 1,
    "items_done": None, "items_total": None, "whole_hours": 11.0, "whole_why": "40 steps of 400",
    "whole_planned_hours": 5.0,
}  # fmt: skip


def awaited(**changed: object) -> Story:
    told = Story(planned(left_out=["wide"]))
    cost = [{"amount": "1.50", "currency": "USD"}]
    told.home(9, E.DECISION_AWAITED, stage="pilot", runs=[{**RUN, **changed}], cost=cost, unknown=None)
    return told


def test_measured_stands_beside_planned_in_words() -> None:
    (row,) = page_of(awaited().view()).plan.decisions

    assert row.measured == (
        "control worked for 1 h 00 min of 30 min 00 s planned, step 40; saved at: 39, steps lost: 1",
        "control takes 11 h 00 min in all (40 steps of 400); planned: 5 h 00 min",
        "so far it has cost 1.50 USD",
    )


def test_what_is_not_known_is_said_and_is_no_zero() -> None:
    told = awaited(
        lost_steps=None, committed_step=None, whole_hours=None, whole_why="no `steps`", planned_hours=None
    )

    first, second, _cost = page_of(told.view()).plan.decisions[0].measured

    assert first.endswith("of unknown planned, step 40; saved at: nothing, steps lost: unknown")
    assert second == "how long control takes in all cannot be told (no `steps`); planned: 5 h 00 min"


def test_items_are_told_as_items() -> None:
    told = awaited(items_done=30, items_total=120, lost_steps=2)

    first, *_rest = page_of(told.view()).plan.decisions[0].measured

    assert first.endswith("30 min 00 s planned, 30 of 120 items; in hand at its end: 2")


def test_an_awaited_decision_is_the_first_sentence_of_every_face() -> None:
    page = page_of(awaited().view())

    assert (page.headline.verdict, page.headline.text) == ("waiting", "A person decides after pilot")
    assert page_json(page)["state"] == "waiting"
    assert "A person decides after pilot" in render(page)


def test_choice_reason_and_what_is_left_out_stand_in_the_report() -> None:
    told = awaited()
    told.home(10, E.DECISION_MADE, stage="pilot", choice="reduce", why="the window is <small>")
    told.home(11, E.DECISION_FOLLOWED, stage="pilot", choice="reduce")

    page = page_of(told.view())
    shown = render(page)

    assert page_json(page)["plan"]["left_out"] == ["wide"]
    assert "<b>reduce</b>, the window is &lt;small&gt;" in shown
    assert "by the reduced protocol; not started" in shown
