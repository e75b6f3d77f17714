from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from lastro.checkpoint import store
from lastro.checkpoint.retention import (
    Candidate,
    apply_retention,
    keep_for,
    most,
    plan_retention,
    remove_leftovers,
)
from lastro.errors import UsageError
from lastro.rules import Best, CheckpointPolicy
from tests.checkpoint.test_store import save


def candidates(*verified: bool) -> list[Candidate]:
    """Oldest first, at steps 10, 20, ..."""
    return [Candidate(f"{at}0-a1", at * 10, 1, good) for at, good in enumerate(verified, 1)]


def names(pairs: tuple[tuple[str, str], ...]) -> list[str]:
    return [name for name, _why in pairs]


def test_the_latest_that_verify_stay_and_older_ones_go() -> None:
    plan = plan_retention(candidates(True, True, True), CheckpointPolicy(keep=2))

    assert names(plan.kept) == ["30-a1", "20-a1"]
    assert plan.removed == (("10-a1", "2 later ones were read again and verify"),)


def test_one_that_was_not_read_again_makes_no_other_superfluous() -> None:
    plan = plan_retention(candidates(True, True, False), CheckpointPolicy(keep=2))

    assert names(plan.kept) == ["30-a1", "20-a1", "10-a1"]


def test_an_old_one_that_was_not_read_again_goes_when_enough_later_ones_verify() -> None:
    assert names(plan_retention(candidates(False, True, True), CheckpointPolicy(keep=2)).removed) == ["10-a1"]


def test_a_protected_one_stays() -> None:
    plan = plan_retention(candidates(True, True), CheckpointPolicy(keep=1), protect={"10-a1"})

    assert ("10-a1", "protected") in plan.kept


def test_keeping_none_is_refused() -> None:
    with pytest.raises(UsageError, match="keep is 0"):
        plan_retention(candidates(True), CheckpointPolicy(keep=0))


@given(some.lists(some.booleans(), max_size=8), some.integers(1, 4))
def test_whatever_is_there_the_verified_ones_never_get_fewer_than_keep(
    verified: list[bool], keep: int
) -> None:
    found = candidates(*verified)

    plan = plan_retention(found, CheckpointPolicy(keep=keep))

    good = {each.name for each in found if each.verified}
    assert len(good & set(names(plan.kept))) == min(keep, len(good))
    assert sorted(names(plan.kept) + names(plan.removed)) == sorted(each.name for each in found)


BY_LOSS = Best(metric="loss", higher=False)
HOUR = 3600.0


def measured(*values: float | None, higher: bool = False, verified: bool = True) -> list[Candidate]:
    """Oldest first, at steps 10, 20, ..., an hour apart."""
    return [
        Candidate(f"{at}0-a1", at * 10, 1, verified, value=value, created_at=at * HOUR)
        for at, value in enumerate(values, 1)
    ]


@pytest.mark.parametrize(("higher", "stays"), [(False, "20-a1"), (True, "10-a1")])
def test_the_best_one_stays_and_says_so(higher: bool, stays: str) -> None:
    policy = CheckpointPolicy(keep=1, best=Best(metric="loss", higher=higher))

    plan = plan_retention(measured(0.9, 0.25, 0.5, None, float("nan"), 0.4), policy)

    assert plan.kept[1:] == ((stays, f"the best: loss is {'0.9' if higher else '0.25'}"),)


def test_of_two_that_are_as_good_the_later_one_stays() -> None:
    plan = plan_retention(measured(0.25, 0.25, 0.5), CheckpointPolicy(keep=1, best=BY_LOSS))

    assert names(plan.kept) == ["30-a1", "20-a1"]


def test_a_best_one_that_was_not_read_again_removes_no_other_that_was() -> None:
    """The better one may be damaged: nobody has looked."""
    found = [*measured(0.5, 0.4), Candidate("25-a1", 25, 1, False, value=0.1), *measured(0.9, 0.8, 0.7)[2:]]

    plan = plan_retention(found, CheckpointPolicy(keep=1, best=BY_LOSS))

    assert names(plan.kept) == ["30-a1", "25-a1", "20-a1"]


def test_one_that_is_not_healthy_is_never_the_best() -> None:
    lost = Candidate("20-a1", 20, 1, True, healthy=False, value=0.0)

    plan = plan_retention([measured(0.5)[0], lost, *measured(1, 1, 0.9)[2:]], CheckpointPolicy(best=BY_LOSS))

    assert names(plan.kept) == ["30-a1", "20-a1", "10-a1"]
    assert dict(plan.kept)["20-a1"] == "its values are not finite"


