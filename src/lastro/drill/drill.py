"""Drills a job: learns its natural noise, kills and resumes it, and says whether that made a difference."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lastro.drill.arm import Arm, Subject, last_step, live_through, tidy
from lastro.drill.budget import Budget
from lastro.drill.compare import Reference, find_gap, make_reference
from lastro.drill.crosscheck import Check, Suspect, Trial, cut_short, is_noise, judge_trial, next_trial
from lastro.drill.kills import Arrangement, Choice, Pace, choose_kills, pace_of
from lastro.drill.outside import OutsideDrill
from lastro.drill.progress import UNDISTURBED, Progress
from lastro.drill.trace import Life
from lastro.drill.verdict import Answer, ArmResult, DrillResult, conclude, judge_arm, limits_of
from lastro.locale import _
from lastro.paths import RunFolder
from lastro.probe.instructions import Instructions
from lastro.probe.objects import MODEL, OBJECT, OPTIMIZER
from lastro.records import dataclass

#: Where a job that attaches saves, and where it ends, when nothing else was asked for.
EVERY_STEPS, STEPS = 5, 40
_SAVES_WANTED, _MARGIN = 2, 5
#: Slow jobs make fewer updates than `STEPS`, when they have saved twice.
_SECONDS = 60.0
#: Of a budget, the part that the first life may take: there are six more at least.
_SHARE_OF_FIRST = 1 / 7


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How much a drill does.

    Args:
        steps: updates of each life; None: `STEPS`, and as many as it takes to see two saves.
        most_steps: never more than these.
        full: every kill that is possible.
        budget_seconds: for all lives, as the user asks; None: nothing was said.
        seconds: after so many a life is ended, whatever it does.
        workers: of each DataLoader in resumed lives; None: as many as the job asks for.
    """

    steps: int | None = None
    most_steps: int = 2000
    full: bool = False
    budget_seconds: float | None = None
    seconds: float = 3600.0
    workers: int | None = None


