"""What the two lives of a trial come to."""

from __future__ import annotations

from pathlib import Path

import pytest

from lastro.drill.arm import Arm
from lastro.drill.trace import Life, Update
from lastro.flow.trial import seen
from lastro.paths import RunFolder


def life(number: int, steps: range, *, resumed_at: int = 0, waits: tuple[float, ...] = ()) -> Life:
    """One update a second; the loss of an update is one divided by its number."""
    return Life(
        number=number,
        api=True,
        began=0.0,
        resumed_at=resumed_at,
        restored=None,
        restored_variables={},
        updates=tuple(
            Update(step=step, mono=float(step), state={}, losses=(0.5 / step, 0.5 / step), waits=waits)
            for step in steps
        ),
        ended=None,
    )


def arm(*lives: Life, failure: str | None = None, over: bool = False) -> Arm:
    return Arm(
        name="trial",
        run=RunFolder(Path("run")),
        workdir=Path("work"),
        lives=lives,
        seconds=1.0,
        failure=failure,
        over=over,
    )


def test_what_both_lives_have_done_is_compared() -> None:
    """Killed after 8, resumed from 6: updates 7 and 8 were made twice. 0.2 s of each second were waited."""
    trial = seen(
        arm(life(1, range(1, 9), waits=(0.1, 0.1)), life(2, range(7, 13), resumed_at=6, waits=(0.2,))), 12
    )

    assert (trial.updates, trial.restored_at, trial.second) == (12, 6, True)
    assert (sorted(trial.again), trial.repeats) == ([7, 8], True)
    assert sorted(trial.losses) == list(range(1, 13))
    assert trial.seconds == 1.0
    assert trial.wait_share == pytest.approx(0.2)


def test_a_job_that_saves_nothing_begins_anew() -> None:
    trial = seen(arm(life(1, range(1, 9)), life(2, range(1, 13))), 12)

    assert (trial.restored_at, trial.second, sorted(trial.again)) == (None, True, list(range(1, 9)))
    assert trial.wait_share is None


def test_what_ended_for_want_of_time_has_not_failed() -> None:
    assert seen(arm(life(1, range(1, 4)), failure="killed", over=True), 12).failure is None
    assert seen(arm(failure="exit 1"), 12).failure == "exit 1"
