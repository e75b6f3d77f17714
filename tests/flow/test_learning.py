"""What a campaign's journal says of durations, for campaigns that are told as events."""

from __future__ import annotations

from typing import Any

from lastro.flow.learning import observed
from lastro.journal.events import EventType as E
from lastro.journal.streams import Event
from tests.view.story import HOURLY, Story, at, planned

CARD = {"name": "NVIDIA GeForce RTX 4090", "uuid": "u", "memory_bytes": 1}


def story(**changed: Any) -> Story:
    """Return a campaign of two runs on machine m-1, whose offer names no card."""
    plan = planned("wide", **changed)
    for run in plan["runs"]:
        run["command"] = ["python", "train.py", run["name"]]
    told = Story(plan)
    told.machine("m-1", 1)
    return told


def completed(told: Story, run: str, hours: float, *, machine: str = "m-1", number: int = 1) -> None:
    told.start(run, number, 2, machine=machine)
    stream = f"id-{run}-{number}"
    facts = {"cause": {"end": "done", "why": "done"}, "step": 9, "committed_step": 9, "seconds": 3600 * hours}
    told.streams[stream].append(Event(stream, 9, at(50), E.ATTEMPT_ENDED, facts))
    told.streams[stream].append(Event(stream, 10, at(50), E.RUN_ENDED, {"verdict": "completed", "why": ""}))


def checked(told: Story, machine: str, gpus: list[dict[str, Any]] | None) -> None:
    told.home(1, E.PREFLIGHT_DONE, machine=machine, verdict="pass", stack={"gpus": gpus})


def test_a_completed_run_is_an_observation_on_the_card_that_was_seen() -> None:
    told = story()
    checked(told, "m-1", [CARD])
    completed(told, "control", 2.5)

    (seen,) = observed(told.view())

    assert seen.command == ("python", "train.py", "control")
    assert (seen.observation.hours, seen.observation.gpu) == (2.5, "rtx4090")
    assert seen.observation.campaign == "digits"


def test_where_the_cards_could_not_be_asked_the_offer_says_which_it_is() -> None:
    holding = {"offer": "box", "gpu": "A100 80GB"}
    told = story(options=[{"holdings": [holding]}])
    checked(told, "m-1", None)
    completed(told, "control", 2.5)

    (seen,) = observed(told.view())

    assert HOURLY["offer"] == "box"
    assert seen.observation.gpu == "a10080gb"


def test_a_run_that_worked_on_two_classes_of_card_says_nothing() -> None:
    told = story()
    told.machine("m-2", 1)
    checked(told, "m-1", [CARD])
    checked(told, "m-2", [{**CARD, "name": "NVIDIA H200"}])
    told.start("control", 1, 2, machine="m-1")
    told.end("control", 1, 3, "notice", 5)
    completed(told, "control", 2.5, machine="m-2", number=2)

    assert observed(told.view()) == []


def test_neither_a_rehearsal_nor_a_run_that_has_not_ended_says_anything() -> None:
    told = story()
    completed(told, "control", 2.5)
    rehearsed = story()
    completed(rehearsed, "control", 2.5)
    rehearsed.home(3, E.FAULT_FIRED, index=0, key="k", run="control", step=3, notice_seconds=None)
    told.start("wide", 1, 60)

    assert [seen.command[-1] for seen in observed(told.view())] == ["control"]
    assert observed(rehearsed.view()) == ()


def test_the_pace_of_a_pilot_counts_for_its_whole_run() -> None:
    told = story()
    told.start("control", 1, 2)
    told.end("control", 1, 3, "limit", 5)
    run = {"run": "id-control", "whole_hours": 11.5}
    told.home(4, E.DECISION_AWAITED, stage="pilot", runs=[run], cost=[], unknown=None)

    (seen,) = observed(told.view())

    assert seen.observation.hours == 11.5
