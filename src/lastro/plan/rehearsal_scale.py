"""What a step of a small run stands for, and how often the small run has to save to stand for the plan."""

from __future__ import annotations

from collections.abc import Mapping
from math import floor

from lastro.locale import _
from lastro.plan.rehearsal_shape import Shape
from lastro.records import dataclass

#: Where nobody knows how long a run takes, it saves so often.
SAVES_OF_UNKNOWN = 8
#: Less than this part of a step is rounding of binary fractions.
_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class RunScale:
    """A run in small: `steps` of it stand for `hours` of the plan (None: nobody knows how long that takes).

    `whole_steps`: of the run in earnest; None: unknown.
    """

    run: str
    steps: int
    hours: float | None
    whole_steps: int | None

    @property
    def step_hours(self) -> float | None:
        """Hours of the plan that one step stands for."""
        return None if self.hours is None else self.hours / self.steps


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How a plan is made small. `every`: steps between two saves of the small runs.

    `bound`: hours of work that may be lost; None: it cannot be told (of runs that `save`), or nothing bounds
    it, and `bound_why` says why. `unseen`: runs of which no step was seen: nothing can be played at a step of
    theirs. `notes`: what a reader should know.
    """

    runs: Mapping[str, RunScale]
    every: int
    bound: float | None
    bound_why: str
    unseen: tuple[str, ...]
    notes: tuple[str, ...]
    saves: bool = True


def scale_of(shape: Shape, steps: Mapping[str, int | None], *, shortened: bool) -> Scale:
    """Return the scale of a rehearsal.

    Args:
        shape: the plan.
        steps: how many each run had in small, undisturbed; None or 0: none was seen.
        shortened: the small runs have other values than the real ones (key `smoke`), so fewer steps perhaps.
    """
    runs = {}
    for one in shape.runs:
        seen = steps.get(one.run)
        if seen:
            whole = one.steps if shortened else one.steps or seen
            runs[one.run] = RunScale(run=one.run, steps=seen, hours=one.hours, whole_steps=whole)
    unseen = tuple(one.run for one in shape.runs if one.run in steps and one.run not in runs)
    grids = {name: _grid(shape, one) for name, one in runs.items()}
    known = {name: grid for name, grid in grids.items() if grid is not None}
    notes = []
    if not shape.saving.saves:
        every = 1
    elif known:
        every = max(1, floor(min(known.values()) + _ROUNDING))
        if max(known.values()) > 2 * max(1.0, min(known.values())):
            notes.append(_("all runs save as often as the one that has to most often"))
    elif shape.saving.steps is not None:
        every = shape.saving.steps
        notes.append(
            _("how many steps the real run has is not known (`steps` of its stage): saves as in the file")
        )
    else:
        every = max(1, max((one.steps for one in runs.values()), default=1) // SAVES_OF_UNKNOWN)
        notes.append(
            _("nobody knows how long the runs take: {count} saves each").format(count=SAVES_OF_UNKNOWN)
        )
    bound, why = _bound(shape, runs, known)
    return Scale(
        runs=runs,
        every=every,
        bound=bound,
        bound_why=why,
        unseen=unseen,
        notes=tuple(notes),
        saves=shape.saving.saves,
    )


def _grid(shape: Shape, one: RunScale) -> float | None:
    """Return the steps between two saves by which a run saves as often in small; None: nobody knows."""
    saving, found = shape.saving, []
    if saving.steps is not None and one.whole_steps:
        found.append(saving.steps * one.steps / one.whole_steps)
    if saving.every is not None and one.step_hours:
        found.append(saving.every / one.step_hours)
    return min(found, default=None)


def _bound(
    shape: Shape, runs: Mapping[str, RunScale], grids: Mapping[str, float]
) -> tuple[float | None, str]:
    """Return what may be lost at most, in hours, and why; None when a rehearsal cannot tell."""
    bound = shape.saving.bound
    if not shape.saving.saves:
        return bound, shape.saving.why
    steps = [hours for one in runs.values() if (hours := one.step_hours)]
    if bound is None:
        found = [grid * hours for name, grid in grids.items() if (hours := runs[name].step_hours)]
        if not found:
            return None, _("nobody knows how long a step of the real run takes")
        bound = max(found) + shape.pauses.save
        why = _("one interval between saves, and a save")
    else:
        why = shape.saving.why
    if not steps:
        return None, _("nobody knows how long the runs take")
    if max(steps) > bound:
        return None, _("a step of the small run stands for more than that")
    return bound, why
