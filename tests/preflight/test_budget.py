from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from lastro.preflight.budget import Measured, Yielded, take
from lastro.preflight.check import Finding, Level, verdict_of

WELL = Finding(code="x", level=Level.PASS, fact="x", value="x")


def test_findings_and_figures_are_kept_apart() -> None:
    step = take("s", 60.0, lambda: [WELL, Measured(name="m", values={"a": 1})])

    assert (step.findings, step.measured, step.is_over) == (
        (WELL,),
        (Measured(name="m", values={"a": 1}),),
        False,
    )


def test_a_step_that_never_ends_is_left_with_what_it_has_found() -> None:
    let_go, left = threading.Event(), []

    def work() -> Iterator[Yielded]:
        yield WELL
        let_go.wait(60)

    step = take("dead", 0.3, work, lambda: left.append(True))
    let_go.set()

    assert step.is_over and left == [True]
    assert step.findings[0] is WELL and step.findings[1].code == "step"
    assert verdict_of(step.findings) is Level.NO_ANSWER


def test_what_a_step_raises_is_raised_and_nothing_has_to_be_ended() -> None:
    left: list[bool] = []

    def work() -> Iterator[Yielded]:
        yield WELL
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        take("s", 60.0, work, lambda: left.append(True))
    assert left == []
