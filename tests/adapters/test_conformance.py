"""Killed at a random step and resumed in a new process, every framework gives the same bits.

Twenty cases: those of docs/adapters.md, of which without the adapters 18 go on with other data or weights.
"""

from __future__ import annotations

import itertools
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.adapters.lives import (
    FRAMEWORKS,
    UPDATES,
    Case,
    Undisturbed,
    a_run,
    delivered,
    logged,
    restored_at,
)
from tests.job.conftest import Nursery
from tests.job.hand import kinds

ACCELERATE = "hugging_face_accelerate"
#: The last window of an epoch is one batch, validations draw random numbers, a Trainer makes its own model.
HARD = {
    "hugging_face": ("--accumulate", "3", "--validate", "--augment", "--workers", "2", "--model-init"),
    ACCELERATE: ("--accumulate", "3", "--augment", "--workers", "2"),
    "pytorch_lightning": ("--accumulate", "3", "--validate", "--augment", "--workers", "2"),
}
GROUPS = {
    "hugging_face": ("model", "optimizer", "scheduler", "random", "position"),
    ACCELERATE: ("model", "optimizer", "scheduler", "random", "position"),
    "pytorch_lightning": ("model", "optimizer", "scheduler", "loops", "random"),
}


def cases() -> Iterator[Case]:
    for job in FRAMEWORKS:
        for loader in ("plain", "seedable", "stateful") if job == ACCELERATE else ("plain",):
            for augment, workers in itertools.product(((), ("--augment",)), ("0", "2")):
                yield Case(job, ("--loader", loader, *augment, "--workers", workers))


@pytest.mark.parametrize("case", list(cases()), ids=str)
def test_killed_at_a_random_step_and_resumed_it_is_as_if_nothing_had_happened(
    case: Case, tmp_path: Path, frameworks: Nursery, undisturbed: Undisturbed
) -> None:
    whole = undisturbed(case)
    assert len(whole.delivered) == UPDATES
    run = a_run(tmp_path)
    ended, first = case.live(run, frameworks, lost_at=case.lost_at)
    assert ended.signal == signal.SIGKILL, ended.log

    ended, second = case.live(run, frameworks)

    assert ended.code == 0, ended.log
    step = restored_at(second)
    assert 0 < step <= case.lost_at
    assert delivered(first)[:step] + delivered(second) == whole.delivered
    assert run.outputs() == whole.outputs
    assert logged(first) | logged(second) == whole.logged


@pytest.mark.parametrize("job", FRAMEWORKS)
def test_workers_change_nothing(job: str, undisturbed: Undisturbed) -> None:
    alone, together = (
        undisturbed(Case(job, ("--loader", "plain", "--augment", "--workers", workers))) for workers in "02"
    )

    assert alone == together


@pytest.mark.parametrize("job", FRAMEWORKS)
def test_windows_that_end_with_their_epoch_and_validations_are_exact_too(
    job: str, tmp_path: Path, frameworks: Nursery, undisturbed: Undisturbed
) -> None:
    case = Case(job, HARD[job])
    whole = undisturbed(case)
    run = a_run(tmp_path, every=3)
    ended, _first = case.live(run, frameworks, lost_at=15)  # the second epoch begins after 9 updates
    assert ended.signal == signal.SIGKILL, ended.log

    ended, second = case.live(run, frameworks)

    assert ended.code == 0, ended.log
    windows = restored_at(second) - 9  # of the second epoch, complete
    assert windows >= 0
    assert delivered(second) == whole.delivered[25 + 3 * windows :]
    assert run.outputs() == whole.outputs


@pytest.mark.parametrize("job", FRAMEWORKS)
def test_lost_three_times_once_at_the_end_of_an_epoch_it_is_exact_and_then_finished(
    job: str, tmp_path: Path, frameworks: Nursery, undisturbed: Undisturbed
) -> None:
    case = Case(job, ("--loader", "plain", "--augment", "--workers", "0"))
    whole = undisturbed(case)
    run, lived = a_run(tmp_path, every=5), []
    for lost_at, by in ((13, signal.SIGKILL), (25, signal.SIGTERM), (41, signal.SIGKILL)):
        ended, folder = case.live(run, frameworks, lost_at=lost_at, by=by)
        assert ended.signal == by or ended.code == 85, ended.log
        lived.append(folder)
    assert kinds(lived[1])[-2:] == ["checkpoint", "left"]
    assert restored_at(lived[2]) == 25

    ended, last = case.live(run, frameworks)

    assert ended.code == 0, ended.log
    assert delivered(last) == whole.delivered[restored_at(last) :]
    assert run.outputs() == whole.outputs
    assert kinds(last)[-2:] == ["finished", "output"]
    shutil.rmtree(run.folder.outputs)

    ended, again = case.live(run, frameworks)

    assert ended.code == 0, ended.log
    assert kinds(again) == ["started", "restored", "finished", "output"]
    assert (delivered(again), run.outputs()) == ([], whole.outputs)


@pytest.mark.parametrize(("job", "group"), [(job, group) for job in FRAMEWORKS for group in GROUPS[job]])
def test_without_any_one_group_it_differs(
    job: str, group: str, tmp_path: Path, frameworks: Nursery, undisturbed: Undisturbed
) -> None:
    case = Case(job, ("--loader", "plain", "--augment", "--workers", "0"))
    run = a_run(tmp_path)
    case.live(run, frameworks, lost_at=29)

    ended, _folder = case.live(run, frameworks, leave_out=(group,))

    assert ended.code == 0, ended.log
    assert run.outputs() != undisturbed(case).outputs


@pytest.mark.parametrize("job", FRAMEWORKS)
def test_other_windows_than_those_of_the_checkpoint_are_refused_by_name(
    job: str, tmp_path: Path, frameworks: Nursery
) -> None:
    run = a_run(tmp_path)
    Case(job, ("--accumulate", "1")).live(run, frameworks, lost_at=9, by=signal.SIGTERM)

    ended, folder = Case(job, ("--accumulate", "2")).live(run, frameworks)

    assert ended.code == 8
    assert "data/accumulate: 1 in the checkpoint, 2 here" in ended.log
    assert delivered(folder) == []
