"""How long a whole run takes, by what a part of it has taken. Pure."""

from __future__ import annotations

from lastro.journal.views import AttemptView, RunView
from lastro.locale import _
from lastro.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Pace:
    """Hours of a whole run, and how they were found. `hours` None: they cannot be told, and `why` says so."""

    hours: float | None
    why: str


def worked_hours(run: RunView) -> float:
    """Return for how long a run has worked, over all its attempts; see `journal.work`."""
    return sum(life.worked_seconds or 0.0 for life in run.attempts) / 3600


def pace_of(run: RunView, steps: int | None) -> Pace:
    """Return how long a run takes in all.

    A completed run was measured. Of a part, items tell by the share of them that is done. Steps tell by their
    pace, without what each attempt took to its first step, which is added once: a set-up of ten minutes does
    not make every step slower. What an interruption made to be done again is in the first, not in the second.

    Args:
        run: with at least one attempt that has ended.
        steps: how many the whole run has; None: nobody has said so.
    """
    worked = worked_hours(run)
    if run.status == "completed":
        return Pace(hours=worked, why=_("measured to its end"))
    last = run.attempts[-1] if run.attempts else None
    if last is None:
        return Pace(hours=None, why=_("it has not begun"))
    if last.items_done is not None:
        if not last.items_done or last.items_total is None:
            return Pace(hours=None, why=_("how many items there are, or one that is done, is not known"))
        why = _("{done} of {total} items").format(done=last.items_done, total=last.items_total)
        return Pace(hours=worked * max(last.items_total, last.items_done) / last.items_done, why=why)
    if steps is None:
        return Pace(hours=None, why=_("`steps` of its stage would say how many it has in all"))
    timed = [piece for life in run.attempts if (piece := _timed(life)) is not None]
    done = sum(count for count, _seconds, _start in timed)
    if not done:
        return Pace(hours=None, why=_("too few steps were done to tell their pace"))
    each = sum(seconds for _count, seconds, _start in timed) / done
    hours = (timed[0][2] + each * (steps - 1)) / 3600
    return Pace(hours=hours, why=_("{done} steps of {total}").format(done=done + len(timed), total=steps))


def _timed(life: AttemptView) -> tuple[int, float, float] | None:
    """Return of one attempt: steps after its first, the seconds that they took, the seconds to the first."""
    if life.first_step_seconds is None or life.last_step is None or life.worked_seconds is None:
        return None
    count = life.last_step - (life.resumed_step or 0) - 1
    return (count, max(0.0, life.worked_seconds - life.first_step_seconds), life.first_step_seconds)
