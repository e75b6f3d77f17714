"""Two processes train together in a framework's loop; one is killed, and both go on with the same bits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.adapters.lives import FRAMEWORKS, Case, a_run, delivered, restored_at
from tests.job.conftest import Nursery

#: 100 rows, 8 in a batch of both: 12 full ones and one of 4 in each of two epochs.
UPDATES = 26


def ids(lines: list[str]) -> list[int]:
    return [row for line in lines for row in json.loads(line)[0]]


@pytest.mark.parametrize("job", FRAMEWORKS)
def test_one_of_two_is_killed_and_both_go_on_with_the_same_bits(
    job: str, tmp_path: Path, frameworks: Nursery
) -> None:
    """Each has dropout and augmentation of its own; together they see every row once in an epoch."""
    case = Case(job, ("--augment", "--workers", "0"))
    whole, run = a_run(tmp_path / "whole"), a_run(tmp_path / "lost")
    ended, peaceful = case.live(whole, frameworks, ranks=2)
    assert ended.code == 0, ended.log
    ended, first = case.live(run, frameworks, ranks=2, lost_at=19)
    assert ended.code != 0

    ended, second = case.live(run, frameworks, ranks=2)

    assert ended.code == 0, ended.log
    assert restored_at(second) == 16
    for rank in (0, 1):
        assert len(delivered(peaceful, rank)) == UPDATES
        assert delivered(first, rank)[:16] + delivered(second, rank) == delivered(peaceful, rank)
    epoch = [ids(delivered(peaceful, rank)[: UPDATES // 2]) for rank in (0, 1)]
    assert sorted([*epoch[0], *epoch[1]]) == list(range(100))
    assert run.outputs() == whole.outputs()