def test_of_each_stretch_of_steps_the_first_one_stays_for_good() -> None:
    """Saves at 10, 20, ... 90; a milestone each 40 steps: 40 and 80."""
    plan = plan_retention(measured(*[None] * 9), CheckpointPolicy(keep=1, milestone_steps=40))

    assert plan.kept[1:] == (("80-a1", "a milestone"), ("40-a1", "a milestone"))


def test_of_each_stretch_of_time_the_first_one_stays_for_good() -> None:
    """Saves at 1, 2, ... 9 hours; a milestone in each four hours by the clock: at 1, 4 and 8 hours."""
    plan = plan_retention(measured(*[None] * 9), CheckpointPolicy(keep=1, milestone_seconds=4 * HOUR))

    assert names(plan.kept) == ["90-a1", "80-a1", "40-a1", "10-a1"]


def test_there_is_always_one_older_than_trouble_that_shows_late() -> None:
    """A save an hour for a day: from the fourth hour on there is one that is three hours old at least."""
    policy = CheckpointPolicy(keep=1, older_seconds=3 * HOUR)
    there: list[Candidate] = []
    ages = []
    for hour in range(1, 25):
        there.append(Candidate(f"{hour}-a1", hour, 1, True, created_at=hour * HOUR))
        kept = names(plan_retention(there, policy).kept)
        there = [item for item in there if item.name in kept]
        assert len(there) <= most(policy)
        ages.append(hour - there[0].step)

    assert ages[:3] == [0, 1, 2]
    assert min(ages[3:]) >= 3
    assert max(ages) <= 6


@given(some.lists(some.tuples(some.booleans(), some.none() | some.floats(0, 1)), min_size=1, max_size=8))
def test_what_is_wanted_besides_takes_nothing_from_the_latest(found: list[tuple[bool, float | None]]) -> None:
    made = measured(*[value for _read, value in found])
    items = [replace(each, verified=read) for each, (read, _) in zip(made, found, strict=True)]
    besides = CheckpointPolicy(
        keep=2, best=BY_LOSS, milestone_steps=30, milestone_seconds=5 * HOUR, older_seconds=2 * HOUR
    )

    plain, more = plan_retention(items, CheckpointPolicy(keep=2)), plan_retention(items, besides)

    assert set(names(plain.kept)) <= set(names(more.kept))


def test_one_that_was_asked_to_be_kept_stays_with_its_reason(tmp_path: Path) -> None:
    for step in (10, 20, 30, 40):
        save(tmp_path, step)
    keep_for(tmp_path, "10-a1", "the predictions come from it")
    keep_for(tmp_path, "20-a1", "")
    (tmp_path / "kept" / "20-a1.json").write_bytes(b'{"why"')

    plan = apply_retention(tmp_path, CheckpointPolicy(keep=1), {"30-a1", "40-a1"})

    assert plan.kept[1:] == (("20-a1", "it was asked for"), ("10-a1", "the predictions come from it"))
    assert [name.name for name in store.names(tmp_path)] == ["40-a1", "20-a1", "10-a1"]


def test_the_best_is_known_by_what_its_manifest_says(tmp_path: Path) -> None:
    for step, loss in ((10, 0.5), (20, 0.1), (30, 0.3)):
        save(tmp_path, step, measured={"loss": loss})

    apply_retention(tmp_path, CheckpointPolicy(keep=1, best=BY_LOSS), {"10-a1", "20-a1", "30-a1"})

    assert [name.name for name in store.names(tmp_path)] == ["30-a1", "20-a1"]


def test_removing_leaves_the_others_whole(tmp_path: Path) -> None:
    for step in (10, 20, 30):
        save(tmp_path, step)

    apply_retention(tmp_path, CheckpointPolicy(keep=2), {"20-a1", "30-a1"})

    assert sorted(path.name for path in tmp_path.iterdir()) == ["20-a1", "30-a1"]


def test_what_a_died_save_left_behind_is_removed(tmp_path: Path) -> None:
    save(tmp_path, 10)
    (tmp_path / ".tmp-20-a1-abc").mkdir()
    (tmp_path / ".tmp-20-a1-abc" / "tensors.safetensors").write_bytes(b"half")

    remove_leftovers(tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == ["10-a1"]
