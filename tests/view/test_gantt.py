from __future__ import annotations

import re
from xml.etree import ElementTree

from lastro.view.gantt import gantt, has_common_scale
from lastro.view.model import page_of
from lastro.view.parts import Bar, Calendar, Lane
from tests.view.story import Story, adopted, planned


def test_the_calendar_shows_plan_facts_losses_and_checkpoints() -> None:
    drawing = gantt(page_of(adopted().view()).calendar)
    ElementTree.fromstring(drawing)
    assert drawing.count('class="planned"') == 2
    assert drawing.count('class="actual ') == 3
    assert "machine lost, 40 steps lost" in drawing
    assert drawing.count('class="m-save"') == 2
    assert drawing.count('class="m-done"') == 2
    assert "machine m-1" in drawing


def test_checkpoints_that_would_touch_are_drawn_as_one_that_counts_them() -> None:
    story = Story(planned(calendar=[]))
    story.start("control", 1, 0)
    for number in range(50):
        story.save("control", 1, 10 + number / 1000, number)
    story.save("control", 1, 60, 999)
    drawing = gantt(page_of(story.view(100)).calendar)
    assert drawing.count('class="m-save"') == 2
    assert "50 checkpoints; the last: checkpoint at step 49" in drawing


def test_an_attempt_that_goes_on_is_open_and_ends_now() -> None:
    story = Story(planned())
    story.machine("m-1", 0)
    story.start("control", 1, 0)
    calendar = page_of(story.view(30)).calendar
    assert calendar.actual_seconds == 1800.0
    assert 'class="actual s0 d0 open"' in gantt(calendar)


def test_a_plan_before_anything_happened_is_drawn_alone() -> None:
    drawing = gantt(page_of(Story(planned("wide")).view()).calendar)
    assert drawing.count('class="planned"') == 2 and "actual s" not in drawing


def test_a_campaign_without_plan_and_facts_has_no_calendar() -> None:
    assert gantt(page_of(Story().view()).calendar) == ""


def test_a_rehearsal_of_minutes_is_not_lost_beside_a_plan_of_days() -> None:
    lane = Lane(
        kind="run",
        label="control",
        planned=(Bar(start=0, end=200_000, text="planned"),),
        actual=(Bar(start=0, end=100, text="actual", index=0),),
    )
    calendar = Calendar(zero_at=None, planned_seconds=200_000, actual_seconds=100, lanes=(lane,))
    assert not has_common_scale(calendar)
    widths = re.findall(r'<rect class="(?:planned|actual)[^>]* width="([0-9.]+)%"', gantt(calendar))
    assert widths == ["98.000", "98.000"]


def test_names_cannot_break_out_of_the_drawing() -> None:
    story = Story(planned())
    story.machine('<script>"&', 0)
    ElementTree.fromstring(gantt(page_of(story.view()).calendar))


def test_lanes_follow_the_plan() -> None:
    labels = [lane.label for lane in page_of(adopted().view()).calendar.lanes]
    assert labels == ["control", "wide", "machine m-1"]