class Drill:
    """One drill of one job, in a folder of its own."""

    def __init__(self, subject: Subject, root: Path, effort: Effort, budget: Budget, tell: Progress) -> None:
        self._subject, self._root, self._effort, self._tell = subject, root, effort, tell
        self._budget = budget
        self._began = time.monotonic()
        self._done, self._parts = 0, UNDISTURBED + 4
        self._suspect: tuple[Arrangement, Suspect] | None = None

    def run(self) -> DrillResult:
        """Carry it out."""
        first = self._first()
        if not first.lives or not first.lives[0].updates:
            return self._nothing_seen(first.failure) if first.failure else self._from_outside(first)
        tidy(first)
        pace = pace_of(first.lives[0], first.seconds)
        choice = self._choose(first, pace)
        until = choice.until
        if not choice.chosen:
            return self._no_kill(first.lives[0], choice)
        self._parts = UNDISTURBED + len(choice.chosen) + 1
        told = Instructions(until=until, pattern=self._subject.order.checkpoints)
        undisturbed = [first.lives[0]]
        for number in range(2, UNDISTURBED + 1):
            arm = self._live(_("undisturbed life {number}").format(number=number), f"plain-{number}", told)
            tidy(arm)
            undisturbed += arm.lives[:1]
        reference = make_reference(undisturbed)
        told = replace(told, workers=self._effort.workers)
        results = [self._arm(one, told, reference) for one in choice.chosen]
        control = self._control(choice, told, reference, results)
        result = conclude(
            results,
            control,
            reference,
            updates=until,
            left_out=choice.left_out,
            limits=limits_of(undisturbed),
            seconds=0.0,
        )
        check = self._check(told, reference, pace)
        if check is not None and is_noise(check):
            result = replace(result, verdict=Answer.NOT_PROVEN, why=check.why)
        return replace(
            result, check=check, budget=self._budget, seconds=round(time.monotonic() - self._began, 1)
        )

    def _choose(self, first: Arm, pace: Pace) -> Choice:
        """Choose kills and the last update, by what the first life has shown."""
        life, steps = first.lives[0], self._effort.steps
        cut = self._first_seconds < _SECONDS and life.ended == "until" and pace.each * STEPS <= _SECONDS
        return choose_kills(
            life,
            self._subject.every_steps,
            full=self._effort.full,
            left_seconds=self._left(),
            pace=pace,
            wanted=max(first.last, STEPS) if cut and steps is None else first.last,
            margin=None if steps else _MARGIN,
        )

    def _left(self) -> float | None:
        """Return the seconds that the budget still holds; None: there is no bound."""
        if self._budget.seconds is None:
            return None
        return self._budget.seconds - (time.monotonic() - self._began)

    @property
    def _first_seconds(self) -> float:
        """How long the first life goes on for more updates than it needs."""
        bound = self._budget.seconds
        return _SECONDS if bound is None else min(_SECONDS, bound * _SHARE_OF_FIRST)

    def _first(self) -> Arm:
        steps = self._effort.steps
        told = Instructions(
            until=steps or self._effort.most_steps,
            until_attached=steps or STEPS,
            saves_wanted=0 if steps else _SAVES_WANTED,
            margin=_MARGIN,
            least=STEPS,
            least_seconds=self._first_seconds,
            pattern=self._subject.order.checkpoints,
        )
        return self._live(_("undisturbed life 1"), "plain-1", told)

    def _live(self, what: str, name: str, told: Instructions, leave_out: tuple[str, ...] = ()) -> Arm:
        self._tell.begins(what, self._done + 1, self._parts)
        arm = live_through(
            self._subject,
            name,
            told,
            self._root,
            seconds=self._effort.seconds,
            look=self._looker(None if told.saves_wanted else told.until),
            leave_out=leave_out,
        )
        self._done += 1
        return arm

    def _looker(self, until: int | None) -> Callable[[RunFolder], None]:
        """Return what tells of each new update while a life goes on."""
        seen = 0

        def look(run: RunFolder) -> None:
            nonlocal seen
            if (step := last_step(run)) > seen:
                seen = step
                self._tell.moves(step, until)

        return look

    def _arm(self, one: Arrangement, told: Instructions, reference: Reference) -> ArmResult:
        what = _with_workers(one.what, told.workers)
        arm = self._live(what, one.name, replace(told, kills=one.kills))
        tidy(arm)
        result = judge_arm(one.name, what, arm.lives, reference, told.until, len(one.kills), arm.failure)
        gap = find_gap(arm.lives, reference)
        if self._suspect is None and gap is not None and result.cause is not None:
            at = next(life.resumed_at for life in arm.lives if life.number == gap.life)
            self._suspect = one, Suspect(gap=gap, cause=result.cause, at=at)
        return result

    def _check(self, told: Instructions, reference: Reference, pace: Pace) -> Check | None:
        """Put parts of the state back, one life after the other; the first has the time of the control."""
        if self._suspect is None:
            return None
        one, suspect = self._suspect
        trials: list[Trial] = []
        while not isinstance(kinds := next_trial(suspect, trials), Check):
            left = self._left()
            if trials and left is not None and left < one.lives * pace.life(told.until):
                return cut_short(trials, _("over the budget of time"))
            trials.append(self._trial(one, suspect, kinds, len(trials) + 1, told, reference))
        return kinds

    def _trial(
        self,
        one: Arrangement,
        suspect: Suspect,
        kinds: tuple[str, ...],
        number: int,
        told: Instructions,
        reference: Reference,
    ) -> Trial:
        what = _("{what}, once more").format(what=one.what)
        told = replace(told, kills=one.kills)
        if kinds:
            what = _("{what}, and {kinds} put back by the drill").format(
                what=one.what, kinds=", ".join(kinds)
            )
            told = replace(told, put_back=kinds, put_back_at=suspect.at, put_back_in=suspect.gap.life)
        self._parts = max(self._parts, self._done + 1)
        arm = self._live(what, f"check-{number}", told)
        tidy(arm)
        found = judge_arm(
            f"check-{number}", what, arm.lives, reference, told.until, len(one.kills), arm.failure
        )
        return judge_trial(
            suspect,
            kinds,
            next((life for life in arm.lives if life.number == suspect.gap.life), None),
            same=None if found.answer is Answer.NOT_PROVEN else found.answer is not Answer.DIFFERENT,
            step=found.different_from,
            why=found.cause.why if found.cause else found.why,
        )

    def _control(
        self, choice: Choice, told: Instructions, reference: Reference, results: Sequence[ArmResult]
    ) -> ArmResult | None:
        """Hold state back on purpose: a drill that does not see that has proven nothing."""
        if not choice.chosen or any(result.answer is Answer.DIFFERENT for result in results):
            return None  # it has seen a difference, which is all that this would show
        one = choice.chosen[0]
        result = None
        for kind in _held_back(reference.lives[0]):
            what = _("{what}, and the {kind} not given back on purpose").format(what=one.what, kind=kind)
            if kind == OBJECT:
                name = _names(reference.lives[0])[OBJECT]
                arm = self._live(what, f"control-{kind}", replace(told, kills=one.kills), (name,))
            else:
                arm = self._live(what, f"control-{kind}", replace(told, kills=one.kills, forget=kind))
            tidy(arm)
            result = judge_arm(
                f"control-{kind}", what, arm.lives, reference, told.until, len(one.kills), arm.failure
            )
            if result.answer is Answer.DIFFERENT:
                break
        return result

    def _from_outside(self, first: Arm) -> DrillResult:
        """Drill a job in which no update is seen by what it prints and leaves."""
        drill = OutsideDrill(self._subject, self._root, self._effort.seconds, self._tell)
        result = replace(drill.run(first), seconds=round(time.monotonic() - self._began, 1))
        if self._effort.workers is None:
            return result
        blind = _("its loaders: they had the workers that the job asks for, whatever --workers says")
        return replace(result, limits=(*result.limits, blind))

    def _no_kill(self, life: Life, choice: Choice) -> DrillResult:
        """Return the answer for a job that cannot be resumed: more undisturbed lives would show nothing."""
        return replace(
            conclude(
                [],
                None,
                make_reference([life]),
                updates=choice.until,
                left_out=choice.left_out,
                limits=limits_of([life]),
                seconds=time.monotonic() - self._began,
            ),
            budget=self._budget,
        )

    def _nothing_seen(self, why: str) -> DrillResult:
        nothing = Reference(lives=(), exact=False, fields=frozenset(), noisy=frozenset())
        result = ArmResult(name="plain-1", what=_("undisturbed life 1"), answer=Answer.NOT_PROVEN, why=why)
        return replace(
            conclude(
                [], None, nothing, updates=0, left_out=(), limits=(), seconds=time.monotonic() - self._began
            ),
            why=why,
            arms=(result,),
        )


def _with_workers(what: str, workers: int | None) -> str:
    """Declare what else is other in a resumed life than in an undisturbed one."""
    if workers is None:
        return what
    return _("{what}, resumed with {count} loader workers").format(what=what, count=workers)


def _names(life: Life) -> Mapping[str, str]:
    """Return the name of one object of each kind that was seen."""
    return {str(kind): name for name, (kind, _digest) in reversed(list(life.updates[-1].state.items()))}


def _held_back(life: Life) -> tuple[str, ...]:
    """Return what can be held back, the best first: an optimizer without state shows nothing."""
    seen = _names(life)
    return tuple(kind for kind in (OPTIMIZER, MODEL, OBJECT) if kind in seen)
