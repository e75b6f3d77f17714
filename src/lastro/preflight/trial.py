"""Some updates of the user's own job: does it run, learn, save, and go on in a new process as it was? Pure.

The job is started from its seed, killed between two saves, and started again. What both processes have done
is compared, and the losses with those of the machine that was proven.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from lastro.locale import _
from lastro.preflight.budget import Measured, Yielded
from lastro.preflight.check import Finding, Level
from lastro.preflight.lock import Value
from lastro.records import dataclass
from lastro.units import show_bytes

#: Losses of another card or build, and of a job whose own two processes differ, may be this far off; assumed.
TOLERANCE = 0.01
#: A loop that waits longer than this for its input is told, as in a profile; assumed.
WAITS = 0.3
#: So many times what the loader took has to be free in /dev/shm; assumed.
SHARED_TIMES = 2
#: Updates after which losses are locked: early ones show a wrong start, late ones a wrong step.
_KEPT = (1, 2, 4, 8, 12, 16, 32, 60, 100, 200)


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What was seen.

    Args:
        wanted: updates that were to be made.
        losses: by update, of the process that came first to it. A loss is the sum of what was differentiated.
        again: by update, of the second process where both were.
        restored_at: the save that the second process went on from; None: it began anew, no save was seen.
        second: whether there was a second process that made updates.
        seconds: between two updates, the middle one; None: of fewer than two.
        wait_share: of the time, waiting for a batch; None: no loader was seen.
        failure: why the job ended before, in words; None: it did not.
        over: its time was over before.
        run: what was tried: code, configuration, command and corpus have one id.
        computed_on: what has to be the same for the same bits: card or processor, build, threads.
        on_card: it has computed on a GPU, which is paid while it waits.
        shared: bytes of /dev/shm that were free before, and the most that were taken meanwhile; None: there
            is none.
    """

    wanted: int
    losses: Mapping[int, float] = field(default_factory=dict)
    again: Mapping[int, float] = field(default_factory=dict)
    updates: int = 0
    restored_at: int | None = None
    second: bool = False
    seconds: float | None = None
    wait_share: float | None = None
    failure: str | None = None
    over: bool = False
    run: str = ""
    computed_on: str = ""
    on_card: bool = True
    shared: tuple[int, int] | None = None

    @property
    def repeats(self) -> bool:
        """Whether the job's own two processes agree bit for bit, where both were."""
        return bool(self.again) and all(
            _bits(self.losses[step]) == _bits(loss) for step, loss in self.again.items()
        )

    def figures(self) -> dict[str, Value]:
        """Return what is locked of it."""
        kept: dict[str, Value] = {
            f"loss_{step}": loss
            for step, loss in self.losses.items()
            if step in _KEPT and math.isfinite(loss)
        }
        return {"run": self.run, "computed_on": self.computed_on, "repeats": self.repeats, **kept}


def judge(trial: Trial, name: str, locked: Mapping[str, Value] | None) -> Iterator[Yielded]:
    """Return what a trial has shown, and the figures that are locked where it went well.

    Args:
        trial: what was seen.
        name: of the figures in the lock.
        locked: those of the machine that was proven; None: it has none.
    """
    ran = _ran(trial)
    yield ran
    if ran.level is not Level.PASS:
        return
    if trial.losses:
        yield _loss(trial, locked)
    yield _reload(trial)
    if trial.wait_share is not None:
        yield _waiting(trial.wait_share, trial.on_card)
    if trial.shared is not None:
        yield _shared(*trial.shared)
    if trial.losses and trial.updates >= trial.wanted and not trial.over:
        yield Measured(name=name, values=trial.figures())


def _ran(trial: Trial) -> Finding:
    fact = _("trial of the job")
    bad = [step for step, loss in sorted(trial.losses.items()) if not math.isfinite(loss)]
    if trial.failure is not None or bad:
        value = trial.failure or _("the loss of update {step} is {loss}").format(
            step=bad[0], loss=trial.losses[bad[0]]
        )
        return Finding(
            code="trial",
            level=Level.FAIL,
            fact=fact,
            value=value,
            expected=_("{count} updates").format(count=trial.wanted),
            consequence=_("the run would end the same way, after its machine was paid"),
            next_step=_("mend the job: `lastro run --smoke` shows all of it in small"),
        )
    if not trial.updates:
        return Finding(
            code="trial",
            level=Level.NO_ANSWER,
            fact=fact,
            value=_("its time was over before its first update")
            if trial.over
            else _("it ran, and no update of PyTorch was seen in it"),
        )
    pace = "" if trial.seconds is None else _(", {seconds:.3g} s each").format(seconds=trial.seconds)
    short = trial.over or trial.updates < trial.wanted
    told = _("{done} of {count} updates{pace}") if short else _("{done} updates{pace}")
    return Finding(
        code="trial",
        level=Level.PASS,
        fact=fact,
        value=told.format(done=trial.updates, count=trial.wanted, pace=pace),
    )


