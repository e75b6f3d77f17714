"""The page for the notebook says what was asked, answered, paid and learned, and what nobody wrote down."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lastro.journal.events import EventType as E
from lastro.view.model import page_of
from lastro.view.summary import summary_of
from lastro.view.synthesis import synthesis
from tests.view.story import Story, adopted, planned


def told(story: Story) -> str:
    view = story.view()
    return synthesis(page_of(view), summary_of(view, "digits"))


def test_it_holds_question_answer_evidence_cost_and_what_was_not_written_down() -> None:
    """An hour at 0.60 USD."""
    text = told(adopted())

    assert text.startswith("# digits: Adopt wide\n")
    assert "Is it better?" in text
    assert "**adopt wide**: wide is better by 0.05" in text
    assert "| **wide** | 0.95 | +0.05 | recomputed at closing |" in text
    assert "* total: 0.60 USD, of a budget of 60.00 USD" in text
    assert "* machine m-1: 0.60 USD, " in text
    assert "## What was learned\n\n* run control: " in text


def test_what_was_typed_and_bought_is_in_it() -> None:
    story = adopted()
    story.home(70, E.STAGE_EXPLAINED, stage="run", run=None, why="the upload was slow", hours=None)
    story.home(71, E.EXPENSE_ADDED, id="e1", what="labels", amount={"amount": "3.00", "currency": "USD"},
               day="2026-11-30", ref="R-7")  # fmt: skip

    text = told(story)

    assert "\n* run: the upload was slow\n" in text
    assert "## Order references\n\n* R-7\n" in text
    assert "* total: 3.60 USD" in text


def test_what_nobody_has_written_down_is_said_to_be_missing() -> None:
    text = told(Story(planned("wide")))

    assert "## What was learned\n\nnobody has written it down: `lastro explain`" in text
    assert "## Order references\n\nnone recorded" in text


def test_no_name_of_the_users_is_markdown() -> None:
    view = adopted().view()
    page = replace(page_of(view), question="is *this* | <b>better</b>\n# than that?")

    text = synthesis(page, summary_of(view, "digits"))

    assert r"is \*this\* \| \<b\>better\</b\> \# than that?" in text


def test_it_speaks_portuguese(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LASTRO_LANG", "pt_BR")

    text = told(adopted())

    assert "US$ 0,60" in text
    assert "| **wide** | 0,95 | +0,05 |" in text
    assert "30/11/2026" not in text.splitlines()[0]
