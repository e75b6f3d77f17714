"""One verdict of all arms: exact only when it was proven, and when a difference would have been seen."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from lastro.drill.compare import make_reference
from lastro.drill.trace import Life
from lastro.drill.verdict import Answer, ArmResult, DrillResult, conclude, judge_arm
from tests.drill.lives import killed, life, reference, state_at

FORGOT = {6: {"state": state_at(6, optimizer="empty"), "after": {"model": "other"}}}


def judged(lives: Sequence[Life], until: int = 20, kills: int = 1, failure: str | None = None) -> ArmResult:
    return judge_arm("between", "killed", lives, reference(), until, kills, failure)


def concluded(*arms: ArmResult, control: ArmResult | None, undisturbed: int = 3) -> DrillResult:
    lives = [life(1, 20) for _number in range(undisturbed)]
    return conclude(arms, control, make_reference(lives), updates=20, left_out=(), limits=(), seconds=1.0)


def exact() -> ArmResult:
    return judged([killed(), life(6, 20, 2)])


def different() -> ArmResult:
    return judged([killed(), life(6, 20, 2, changes=FORGOT)])


def test_an_arm_that_is_the_same_is_exact_with_what_it_cost() -> None:
    arm = exact()

    assert arm.answer is Answer.EXACT
    assert [(one.to_first_update, one.lost) for one in arm.measured] == [(-1.0, 2)]


def test_an_arm_that_differs_tells_where_and_why() -> None:
    arm = different()

    assert (arm.answer, arm.different_from) == (Answer.DIFFERENT, 6)
    assert arm.cause is not None and arm.cause.kind == "optimizer"
    assert arm.cause.remedy == "save and load optimizer.state_dict()"


@pytest.mark.parametrize(
    ("lives", "why"),
    [
        ([killed()], "not resumed"),
        ([killed(), life(1, 20, 2)], "beginning again"),
        ([killed(), life(6, 11, 2, ended=None)], "update 11 of 20"),
    ],
)
def test_an_arm_without_a_whole_resume_proves_nothing(lives: list[Life], why: str) -> None:
    arm = judged(lives)

    assert arm.answer is Answer.NOT_PROVEN
    assert why in arm.why


def test_a_job_that_fails_when_it_is_resumed_is_told_with_its_words() -> None:
    assert judged([killed()], failure="exit code 1: KeyError: 'epoch'").why.endswith("KeyError: 'epoch'")


def test_a_kill_that_never_came_proves_nothing() -> None:
    assert judged([killed(), life(6, 20, 2)], kills=2).answer is Answer.NOT_PROVEN


def test_exact_needs_a_control_that_differs() -> None:
    assert concluded(exact(), control=different()).verdict is Answer.EXACT
    blind = concluded(exact(), control=exact())
    assert (blind.verdict, blind.exit_code) == (Answer.NOT_PROVEN, 11)
    assert "cannot see" in blind.why


def test_one_arm_that_differs_decides() -> None:
    result = concluded(exact(), different(), control=None)

    assert (result.verdict, result.exit_code, result.different_from) == (Answer.DIFFERENT, 10, 6)


def test_without_three_undisturbed_lives_noise_is_unknown() -> None:
    lives = [life(1, 20), life(1, 20, changes={3: {"losses": (5.0,)}})]
    result = conclude(
        [exact()], different(), make_reference(lives), updates=20, left_out=(), limits=(), seconds=1.0
    )

    assert result.verdict is Answer.NOT_PROVEN
    assert "noise is unknown" in result.why


def test_the_result_is_plain_json() -> None:
    value = concluded(different(), control=None).as_json()

    assert value["verdict"] == "different"
    assert value["cause"]["kind"] == "optimizer"
    assert value["arms"][0]["answer"] == "different"