def _loss(trial: Trial, locked: Mapping[str, Value] | None) -> Finding:
    fact = _("loss from the seed")
    last = max(trial.losses)
    value = _("{loss:.6g} after update {step}").format(loss=trial.losses[last], step=last)

    def told(level: Level, expected: str | None, cost: str | None = None, cure: str | None = None) -> Finding:
        return Finding(
            code="trial_loss",
            level=level,
            fact=fact,
            value=value,
            expected=expected,
            consequence=cost,
            next_step=cure,
        )

    if locked is None:
        return told(Level.PASS, None)
    if locked.get("run") != trial.run:
        return told(Level.NO_ANSWER, _("the lock is of another code or configuration; nothing was compared"))
    pairs = _pairs(trial.losses, locked)
    if not pairs:
        return told(Level.NO_ANSWER, _("the lock has no loss of these updates"))
    same_place = locked.get("computed_on") == trial.computed_on
    if not (trial.repeats and locked.get("repeats")):
        if trial.again and not trial.repeats and _off(_overlap(trial)) > TOLERANCE:
            return told(Level.NO_ANSWER, _("this job's own losses differ from start to start"))
        same_place = False
    wrong = [(step, now, before) for step, now, before in pairs if not _near(now, before, exact=same_place)]
    if not wrong:
        return told(Level.PASS, None)
    step, now, before = wrong[0]
    rule = _("bit for bit") if same_place else _("within {share:.0%}").format(share=TOLERANCE)
    return told(
        Level.FAIL,
        _("{before!r} after update {step}, {rule}; found {now!r}").format(
            before=before, step=step, rule=rule, now=now
        ),
        _("this machine computes something else than the one that was proven"),
        _("compare versions and card with the lock; the same software gives the same bits"),
    )


def _reload(trial: Trial) -> Finding:
    fact = _("saved, and gone on with in a new process")

    def told(level: Level, value: str, cost: str | None = None, cure: str | None = None) -> Finding:
        return Finding(
            code="trial_reload", level=level, fact=fact, value=value, consequence=cost, next_step=cure
        )

    if not trial.second:
        return told(Level.NO_ANSWER, _("no second process made an update in time"))
    if trial.restored_at is None:
        return told(
            Level.NO_ANSWER, _("the job saved nothing in {count} updates").format(count=trial.updates)
        )
    pairs = _overlap(trial)
    where = _("from the save after update {step}").format(step=trial.restored_at)
    if not pairs:
        return told(Level.NO_ANSWER, _("{where}; no update was made twice").format(where=where))
    if trial.repeats:
        return told(Level.PASS, _("{where}, the same bits").format(where=where))
    if _off(pairs) <= TOLERANCE:
        return told(Level.PASS, _("{where}, within {share:.0%}").format(where=where, share=TOLERANCE))
    return told(
        Level.WARN,
        _("{where}, other losses: {off:.2g} of the first ones").format(where=where, off=_off(pairs)),
        _("a run that was interrupted may give another result"),
        _("`lastro drill` shows what is not restored"),
    )


def _waiting(share: float, on_card: bool) -> Finding:
    well = share <= WAITS or not on_card
    return Finding(
        code="trial_waiting",
        level=Level.PASS if well else Level.WARN,
        fact=_("waiting for input"),
        value=_("at least {share:.0%} of the time").format(share=share),
        expected=_("at most {share:.0%}").format(share=WAITS) if on_card else None,
        consequence=None if well else _("the card is paid while it waits"),
        next_step=None if well else _("`lastro preflight --profile -- COMMAND` says what would help"),
    )


def _shared(free: int, taken: int) -> Finding:
    """Compare what loader workers queue there with what there is: a full one ends them by a bus error."""
    well = taken * SHARED_TIMES <= free
    return Finding(
        code="trial_shared_memory",
        level=Level.PASS if well else Level.WARN,
        fact=_("shared memory of the job"),
        value=_("{taken} of {free} that were free").format(taken=show_bytes(taken), free=show_bytes(free)),
        expected=_("twice as much free as it takes"),
        consequence=None
        if well
        else _("with a larger batch, or one more worker, the job ends by a bus error"),
        next_step=None
        if well
        else _("start the container with --shm-size or --ipc=host, or use fewer workers"),
    )


def _overlap(trial: Trial) -> list[tuple[int, float, float]]:
    return [(step, loss, trial.losses[step]) for step, loss in sorted(trial.again.items())]


def _pairs(losses: Mapping[int, float], locked: Mapping[str, Value]) -> list[tuple[int, float, float]]:
    """Return update, loss now and loss before, where both are known."""
    found = []
    for step in _KEPT:
        before = locked.get(f"loss_{step}")
        if step in losses and isinstance(before, (int, float)) and not isinstance(before, bool):
            found.append((step, losses[step], float(before)))
    return found


def _near(now: float, before: float, *, exact: bool) -> bool:
    if exact:
        return _bits(now) == _bits(before)
    return abs(now - before) <= TOLERANCE * max(abs(before), 1e-12)


def _off(pairs: Sequence[tuple[int, float, float]]) -> float:
    """Return the largest relative difference."""
    return max((abs(one - other) / max(abs(other), 1e-12) for _step, one, other in pairs), default=0.0)


def _bits(loss: float) -> str:
    """Return a number in a form in which NaN equals itself."""
    return loss.hex()
