"""Which kills a drill makes, from what an undisturbed life has shown. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lastro.drill.trace import Life
from lastro.locale import _
from lastro.probe.instructions import EPOCH, KILL, NOTICE, SAVE, TERM, UPDATE, VALIDATION, Kill

#: In a drill that has no budget of its own.
USUAL = ("between", "save", "twice")


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
    """The arms to run, and what was left out with the reason."""

    chosen: tuple[Arrangement, ...]
    left_out: tuple[tuple[str, str], ...]


def save_steps(life: Life, every_steps: int) -> tuple[int, ...]:
    """Return the updates after which a life saved: as it was seen, or as lastro's own loop does it."""
    if life.api:
        return tuple(range(every_steps, life.last, every_steps))
    return tuple(update.step - 1 for update in life.updates if update.saves)


def choose_kills(
    reference: Life, every_steps: int, *, full: bool, budget_seconds: float | None, life_seconds: float
) -> Choice:
    """Choose the arms: all that are possible, the usual ones, or as many as the budget allows, one at least.

    Args:
        reference: an undisturbed life.
        every_steps: the updates between two saves of a job that attaches.
        full: everything that is possible.
        budget_seconds: for all arms together; None: the usual ones.
        life_seconds: what an undisturbed life took.
    """
    possible, left_out = _possible(reference, save_steps(reference, every_steps))
    chosen: list[Arrangement] = []
    spent = 0.0
    for arm in possible:
        cost = life_seconds * arm.lives
        if full or not chosen:
            pass
        elif budget_seconds is None and arm.name not in USUAL:
            left_out.append((arm.what, _("not among the usual ones; --full does all")))
            continue
        elif budget_seconds is not None and spent + cost > budget_seconds:
            left_out.append((arm.what, _("over the budget of time; --full does all")))
            continue
        chosen.append(arm)
        spent += cost
    return Choice(chosen=tuple(chosen), left_out=tuple(left_out))


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
