"""Which kills a drill makes, from what an undisturbed life has shown. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from lastro.drill.progress import UNDISTURBED
from lastro.drill.trace import Life
from lastro.locale import _
from lastro.probe.instructions import EPOCH, KILL, NOTICE, SAVE, TERM, UPDATE, VALIDATION, Kill
from lastro.records import dataclass
from lastro.units import show_duration

#: In a drill that has no budget of its own.
USUAL = ("between", "save", "twice")
#: Lives of a control, or of a check of the cause: one of the two there is always.
_LIVES_BESIDE = 2


@dataclass(frozen=True, kw_only=True)
class Arrangement:
    """One way to die. `what`: in words. `lives`: how many it makes, for the estimate of its time."""

    name: str
    what: str
    kills: Mapping[int, Kill]

    @property
    def lives(self) -> int:
        return len(self.kills) + 1


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The arms to run, the last update that is compared, and what was left out with the reason."""

    chosen: tuple[Arrangement, ...]
    until: int
    left_out: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Pace:
    """What a life takes: `start` seconds until it trains, and `each` for one update, noted by the probe."""

    start: float
    each: float

    def life(self, updates: int) -> float:
        """Return the seconds of a life of so many updates."""
        return self.start + self.each * updates


def save_steps(life: Life, every_steps: int) -> tuple[int, ...]:
    """Return the updates after which a life saved: as it was seen, or as lastro's own loop does it."""
    if life.api:
        return tuple(range(every_steps, life.last, every_steps))
    return tuple(update.step - 1 for update in life.updates if update.saves)


def pace_of(life: Life, seconds: float) -> Pace:
    """Return the pace of a life that took so many seconds in all."""
    between = life.updates[-1].mono - life.updates[0].mono if life.updates else 0.0
    each = between / (len(life.updates) - 1) if len(life.updates) > 1 else 0.0
    return Pace(start=max(0.0, seconds - each * len(life.updates)), each=each)


def choose_kills(
    reference: Life,
    every_steps: int,
    *,
    full: bool,
    left_seconds: float | None,
    pace: Pace,
    wanted: int,
    margin: int | None,
) -> Choice:
    """Choose the arms: all that are possible, the usual ones, or as many as the budget allows, one at least.

    Where a budget is short, kills beyond the usual ones go first, then updates, as long as two saves and
    `margin` updates more are seen, and at last usual kills. The undisturbed lives come out of it too, and one
    arm more: a control, or a life that checks the cause.

    Args:
        reference: an undisturbed life.
        every_steps: the updates between two saves of a job that attaches.
        full: everything that is possible.
        left_seconds: for all lives that are still to come; None: the usual ones.
        pace: of an undisturbed life.
        wanted: updates that would be compared without a budget.
        margin: see above; None: the number of updates was asked for, and stays.
    """
    saves = save_steps(reference, every_steps)
    if full or left_seconds is None:
        possible, left_out = _possible(reference, saves)
        usual = [arm for arm in possible if full or arm.name in USUAL] or possible[:1]
        why = _("not among the usual ones; --full does all")
        left_out += [(arm.what, why) for arm in possible if arm not in usual]
        return Choice(chosen=tuple(usual), until=reference.last, left_out=tuple(left_out))
    shorter = [save + margin for save in saves[1:] if save + margin < reference.last] if margin else []
    for until in (reference.last, *sorted(shorter, reverse=True)):
        life = _cut(reference, until)
        possible, left_out = _possible(life, [save for save in saves if save < until])
        for_kills = left_seconds - (UNDISTURBED - 1 + _LIVES_BESIDE) * pace.life(until)
        usual = [arm for arm in possible if arm.name in USUAL]
        if _seconds(usual, pace, until) <= for_kills:
            break
    chosen: list[Arrangement] = []
    for arm in possible:
        if not chosen or _seconds([*chosen, arm], pace, until) <= for_kills:
            chosen.append(arm)
    why = _("over the budget of time; --full does all")
    left_out += [(arm.what, why) for arm in possible if arm not in chosen]
    if until < wanted:
        left_out.append((_("updates {first} to {last}").format(first=until + 1, last=wanted), why))
    if for_kills < _seconds(chosen, pace, until):
        least = (UNDISTURBED - 1 + _LIVES_BESIDE) * pace.life(until) + _seconds(chosen, pace, until)
        why = _("the least that proves something takes {time}, and {left} were left").format(
            time=show_duration(timedelta(seconds=least)),
            left=show_duration(timedelta(seconds=max(0.0, left_seconds))),
        )
        left_out.append((_("keeping the budget"), why))
    return Choice(chosen=tuple(chosen), until=until, left_out=tuple(left_out))


def _seconds(arms: Sequence[Arrangement], pace: Pace, until: int) -> float:
    """Return what arms take at most: each of their lives may begin at the beginning."""
    return sum(arm.lives for arm in arms) * pace.life(until)


def _cut(life: Life, until: int) -> Life:
    """Return a life as if it had ended after an update."""
    return replace(life, updates=tuple(update for update in life.updates if update.step <= until))


def _possible(reference: Life, saves: Sequence[int]) -> tuple[list[Arrangement], list[tuple[str, str]]]:
    """Return the arms that are possible, and those that are not with the reason.

    They resume from different saves: bugs in the order of the data show only in a later epoch.
    """
    usable = [step for step in saves if reference.last - step >= 3]
    if not usable:
        return [], [(_("every kill"), _("no save was seen before the last update"))]
    between = _after(usable[0], usable, reference.last)
    again = _after(usable[len(usable) // 2], usable, reference.last)
    later = [update for update in reference.updates if usable[0] + 1 < update.step < reference.last]
    every = (
        (
            "between",
            _("killed between two saves, after update {step}").format(step=between),
            {1: Kill(KILL, UPDATE, between)},
            None,
        ),
        (
            "save",
            _("killed in a save, after update {step}").format(step=usable[-1]),
            {1: Kill(KILL, SAVE, usable[-1])},
            None if len(usable) > 1 else _("a second save was not seen"),
        ),
        (
            "twice",
            _("killed after update {step}, and again two updates after it was resumed").format(step=again),
            {1: Kill(KILL, UPDATE, again), 2: Kill(KILL, UPDATE, 2)},
            None,
        ),
        (
            "epoch",
            _("killed at the end of an epoch"),
            {1: Kill(KILL, EPOCH, usable[0] + 1)},
            None if any(one.begins for one in later) else _("no epoch ended after the first save"),
        ),
        (
            "term",
            _("asked to leave by SIGTERM, after update {step}").format(step=between),
            {1: Kill(TERM, UPDATE, between)},
            None,
        ),
        (
            "notice",
            _("machine taken away with notice, after update {step}").format(step=between),
            {1: Kill(NOTICE, UPDATE, between)},
            None,
        ),
        (
            "validation",
            _("killed in a validation"),
            {1: Kill(KILL, VALIDATION, usable[0] + 1)},
            None if any(one.evaluations for one in later) else _("none was seen after the first save"),
        ),
    )
    arms = [Arrangement(name=name, what=what, kills=kills) for name, what, kills, why in every if why is None]
    return arms, [(what, why) for _name, what, _kills, why in every if why is not None]


def _after(save: int, saves: Sequence[int], last: int) -> int:
    """Return the update to kill after, between a save and the next one."""
    following = next((step for step in saves if step > save), last)
    return min(save + max(2, (following - save) // 2), last - 1)
