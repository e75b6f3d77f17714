"""Every answer, reached by changing thresholds and data only."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from lastro.closeout.conclude import Answer, RunEvidence, conclude, evidence_of, exit_code
from lastro.closeout.judge import Judgement, Verdict
from lastro.closeout.promise import DecisionRule, Promise
from lastro.journal.views import RunView
from tests.closeout.tiny import MODEL, PREDICTIONS, PROMISE

RULE = DecisionRule(metric="accuracy", better="higher", margin=Decimal("0.01"), over="control")


def run(name: str, metric: float | None, **other: object) -> RunEvidence:
    """Return a required run that completed and was accepted, unless told otherwise."""
    plain = RunEvidence(
        id=f"id-{name}", name=name, priority="required", status="completed", why=None, accepted=True,
        metric=metric,
    )  # fmt: skip
    return replace(plain, **other)  # type: ignore[arg-type]


CONTROL = run("control", 0.90)
SHIFT = run("shift", 0.92)
WIDE = run("wide", 0.91, priority="useful")
ALL = (CONTROL, SHIFT, WIDE)


def test_the_best_variant_that_reaches_the_margin_is_adopted() -> None:
    answer = conclude(RULE, ALL)

    assert (answer.verdict, answer.run) == (Answer.ADOPT, "id-shift")
    assert answer.why == ("shift has accuracy 0.92, 0.02 better than 0.9 of 'control'; the margin is 0.01")
    assert [one["gain"] for one in answer.evidence["runs"]] == ["0", "0.02", "0.01"]


def test_a_larger_margin_keeps_the_control() -> None:
    answer = conclude(replace(RULE, margin=Decimal("0.03")), ALL)

    assert (answer.verdict, answer.run) == (Answer.KEEP_CONTROL, None)
    assert "no variant reaches the margin of 0.03: the best, shift" in answer.why


def test_a_gain_of_exactly_the_margin_is_enough_although_floats_say_less() -> None:
    """5/300 - 2/300 is 0.01, and 0.009999999999999998 as floats."""
    better, worse = 5 / 300, 2 / 300
    assert better - worse < 0.01

    assert conclude(RULE, (run("control", worse), run("shift", better))).verdict is Answer.ADOPT


def test_where_lower_is_better_the_lower_one_is_adopted() -> None:
    rule = replace(RULE, metric="mse", better="lower", margin=Decimal("0.1"))

    assert conclude(rule, (run("control", 2.0), run("shift", 1.9))).verdict is Answer.ADOPT
    assert conclude(rule, (run("control", 2.0), run("shift", 2.2))).verdict is Answer.KEEP_CONTROL


def test_a_useful_variant_can_win_and_need_not_be_there() -> None:
    absent = replace(WIDE, status="waiting", metric=None, accepted=False)

    assert conclude(RULE, (CONTROL, SHIFT, replace(WIDE, metric=0.95))).run == "id-wide"
    assert conclude(RULE, (CONTROL, SHIFT, absent)).run == "id-shift"


@pytest.mark.parametrize(
    ("absent", "why"),
    [
        ({"status": "interrupted", "why": "machine lost", "metric": None}, "shift: the run was interrupted"),
        ({"status": "failed", "why": "exit code 1", "metric": None}, "shift: the run failed: exit code 1"),
        ({"accepted": False}, "shift: what it delivered was not accepted"),
        ({"metric": None}, "shift: the decision's metric was not recomputed"),
    ],
)
def test_an_absent_required_variant_leaves_it_undecided(absent: dict[str, object], why: str) -> None:
    answer = conclude(RULE, (CONTROL, replace(SHIFT, **absent), WIDE))  # type: ignore[arg-type]

    assert answer.verdict is Answer.UNDECIDED
    assert why in answer.why


def test_an_absent_variant_that_could_not_win_any_more_does_not_matter() -> None:
    """From 0.995 nothing can gain 0.01, since accuracy ends at 1; nor is there more than 1 to overtake."""
    absent = replace(SHIFT, status="failed", metric=None, accepted=False)

    near = (replace(CONTROL, metric=0.995), absent, replace(WIDE, metric=0.99))
    assert conclude(RULE, near).verdict is Answer.KEEP_CONTROL
    assert conclude(RULE, (CONTROL, absent, replace(WIDE, metric=1.0))).run == "id-wide"


def test_an_unproven_control_leaves_it_undecided() -> None:
    assert conclude(RULE, (replace(CONTROL, accepted=False), SHIFT)).verdict is Answer.UNDECIDED
    assert conclude(RULE, (SHIFT,)).why == "there is no run 'control' to compare with"
    assert conclude(RULE, (CONTROL,)).verdict is Answer.UNDECIDED


STOP = {"status": "stopped", "why": "loss is NaN at step 7", "accepted": False, "metric": None}


def test_a_stopped_control_stops_the_question() -> None:
    answer = conclude(RULE, (replace(CONTROL, **STOP), SHIFT))  # type: ignore[arg-type]

    assert answer.verdict is Answer.STOPPED
    assert answer.why == "control: the run was stopped: loss is NaN at step 7"


def test_when_every_variant_was_stopped_the_answer_is_stopped() -> None:
    stopped = [replace(one, **STOP) for one in (SHIFT, WIDE)]  # type: ignore[arg-type]

    assert conclude(RULE, (CONTROL, *stopped)).verdict is Answer.STOPPED


def test_a_stopped_required_variant_matters_only_when_no_other_wins() -> None:
    stopped = replace(SHIFT, **STOP)  # type: ignore[arg-type]

    assert conclude(RULE, (CONTROL, stopped, WIDE)).run == "id-wide"
    assert conclude(RULE, (CONTROL, stopped, replace(WIDE, metric=0.90))).verdict is Answer.STOPPED


def test_a_campaign_that_was_stopped_says_so_unless_it_already_has_an_answer() -> None:
    waiting = replace(SHIFT, status="waiting", metric=None, accepted=False)

    stopped = conclude(RULE, (CONTROL, waiting), campaign_stop="the budget of 60 USD is spent")
    assert stopped.verdict is Answer.STOPPED
    assert "the budget of 60 USD is spent" in stopped.why
    assert conclude(RULE, ALL, campaign_stop="deadline").verdict is Answer.ADOPT


def test_superseded_runs_take_no_part() -> None:
    old = replace(CONTROL, id="old", status="superseded", metric=0.99)

    assert conclude(RULE, (old, *ALL)).run == "id-shift"


def test_without_a_rule_it_is_undecided_and_nobody_is_to_blame() -> None:
    answer = conclude(None, ALL)

    assert (answer.verdict, answer.why) == (Answer.UNDECIDED, "no decision rule was written down")
    assert exit_code(answer, ALL, ()) == 0


def rejected(name: str) -> Judgement:
    return Judgement(run=f"id-{name}", name="model", path="m", verdict=Verdict.REJECTED, why="differs")


def test_the_exit_code_of_an_answer_is_0_also_of_a_negative_one() -> None:
    assert exit_code(conclude(RULE, ALL), ALL, ()) == 0
    negative = conclude(replace(RULE, margin=Decimal(1)), ALL)
    assert exit_code(negative, ALL, (rejected("wide"),)) == 0


def test_a_required_run_that_a_rule_stopped_is_6() -> None:
    runs = (replace(CONTROL, **STOP), SHIFT)  # type: ignore[arg-type]

    assert exit_code(conclude(RULE, runs), runs, ()) == 6
    assert exit_code(conclude(None, runs), runs, ()) == 6


def test_a_rejected_output_of_a_required_run_is_9_when_the_answer_waits_for_it() -> None:
    runs = (CONTROL, replace(SHIFT, accepted=False))

    assert exit_code(conclude(RULE, runs), runs, (rejected("shift"),)) == 9
    assert exit_code(conclude(None, runs), runs, (rejected("shift"),)) == 9


def test_a_run_that_is_not_there_yet_is_11() -> None:
    runs = (CONTROL, replace(SHIFT, status="waiting", accepted=False, metric=None))

    assert exit_code(conclude(RULE, runs), runs, ()) == 11
    assert exit_code(conclude(None, runs), runs, ()) == 11


def view(**other: object) -> RunView:
    plain = RunView(
        id="r", name="shift", priority="required", config={}, status="completed", why=None, attempts=(),
        outputs={},
    )  # fmt: skip
    return replace(plain, **other)  # type: ignore[arg-type]


def judged(name: str, verdict: Verdict, metric: float | None = None) -> Judgement:
    return Judgement(run="r", name=name, path=name, verdict=verdict, why="", metric=metric)


def test_evidence_needs_every_promise_kept_and_takes_the_metric_of_the_rule() -> None:
    good = [judged("predictions", Verdict.ACCEPTED, 0.9), judged("model", Verdict.ACCEPTED)]
    assert evidence_of(view(), PROMISE, good).counts
    assert evidence_of(view(), PROMISE, good).metric == 0.9

    bad_model = [good[0], judged("model", Verdict.REJECTED)]
    assert not evidence_of(view(), PROMISE, bad_model).counts

    unproven = [judged("predictions", Verdict.PRODUCED), good[1]]
    assert not evidence_of(view(), PROMISE, unproven).counts


def test_an_extra_output_that_only_opens_does_not_hold_a_run_back() -> None:
    plain = replace(MODEL, reload=None, compare=None)
    promise = Promise(deliverables=(PREDICTIONS, plain), decision=RULE)
    found = [judged("predictions", Verdict.ACCEPTED, 0.9), judged("model", Verdict.PRODUCED)]

    assert evidence_of(view(), promise, found).counts
    assert not evidence_of(view(status="stopped"), promise, found).counts
