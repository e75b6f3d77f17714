"""Checks the cause that the rules name: is all well when just that is put into a resumed life? Pure.

The rules see which state differs after a resume. That this is also what makes the difference is shown by
lives into which the drill itself puts parts of the state of the life before, one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from lastro.drill.cause import Cause, drew_batches
from lastro.drill.compare import Gap
from lastro.drill.trace import Life
from lastro.locale import _
from lastro.probe.exchange import PUT_BACK
from lastro.probe.objects import RANDOM
from lastro.records import dataclass


class Agreement(str, Enum):
    """Whether lives with state put back say what the rules say."""

    AGREES = "agrees"
    DISAGREES = "disagrees"
    NOT_TRIED = "not_tried"


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One life into which these kinds of state were put; none: the same was done once more.

    `same`: it was as it should be; None: it shows nothing, and `why` says so. `step`: the first update that
    differs, `why` what is named as the cause there.
    """

    put_back: tuple[str, ...]
    same: bool | None
    step: int | None = None
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class Check:
    """What all trials say of the cause."""

    answer: Agreement
    why: str
    trials: tuple[Trial, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Suspect:
    """A difference, and the cause that is named. `at`: the update that the differing life went on after."""

    gap: Gap
    cause: Cause
    at: int

    @property
    def mine(self) -> tuple[str, ...]:
        """The cause itself, when it can be put back: random numbers of a batch are drawn before that."""
        drawn = self.cause.kind == RANDOM and drew_batches(self.gap)
        return (self.cause.kind,) if self.cause.kind in PUT_BACK and not drawn else ()

    @property
    def others(self) -> tuple[str, ...]:
        """Other state that differed as well."""
        return tuple(kind for kind in self.cause.also if kind in PUT_BACK and kind != self.cause.kind)


def next_trial(suspect: Suspect, trials: Sequence[Trial]) -> tuple[str, ...] | Check:
    """Return what is to be put back next, or what the trials say.

    The cause alone first. When that is not enough: with everything else that differed, and then everything
    else without it. A cause that cannot be put back is right when all else, put back, makes no difference.
    Where there is nothing to put back, the same is done once more: noise differs elsewhere, or not at all.
    """

    def check(answer: Agreement, why: str) -> Check:
        return Check(answer=answer, why=why, trials=tuple(trials))

    mine, others = suspect.mine, suspect.others
    wanted = [mine, (*mine, *others), others] if mine and others else [mine or others]
    if not trials:
        return wanted[0]
    last = trials[-1]
    if last.same is None:
        return check(Agreement.NOT_TRIED, last.why)
    if not wanted[0]:
        return check(*_once_more(last))
    if not mine:
        return check(*_by_all_else(last))
    if len(trials) == 1:
        if last.same:
            return check(
                Agreement.AGREES,
                _("with the {kind} put back and nothing else, nothing differs").format(kind=mine[0]),
            )
        return wanted[1] if others else check(*_not_enough(suspect, last))
    if len(trials) == 2:
        return wanted[2] if last.same else check(*_not_enough(suspect, last))
    if last.same:
        text = _("the {kind} makes no difference: without it, and with {others} put back, nothing differs")
        return check(Agreement.DISAGREES, text.format(kind=mine[0], others=_list(others)))
    text = _("it takes the {kind}, and {others} too: with these put back nothing differs")
    return check(Agreement.AGREES, text.format(kind=mine[0], others=_list(others)))


def judge_trial(
    suspect: Suspect,
    kinds: tuple[str, ...],
    life: Life | None,
    *,
    same: bool | None,
    step: int | None,
    why: str,
) -> Trial:
    """Judge one life with state put back.

    Args:
        suspect: what is checked.
        kinds: that were to be put back.
        life: into which; None: it was not seen.
        same: as the arm was judged; None: it shows nothing.
        step: from which on it differs.
        why: the cause that is named there, or why it shows nothing.
    """
    if life is not None and life.resumed_at != suspect.at:
        why = _("this time it went on after update {here}, not {there}").format(
            here=life.resumed_at, there=suspect.at
        )
        return Trial(put_back=kinds, same=None, why=why)
    if life is None or (kinds and (not life.put_back or life.not_put_back)):
        told = "; ".join(life.not_put_back) if life is not None else ""
        return Trial(put_back=kinds, same=None, why=told or _("nothing could be put back"))
    return Trial(put_back=kinds, same=same, step=step, why=why)


def cut_short(trials: Sequence[Trial], why: str) -> Check:
    """Return the answer of trials that were not carried to their end. `why`: they were not."""
    alone = trials[-1]
    text = _("not enough by itself: it differs from update {step} on ({cause}); no further life: {why}")
    return Check(
        answer=Agreement.NOT_TRIED,
        why=text.format(step=alone.step, cause=alone.why, why=why),
        trials=tuple(trials),
    )


def is_noise(check: Check) -> bool:
    """Say whether the difference was gone when the same was done once more."""
    return check.answer is Agreement.DISAGREES and check.trials[-1].put_back == ()


def _once_more(last: Trial) -> tuple[Agreement, str]:
    """Judge a life that was killed in the same way, with nothing put back."""
    if last.same:
        text = _("it differed once, and not when the same was done again: noise that undisturbed lives hid")
        return Agreement.DISAGREES, text
    text = _("it cannot be put back from outside; done once more it differs again, from update {step} on")
    return Agreement.NOT_TRIED, text.format(step=last.step)


def _by_all_else(last: Trial) -> tuple[Agreement, str]:
    """Judge a cause that cannot be put back, by a life with all else put back."""
    put = _list(last.put_back)
    if last.same:
        return Agreement.DISAGREES, _("with {others} put back nothing differs").format(others=put)
    text = _("with {others} put back it differs all the same, from update {step} on")
    return Agreement.AGREES, text.format(others=put, step=last.step)


def _not_enough(suspect: Suspect, last: Trial) -> tuple[Agreement, str]:
    """Judge a life that still differs with everything put back that can be."""
    put = _list(last.put_back)
    if last.step is not None and last.step > max(suspect.gap.step, suspect.at + 1):
        text = _("with {put} put back it differs later, from update {step} on: {why}")
        return Agreement.AGREES, text.format(put=put, step=last.step, why=last.why)
    text = _("with {put} put back it still differs, from update {step} on: {why}")
    return Agreement.DISAGREES, text.format(put=put, step=last.step, why=last.why)


def _list(kinds: Sequence[str]) -> str:
    return ", ".join(kinds)
