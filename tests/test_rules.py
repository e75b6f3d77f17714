"""Stop, cause of an end, restart: every decision worked out by hand."""

from __future__ import annotations

import math

import pytest

from lastro import strictjson
from lastro.rules import (
    Attempt,
    Cause,
    CheckpointPolicy,
    CodeIdentity,
    Corpus,
    End,
    Ended,
    Leave,
    Life,
    Order,
    RestartPolicy,
    StopKind,
    StopRule,
    Verdict,
    after_attempt,
    cause_of,
    judge_input,
    judge_resume,
    judge_values,
)

NON_FINITE = StopRule(kind=StopKind.NON_FINITE, metric="loss")
FLOOR = StopRule(kind=StopKind.FLOOR, metric="accuracy", below=0.5, after_steps=200)
TRUNCATED = StopRule(kind=StopKind.TRUNCATED_INPUT)
ASKED = Leave(end=End.ASKED, why="asked", seconds=30.0)
NOTICED = Leave(end=End.NOTICE, why="noticed", seconds=5.0)
CORPUS = Corpus(path="data/digits.npz", digest="ab" * 32, rows=1797)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_loss_that_is_no_number_stops(value: float) -> None:
    stop = judge_values((NON_FINITE, FLOOR), 7, {"loss": value})

    assert stop is not None
    assert (stop.kind, stop.step, stop.metric) == (StopKind.NON_FINITE, 7, "loss")


@pytest.mark.parametrize(
    ("step", "accuracy", "stops"),
    [(199, 0.1, False), (200, 0.5, False), (200, 0.49, True), (900, math.nan, True), (900, 0.9, False)],
)
def test_a_floor_holds_from_its_step_on(step: int, accuracy: float, stops: bool) -> None:
    assert (judge_values((FLOOR,), step, {"accuracy": accuracy}) is not None) is stops


def test_a_metric_that_is_not_watched_stops_nothing() -> None:
    assert judge_values((NON_FINITE, FLOOR), 500, {"grad_norm": math.nan}) is None


@pytest.mark.parametrize(
    ("rows", "digest", "stops"),
    [
        (1797, CORPUS.digest, False),
        (1796, CORPUS.digest, True),
        (None, "cd" * 32, True),
        (1797, None, False),
        (None, None, False),
    ],
)
def test_a_truncated_input_stops(rows: int | None, digest: str | None, stops: bool) -> None:
    assert (judge_input((TRUNCATED,), CORPUS, rows, digest) is not None) is stops


def test_without_the_rule_a_shorter_input_is_allowed() -> None:
    assert judge_input((NON_FINITE,), CORPUS, 3, None) is None


def test_a_saved_run_never_goes_on_from_nothing() -> None:
    assert judge_resume(committed_step=75, usable_step=None) is not None
    assert judge_resume(committed_step=75, usable_step=50) is None
    assert judge_resume(committed_step=None, usable_step=None) is None


@pytest.mark.parametrize(
    ("ended", "end"),
    [
        (Ended(exit_code=0, signal=None, step=9), End.DONE),
        (Ended(exit_code=0, signal=None, step=9, leave=ASKED), End.DONE),
        (Ended(exit_code=85, signal=None, step=9, leave=NOTICED), End.NOTICE),
        (Ended(exit_code=85, signal=None, step=9, leave=ASKED), End.ASKED),
        (Ended(exit_code=85, signal=None, step=9), End.SAVED),
        (Ended(exit_code=None, signal=9, step=9), End.KILLED),
        (Ended(exit_code=None, signal=None, step=9), End.KILLED),
        (Ended(exit_code=None, signal=9, step=9, leave=NOTICED, grace_over=True), End.NOTICE),
        (Ended(exit_code=1, signal=None, step=9, failure="ValueError: x"), End.CRASHED),
        (Ended(exit_code=12, signal=None, step=9), End.FENCED),
    ],
)
def test_the_cause_of_an_end_is_told_by_what_was_seen(ended: Ended, end: End) -> None:
    assert cause_of(ended).end is end


def test_a_stop_rule_outranks_the_exit_code() -> None:
    stop = judge_values((NON_FINITE,), 7, {"loss": math.nan})

    assert cause_of(Ended(exit_code=0, signal=None, step=7, stop=stop)).end is End.STOP_RULE


def _life(number: int, end: End, before: int | None, after: int | None, failure: str | None = None) -> Life:
    cause = Cause(end=end, why="because", step=after, failure=failure)
    return Life(number=number, cause=cause, progress_before=before, progress_after=after)


def _verdict(*lives: Life) -> Verdict:
    return after_attempt(lives, RestartPolicy(starts_without_progress=2)).verdict


def test_restarts_go_on_while_verified_progress_grows() -> None:
    lives = [_life(n, End.KILLED, (n - 1) * 10, n * 10) for n in range(1, 30)]

    assert _verdict(*lives) is Verdict.RESTART


def test_two_starts_without_progress_end_the_run() -> None:
    assert _verdict(_life(1, End.KILLED, None, 10), _life(2, End.KILLED, 10, 10)) is Verdict.RESTART
    assert (
        _verdict(_life(1, End.KILLED, None, 10), _life(2, End.KILLED, 10, 10), _life(3, End.CRASHED, 10, 10))
        is Verdict.FAILED
    )


def test_a_first_save_at_step_0_is_progress() -> None:
    assert _life(1, End.KILLED, None, 0).progressed


def test_weather_never_counts_against_a_run() -> None:
    storms = [_life(number, End.LOST, None, None) for number in range(1, 9)]

    assert _verdict(*storms) is Verdict.INTERRUPTED
    assert _verdict(*storms, _life(9, End.KILLED, None, None)) is Verdict.RESTART


def test_the_same_failure_at_the_same_step_twice_stops_at_once() -> None:
    first = _life(1, End.CRASHED, None, 10, "IndexError: 7")
    second = _life(2, End.CRASHED, 10, 10, "IndexError: 7")
    other = _life(2, End.CRASHED, 10, 10, "IndexError: 8")

    assert _verdict(first, second) is Verdict.FAILED
    assert _verdict(first, other) is Verdict.RESTART


@pytest.mark.parametrize(
    ("end", "verdict"),
    [
        (End.DONE, Verdict.COMPLETED),
        (End.STOP_RULE, Verdict.STOPPED),
        (End.ASKED, Verdict.PAUSED),
        (End.NOTICE, Verdict.INTERRUPTED),
        (End.FENCED, Verdict.FENCED),
        (End.SAVED, Verdict.RESTART),
    ],
)
def test_each_end_has_its_verdict(end: End, verdict: Verdict) -> None:
    assert _verdict(_life(1, end, None, 10)) is verdict


def test_an_attempt_survives_its_file() -> None:
    order = Order(
        campaign="digits",
        run="ab12",
        name="shift",
        command=("python", "train.py"),
        config={"width": 64},
        seed=0,
        resume="training",
        workdir="/w",
        campaign_folder="/d",
        machine="m",
        node="n",
        home_stream="home-1",
        home_head="00",
        stop=(NON_FINITE, FLOOR, TRUNCATED),
        checkpoint=CheckpointPolicy(every_steps=25),
        corpus=CORPUS,
        outputs=("a.csv",),
        leave_out=("optimizer",),
        code=CodeIdentity(digest="cc", unpack=True, excludes=("x",), links={"a": "/b"}),
    )
    attempt = Attempt(number=2, token="t", order=order, claimed_at="now", committed_step=50)

    assert Attempt.from_json(strictjson.loads(strictjson.dumps(attempt.as_json()))) == attempt
