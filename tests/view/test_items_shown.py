"""A run over items: what is done of how many, what is in hand, what an interruption has cost."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from lastro.journal.events import EventType as E
from lastro.view.as_json import page_json
from lastro.view.model import page_of
from lastro.view.parts import Live
from lastro.view.terminal import status
from tests.view.story import Story, planned


def story_with(done: int, total: int | None) -> Story:
    story = Story(planned())
    story.machine("m-1", 0)
    story.start("control", 1, 1)
    story._add("id-control-1", 2, E.ITEMS_PUBLISHED, {"done": done, "total": total, "offset": 10})
    return story


@pytest.mark.parametrize(("total", "said"), [(100, "40 of 100 items done"), (None, "40 items done")])
def test_status_says_how_many_are_done_and_what_is_in_hand(total: int | None, said: str) -> None:
    page = page_of(story_with(38, total).view(), live={"id-control": Live(step=43, items_done=40)})

    screen = Console(file=StringIO(), width=100)
    screen.print(status(page))
    assert isinstance(screen.file, StringIO)
    text = screen.file.getvalue()

    assert said in text and "3 items in hand" in text
    now = page_json(page)["now"][0]
    assert (now["items_done"], now["items_total"], now["steps_at_risk"]) == (40, total, 3)


def test_an_interruption_loses_the_items_in_hand() -> None:
    story = story_with(40, 100)
    story.end("control", 1, 3, "killed", 42)

    (gap,) = page_of(story.view()).interruptions

    assert (gap.step, gap.lost_steps, gap.committed_step) == (42, 2, None)


def test_with_its_machine_an_attempt_loses_what_was_not_in_the_index() -> None:
    """The journal told 40; home has counted 45 on the disk when the machine was gone."""
    story = story_with(40, 100)
    story.home(
        3, E.ATTEMPT_LOST, run="id-control", attempt=1, machine="m-1", why="gone", step=46,
        committed_step=None, items=45,
    )  # fmt: skip

    life = story.view().runs[0].attempts[0]

    assert (life.items_done, life.lost_steps) == (45, 1)
