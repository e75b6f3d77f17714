"""What a drill says: the verdict, what it rests on, and what it could not see. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from enum import Enum
from typing import Any

from lastro.drill.budget import Budget
from lastro.drill.cause import Cause, name_cause
from lastro.drill.compare import Reference, find_gap
from lastro.drill.crosscheck import Check
from lastro.drill.trace import Life
from lastro.errors import DrillDifferent, NotProven
from lastro.locale import _
from lastro.records import dataclass


class Answer(str, Enum):
    """Whether a resumed run equals one that was never killed."""

    EXACT = "exact"
    WITHIN_NOISE = "within_noise"
    DIFFERENT = "different"
    NOT_PROVEN = "not_proven"

    @property
    def exit_code(self) -> int:
        return {"different": DrillDifferent.exit_code, "not_proven": NotProven.exit_code}.get(self.value, 0)


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Seconds and updates of one kill. None: not measured.

    `to_first_update`: from the kill to the first new update. `lost`: updates that were made again.
    """

    to_first_update: float | None
    lost: int


@dataclass(frozen=True, kw_only=True)
class ArmResult:
    """What one arm showed. `different_from`: the first update that differs; None when none does."""

    name: str
    what: str
    answer: Answer
    why: str
    different_from: int | None = None
    cause: Cause | None = None
    measured: tuple[Measured, ...] = ()


@dataclass(frozen=True, kw_only=True)
class DrillResult:
    """The whole answer, as `--json` prints it.

    `check`: of the cause, by lives with state put back; None: no difference was seen. `budget`: of time;
    None: there was nothing to choose. `folder`: of logs and traces, where they were kept.
    """

    verdict: Answer
    why: str
    different_from: int | None
    cause: Cause | None
    updates: int
    undisturbed: int
    arms: tuple[ArmResult, ...]
    left_out: tuple[tuple[str, str], ...]
    limits: tuple[str, ...]
    seconds: float
    check: Check | None = None
    budget: Budget | None = None
    folder: str | None = None

    @property
    def exit_code(self) -> int:
        return self.verdict.exit_code

    def as_json(self) -> dict[str, Any]:
        value = asdict(self)
        value["verdict"] = self.verdict.value
        for arm, given in zip(value["arms"], self.arms, strict=True):
            arm["answer"] = given.answer.value
        if self.check is not None:
            value["check"]["answer"] = self.check.answer.value
        return value


def judge_arm(
    name: str,
    what: str,
    lives: Sequence[Life],
    reference: Reference,
    until: int,
    kills: int,
    failure: str | None,
) -> ArmResult:
    """Judge one arm.

    Args:
        name: of the arm.
        what: it did, in words.
        lives: of the job, in order.
        reference: the undisturbed lives.
        until: the last update that is compared.
        kills: how many times the job was to be killed.
        failure: why the last life ended, when it did so before `until`.
    """
    measured = tuple(measure(lives))
    if len(lives) < 2:
        why = failure or _("the job was not resumed: it ended before the kill, or was not heard again")
        return ArmResult(name=name, what=what, answer=Answer.NOT_PROVEN, why=why, measured=measured)
    gap = find_gap(lives, reference)
    if gap is not None:
        cause = name_cause(gap, reference)
        return ArmResult(
            name=name,
            what=what,
            answer=Answer.DIFFERENT,
            why=_("different from update {step} on: {why}").format(step=gap.step, why=cause.why),
            different_from=gap.step,
            cause=cause,
            measured=measured,
        )
    if all(life.resumed_at == 0 for life in lives[1:]):
        why = _("it began at the beginning again: no save could be used")
        return ArmResult(name=name, what=what, answer=Answer.NOT_PROVEN, why=why, measured=measured)
    if lives[-1].last < until:
        why = _("the resumed job went no farther than update {last} of {until}").format(
            last=lives[-1].last, until=until
        )
        why = f"{why}: {failure}" if failure else why
        return ArmResult(name=name, what=what, answer=Answer.NOT_PROVEN, why=why, measured=measured)
    if len(lives) <= kills:
        why = _("it was killed fewer times than it should have been")
        return ArmResult(name=name, what=what, answer=Answer.NOT_PROVEN, why=why, measured=measured)
    answer = Answer.EXACT if reference.exact else Answer.WITHIN_NOISE
    why = (
        _("every update is the same, bit for bit")
        if reference.exact
        else _("no farther from the undisturbed lives than these are from each other")
    )
    return ArmResult(name=name, what=what, answer=answer, why=why, measured=measured)


def measure(lives: Sequence[Life]) -> list[Measured]:
    """Measure each resume: the time to the first new update, and the updates that were made again."""
    found = []
    for before, life in itertools.pairwise(lives):
        first = life.updates[0] if life.updates else None
        killed = before.updates[-1].mono if before.updates else None
        seconds = round(first.mono - killed, 3) if first is not None and killed is not None else None
        found.append(Measured(to_first_update=seconds, lost=max(0, before.last - life.resumed_at)))
    return found


def conclude(
    arms: Sequence[ArmResult],
    control: ArmResult | None,
    reference: Reference,
    *,
    updates: int,
    left_out: Sequence[tuple[str, str]],
    limits: Sequence[str],
    seconds: float,
) -> DrillResult:
    """Make one verdict of all arms.

    Args:
        arms: those that were resumed as they should be.
        control: the one to which something was not given back, on purpose; None when it was not run.
        reference: the undisturbed lives.
        updates: how many were compared.
        left_out: kills that were not made, with reasons.
        limits: what this drill could not see.
        seconds: that it took.
    """

    def result(verdict: Answer, why: str, arm: ArmResult | None = None) -> DrillResult:
        return DrillResult(
            verdict=verdict, why=why, different_from=arm.different_from if arm else None,
            cause=arm.cause if arm else None, updates=updates, undisturbed=len(reference.lives),
            arms=(*arms, *((control,) if control else ())), left_out=tuple(left_out), limits=tuple(limits),
            seconds=round(seconds, 1),
        )  # fmt: skip

    different = next((arm for arm in arms if arm.answer is Answer.DIFFERENT), None)
    if different is not None:
        return result(Answer.DIFFERENT, different.why, different)
    if not arms:
        return result(Answer.NOT_PROVEN, _("no kill was possible"))
    if len(reference.lives) < 3 and not reference.exact:
        return result(Answer.NOT_PROVEN, _("the natural noise is unknown: it takes three undisturbed lives"))
    unproven = next((arm for arm in arms if arm.answer is Answer.NOT_PROVEN), None)
    if unproven is not None:
        return result(Answer.NOT_PROVEN, unproven.why)
    if control is None or control.answer is not Answer.DIFFERENT:
        return result(
            Answer.NOT_PROVEN,
            _("this drill cannot see a difference: state was held back on purpose, and nothing differed"),
        )
    return result(arms[0].answer, arms[0].why)


def limits_of(lives: Sequence[Life]) -> tuple[str, ...]:
    """Say what could not be seen of these lives."""
    updates = [update for life in lives for update in life.updates]
    found: Mapping[str, bool] = {
        _("no batch was seen: the order of the data shows by its effects alone"): not any(
            update.inputs for update in updates
        ),
        _("no loader was seen: samples are known by their bytes, not by their numbers"): any(
            update.inputs for update in updates
        )
        and not any(update.ids for update in updates),
        _("no loss was seen: `backward` was called on nothing that is one number"): not any(
            update.losses for update in updates
        ),
    }
    return tuple(text for text, holds in found.items() if holds)
