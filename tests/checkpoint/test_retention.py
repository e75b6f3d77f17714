from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from lastro.checkpoint.retention import Candidate, apply_retention, plan_retention, remove_leftovers
from lastro.errors import UsageError
from tests.checkpoint.test_store import save


def candidates(*verified: bool) -> list[Candidate]:
    """Oldest first, at steps 10, 20, ..."""
    return [Candidate(f"{at}0-a1", at * 10, 1, good) for at, good in enumerate(verified, 1)]


def names(pairs: tuple[tuple[str, str], ...]) -> list[str]:
    return [name for name, _why in pairs]


def test_the_latest_that_verify_stay_and_older_ones_go() -> None:
    plan = plan_retention(candidates(True, True, True), keep=2)

    assert names(plan.kept) == ["30-a1", "20-a1"]
    assert plan.removed == (("10-a1", "2 later ones were read again and verify"),)


def test_one_that_was_not_read_again_makes_no_other_superfluous() -> None:
    plan = plan_retention(candidates(True, True, False), keep=2)

    assert names(plan.kept) == ["30-a1", "20-a1", "10-a1"]


def test_an_old_one_that_was_not_read_again_goes_when_enough_later_ones_verify() -> None:
    assert names(plan_retention(candidates(False, True, True), keep=2).removed) == ["10-a1"]


def test_a_protected_one_stays() -> None:
    plan = plan_retention(candidates(True, True), keep=1, protect={"10-a1"})

    assert ("10-a1", "protected") in plan.kept


def test_keeping_none_is_refused() -> None:
    with pytest.raises(UsageError, match="keep is 0"):
        plan_retention(candidates(True), keep=0)


@given(some.lists(some.booleans(), max_size=8), some.integers(1, 4))
def test_whatever_is_there_the_verified_ones_never_get_fewer_than_keep(
    verified: list[bool], keep: int
) -> None:
    found = candidates(*verified)

    plan = plan_retention(found, keep)

    good = {each.name for each in found if each.verified}
    assert len(good & set(names(plan.kept))) == min(keep, len(good))
    assert sorted(names(plan.kept) + names(plan.removed)) == sorted(each.name for each in found)


def test_removing_leaves_the_others_whole(tmp_path: Path) -> None:
    for step in (10, 20, 30):
        save(tmp_path, step)

    apply_retention(tmp_path, 2, {"20-a1", "30-a1"})

    assert sorted(path.name for path in tmp_path.iterdir()) == ["20-a1", "30-a1"]


def test_what_a_died_save_left_behind_is_removed(tmp_path: Path) -> None:
    save(tmp_path, 10)
    (tmp_path / ".tmp-20-a1-abc").mkdir()
    (tmp_path / ".tmp-20-a1-abc" / "tensors.safetensors").write_bytes(b"half")

    remove_leftovers(tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == ["10-a1"]
