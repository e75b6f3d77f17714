"""Which machine a person means who opens a shell: pure, on campaigns that are told as events."""

from __future__ import annotations

import pytest

from lastro.errors import LastroError, ProviderError, UsageError
from lastro.flow.shell_choice import choose_machine, entry, run_on
from lastro.journal.events import EventType as E
from lastro.journal.views import CampaignView
from lastro.rules import Limits
from tests.flow.test_policy_money import fresh_story
from tests.view.story import START, Story


def of_three() -> Story:
    """m-gone had a run and is gone; m-works has the run now; m-idle has none."""
    story = fresh_story()
    for minute, name in enumerate(("m-gone", "m-works", "m-idle"), start=1):
        story.machine(name, minute)
    story.start("control", 1, 4, machine="m-gone")
    story.end("control", 1, 5, "lost", 4)
    story.home(6, E.MACHINE_GONE, machine="m-gone", cause="preempted", seconds=300.0)
    story.start("control", 2, 7, machine="m-works")
    return story


@pytest.fixture
def view() -> CampaignView:
    return of_three().view(minutes=10)


@pytest.mark.parametrize(
    ("name", "machine"), [("m-idle", "m-idle"), ("m-id", "m-idle"), (None, "m-works"), ("m-wo", "m-works")]
)
def test_a_name_its_beginning_or_the_run_that_is_alive_tell_the_machine(
    view: CampaignView, name: str | None, machine: str
) -> None:
    assert choose_machine(view, name).id == machine


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("m-gone", ProviderError, "m-gone is gone: preempted"),
        ("elsewhere", UsageError, "is not a machine of this campaign"),
        ("m-", UsageError, "is not a machine of this campaign"),  # too little to name one
    ],
)
def test_what_names_no_machine_that_is_there_is_told_why(
    view: CampaignView, name: str, kind: type[LastroError], words: str
) -> None:
    with pytest.raises(kind, match=words) as told:
        choose_machine(view, name)

    assert told.value.hint


def test_of_several_idle_machines_one_has_to_be_named_and_without_any_there_is_nothing_to_open() -> None:
    story = fresh_story()
    with pytest.raises(UsageError, match="has no machine now"):
        choose_machine(story.view(minutes=1), None)
    story.machine("m-1", 1)
    assert choose_machine(story.view(minutes=2), None).id == "m-1"
    story.machine("m-2", 2)

    with pytest.raises(UsageError, match="has 2 machines") as told:
        choose_machine(story.view(minutes=3), None)

    assert "m-1, m-2" in str(told.value.hint)


def test_the_run_of_a_machine_is_the_one_that_began_there_last(view: CampaignView) -> None:
    found = run_on(view, "m-works")

    assert found is not None and found.name == "control"
    assert run_on(view, "m-idle") is None


def test_who_enters_is_told_what_it_costs_and_that_nothing_ends_it(view: CampaignView) -> None:
    price, end = entry(choose_machine(view, "m-works"), Limits(), START)

    assert "an hour" in price
    assert end == "no lease, budget or window ends it"
