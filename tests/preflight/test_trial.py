from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import pytest

from lastro.preflight.budget import Measured
from lastro.preflight.check import Finding, Level
from lastro.preflight.lock import Value
from lastro.preflight.trial import Trial, judge

GOOD = Trial(
    wanted=12,
    losses={step: 1 / step for step in range(1, 13)},
    again={7: 1 / 7, 8: 1 / 8},
    updates=12,
    restored_at=6,
    second=True,
    seconds=0.01,
    wait_share=0.1,
    run="run",
    computed_on="a processor; torch 2.13.0",
)
LOCKED: Mapping[str, Value] = GOOD.figures()


def levels(trial: Trial, locked: Mapping[str, Value] | None = None) -> dict[str, str]:
    return {one.code: one.level.value for one in judge(trial, "trial", locked) if isinstance(one, Finding)}


def test_a_job_that_runs_learns_and_goes_on_is_well_and_locks_its_losses() -> None:
    found = list(judge(GOOD, "trial", None))

    assert {one.level for one in found if isinstance(one, Finding)} == {Level.PASS}
    (measured,) = (one for one in found if isinstance(one, Measured))
    assert measured.name == "trial" and measured.values["loss_12"] == 1 / 12
    assert levels(GOOD, LOCKED) == levels(GOOD)


def test_a_trial_that_was_cut_short_locks_nothing() -> None:
    cut = replace(GOOD, updates=8, over=True)

    assert not any(isinstance(one, Measured) for one in judge(cut, "trial", None))


def test_the_same_bits_are_asked_of_the_same_machine_and_one_per_cent_of_another() -> None:
    """1/12 is 0.083333: one unit in the last place is a difference, 0.0841 is 0.92 % off, 0.0843 1.16 %."""
    other = replace(GOOD, losses={**GOOD.losses, 12: math.nextafter(1 / 12, 1)})
    assert levels(other, LOCKED)["trial_loss"] == "fail"
    elsewhere = replace(GOOD, computed_on="another; torch 2.13.0")
    assert levels(replace(elsewhere, losses={**GOOD.losses, 12: 0.0841}), LOCKED)["trial_loss"] == "pass"
    assert levels(replace(elsewhere, losses={**GOOD.losses, 12: 0.0843}), LOCKED)["trial_loss"] == "fail"


def test_another_code_has_other_losses_and_is_not_compared() -> None:
    other = replace(GOOD, run="other", losses={12: 5.0}, again={})

    assert levels(other, LOCKED)["trial_loss"] == "no_answer"


def test_a_job_that_differs_from_start_to_start_is_told_and_not_accused() -> None:
    loose = replace(GOOD, again={7: 0.2}, losses={**GOOD.losses, 1: 2.0})

    found = levels(loose, LOCKED)

    assert (found["trial_loss"], found["trial_reload"]) == ("no_answer", "warn")


@pytest.mark.parametrize(
    ("change", "code", "level"),
    [
        ({"failure": "exit 1: out of memory"}, "trial", "fail"),
        ({"losses": {1: math.nan}}, "trial", "fail"),
        ({"losses": {}, "again": {}, "updates": 0, "over": True}, "trial", "no_answer"),
        ({"losses": {}, "again": {}, "updates": 0}, "trial", "no_answer"),
        ({"updates": 5, "over": True}, "trial", "pass"),
        ({"restored_at": None}, "trial_reload", "no_answer"),
        ({"second": False, "again": {}}, "trial_reload", "no_answer"),
        ({"again": {7: 1 / 7 * 1.005}}, "trial_reload", "pass"),
        ({"wait_share": 0.31}, "trial_waiting", "warn"),
        ({"wait_share": 0.3}, "trial_waiting", "pass"),
        ({"wait_share": 0.9, "on_card": False}, "trial_waiting", "pass"),
    ],
)
def test_what_a_trial_shows_is_judged(change: dict[str, object], code: str, level: str) -> None:
    assert levels(replace(GOOD, **change), LOCKED)[code] == level  # type: ignore[arg-type]


@pytest.mark.parametrize(("taken", "level"), [(0, "pass"), (32, "pass"), (33, "warn"), (64, "warn")])
def test_a_loader_that_takes_more_than_half_of_the_shared_memory_is_told(taken: int, level: str) -> None:
    """64 MiB are free, as in a container that nobody has given more."""
    found = levels(replace(GOOD, shared=(64 << 20, taken << 20)))

    assert found["trial_shared_memory"] == level
    assert "trial_shared_memory" not in levels(GOOD)
