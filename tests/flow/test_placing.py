"""Where runs go on, and where machines are taken, of a campaign on several computers."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastro.flow import policy
from lastro.flow.placing import bound_runs, next_place
from lastro.flow.refusals import Refusals
from lastro.journal.events import EventType as E
from lastro.paths import CampaignFolder
from tests.checkpoint.test_store import save
from tests.flow.test_policy_money import fresh_story, plan_of, situation
from tests.view.story import Story

NAMES = st.lists(st.sampled_from("abcdef"), unique=True)


@given(NAMES, st.sets(st.sampled_from("abcdef")), st.sets(st.sampled_from("abcdef")), NAMES)
def test_a_place_is_free_and_open_and_one_that_is_needed_comes_first(
    places: list[str], taken: set[str], shut: set[str], needed: list[str]
) -> None:
    place = next_place(places, taken, shut, needed)

    free = set(places) - taken - shut
    assert (place is None) == (not free)
    if place is not None:
        assert place in free and (place in needed or not free & set(needed))


def story_at(place: str, *, saved: bool) -> Story:
    """The control has worked on a machine at a place, and was lost there."""
    story = fresh_story("wide")
    story.machine("m", 0, provider=place)
    story.start("control", 1, 1, machine="m")
    if saved:
        story.save("control", 1, 2, 10)
    story.end("control", 1, 3, "lost", 12)
    return story


@pytest.mark.parametrize(
    ("resume", "saved", "copied", "bound"),
    [
        ("training", False, False, False),
        ("training", True, False, True),
        ("training", True, True, False),
        ("items", False, False, True),
        ("rerun", True, False, False),
    ],
)
def test_what_has_saved_is_bound_until_home_has_a_copy(
    tmp_path: Path, resume: str, saved: bool, copied: bool, bound: bool
) -> None:
    view = story_at("one", saved=saved).view(4)
    copy = CampaignFolder(tmp_path)
    control = view.runs[0]
    if copied:
        save(copy.run(control.id).checkpoints, 10)
    plan: Any = SimpleNamespace(resume=resume)

    assert bound_runs(plan, view, copy) == ({control.id: "one"} if bound else {})


def test_a_run_that_is_bound_waits_for_its_place_while_another_one_goes_on(tmp_path: Path) -> None:
    """Its machine is gone and its host refuses: the next machine is taken elsewhere, for the other run."""
    story = story_at("one", saved=True)
    story.home(4, E.MACHINE_GONE, machine="m", cause="gone", seconds=60.0)
    view = story.view(5)
    control, wide = view.runs[:2]
    known: dict[str, Any] = {"places": ("one", "two"), "bound": {control.id: "one"}, "max_machines": 2}

    taken = policy.next_action(situation(view, plan_of(), **known))
    elsewhere = policy.next_action(situation(view, plan_of(), **known, shut=frozenset({"one"})))
    alone = policy.next_action(
        situation(view, plan_of(), **known, shut=frozenset({"one"}), wanted=(control.id,))
    )

    assert isinstance(taken, policy.Rent) and taken.place == "one"
    assert isinstance(elsewhere, policy.Rent) and elsewhere.place == "two"
    assert isinstance(alone, policy.Wait)
    assert wide.id != control.id


def test_a_run_that_is_bound_is_not_begun_elsewhere() -> None:
    """A machine of another host is free: it is let go rather than used."""
    story = story_at("one", saved=True)
    story.home(4, E.MACHINE_GONE, machine="m", cause="gone", seconds=60.0)
    story.machine("m-2", 4, provider="two")
    view = story.view(5)
    control = view.runs[0]
    known: dict[str, Any] = {"places": ("one", "two"), "wanted": (control.id,)}

    bound = policy.next_action(situation(view, plan_of(), **known, bound={control.id: "one"}))
    free = policy.next_action(situation(view, plan_of(), **known))

    assert not isinstance(bound, policy.Dispatch)
    assert isinstance(free, policy.Dispatch) and free.machine == "m-2"


def test_while_nobody_answers_nothing_is_rented() -> None:
    view = fresh_story().view(1)

    away = policy.next_action(situation(view, plan_of(), away=True))
    there = policy.next_action(situation(view, plan_of()))

    assert isinstance(away, policy.Wait)
    assert isinstance(there, policy.Rent)


def test_one_that_is_silent_is_not_given_up_while_it_is_bound() -> None:
    story = fresh_story()
    story.machine("m", 0)
    story.start("control", 1, 1, machine="m")
    view = story.view(5)
    control = view.runs[0]
    known: dict[str, Any] = {
        "supervised": frozenset({control.id}), "silences": {control.id: 999.0}, "max_silence": 120.0,
        "wanted": (control.id,),
    }  # fmt: skip

    free = policy.next_action(situation(view, plan_of(), **known))
    bound = policy.next_action(situation(view, plan_of(), **known, bound={control.id: "local"}))

    assert isinstance(free, policy.Abandon)
    assert isinstance(bound, policy.Wait)


def test_a_host_whose_machine_is_not_used_is_left_out_and_when_all_are_it_ends() -> None:
    story = fresh_story()
    view = story.view(1)
    known: dict[str, Any] = {"places": ("one", "two")}

    other = policy.next_action(situation(view, plan_of(), **known, barred=frozenset({"one"})))
    none = policy.next_action(situation(view, plan_of(), **known, barred=frozenset({"one", "two"})))

    assert isinstance(other, policy.Rent) and other.place == "two"
    assert isinstance(none, policy.Despair)


def test_refusals_are_counted_for_each_place() -> None:
    """Waits of 1, 2, 4 ... seconds; what is asked next is the one whose wait ends first."""
    refusals = Refusals()
    assert refusals.wait(["a", "b"], 0.0) == 0.0
    assert refusals.note("a", 0.0) == (1, 1.0)
    assert refusals.note("a", 1.0) == (2, 2.0)
    assert refusals.note("b", 1.0) == (1, 1.0)

    assert refusals.shut(1.5) == {"a", "b"} and refusals.shut(2.5) == {"a"}
    assert refusals.wait(["a", "b"], 1.5) == 0.5
    assert refusals.fewest(["a", "b"]) == 1

    refusals.forget("b")
    assert refusals.fewest(["a", "b"]) == 0 and refusals.wait(["a", "b"], 1.5) == 0.0
