"""How long machines took, as campaigns that are told by their events say it."""

from __future__ import annotations

from typing import Any

import pytest

from lastro.journal.events import EventType as E
from lastro.journal.provisioning import Provision, provisions
from tests.view.story import HOURLY, Story, planned


def told(story: Story) -> tuple[Provision, ...]:
    return provisions("digits", story.streams)


def asked(story: Story, tag: str, minutes: float, **facts: Any) -> None:
    story.home(
        minutes, E.MACHINE_INTENDED, tag=tag, provider="local", lease=HOURLY, why="a run waits", **facts
    )


def test_a_machine_from_the_wish_to_the_first_step_by_hand() -> None:
    """Asked at 1, made at 2, up at 5, a run sent at 6, its first step 2 s after its start."""
    story = Story(planned(options=[{"holdings": [{"offer": "box", "gpu": "RTX 4090"}]}]))
    asked(story, "t", 1)
    story.home(2, E.MACHINE_CREATED, tag="t", machine="m-1", node="n", requested_at="")
    story.home(5, E.MACHINE_READY, machine="m-1", seconds=150.0)
    story.home(5.5, E.PREFLIGHT_DONE, machine="m-1", verdict="pass", stack=None, node_id="box", seconds=9.0)
    story.home(6, E.RUN_DISPATCHED, run="id-control", machine="m-1", why="")
    story.start("control", 1, 6)
    story.home(8, E.RUN_DISPATCHED, run="id-control", machine="m-1", why="again")

    (one,) = told(story)

    assert (one.request, one.boot, one.reachable, one.canary) == (60.0, 150.0, 240.0, 9.0)
    assert one.first_step == 300.0 + 2.0
    assert (one.node, one.box, one.gpu, one.given_up) == ("n", "box", "rtx4090", None)
    assert (one.provider, one.offer, one.hour) == ("local", "box", 9)


def test_what_was_refused_or_went_before_it_was_up_was_given_up_after_so_long() -> None:
    story = Story(planned())
    asked(story, "a", 0)
    story.home(3, E.MACHINE_REFUSED, tag="a", why="no capacity", tries=1, wait_seconds=5)
    asked(story, "b", 4)
    story.home(4, E.MACHINE_CREATED, tag="b", machine="m-2", node="n", requested_at="")
    story.home(14, E.MACHINE_GONE, machine="m-2", cause="deleted", seconds=600)

    refused, never_up = told(story)

    assert (refused.given_up, refused.why, refused.request) == (180.0, "no capacity", None)
    assert (never_up.given_up, never_up.request, never_up.reachable) == (600.0, 0.0, None)


def test_one_that_failed_preflight_was_given_up_though_it_was_up() -> None:
    story = Story(planned())
    story.machine("m-1", 1)
    story.home(2, E.PREFLIGHT_DONE, machine="m-1", verdict="fail", summary="wrong bits", stack=None)
    story.home(3, E.MACHINE_GONE, machine="m-1", cause="deleted", seconds=120)

    (one,) = told(story)

    assert (one.given_up, one.why) == (60.0, "wrong bits")


def test_a_clock_that_was_set_back_leaves_a_time_unknown() -> None:
    story = Story(planned())
    asked(story, "t", 5)
    story.home(1, E.MACHINE_CREATED, tag="t", machine="m-1", node="n", requested_at="")
    story.home(2, E.MACHINE_READY, machine="m-1", seconds=7.0)

    (one,) = told(story)

    assert (one.request, one.reachable, one.boot) == (None, None, 7.0)


@pytest.mark.parametrize("seen", [None, "NVIDIA GeForce RTX 4090"])
def test_the_card_that_was_seen_counts_more_than_the_one_that_was_offered(seen: str | None) -> None:
    story = Story(planned(options=[{"holdings": [{"offer": "box", "gpu": "A100 80GB"}]}]))
    story.machine("m-1", 1)
    stack = {"gpus": [{"name": seen}] if seen else None}
    story.home(2, E.PREFLIGHT_DONE, machine="m-1", verdict="pass", stack=stack, node_id="b", seconds=1.0)

    assert told(story)[0].gpu == ("rtx4090" if seen else "a10080gb")
