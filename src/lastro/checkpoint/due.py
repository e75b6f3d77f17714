"""When a save is due, as pure functions of the policy and of what has happened."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from lastro.checkpoint.interval import choose_interval
from lastro.locale import _
from lastro.rules import CheckpointPolicy
from lastro.units import show_duration


@dataclass(frozen=True)
class Schedule:
    """When the next save is due: on a grid of steps, after some seconds, or whichever comes first."""

    every_steps: int | None
    seconds: float | None
    why: str


def schedule(policy: CheckpointPolicy, stall: float | None) -> Schedule:
    """Return when saves are due until the next one. `max_loss_seconds` bounds every policy.

    Args:
        policy: steps, seconds, or neither: then the interval follows from what a save costs.
        stall: seconds that the last save stopped the work; None before the first.
    """
    loss = policy.max_loss_seconds
    if policy.every_steps is not None:
        return Schedule(policy.every_steps, loss, _("every {steps} steps").format(steps=policy.every_steps))
    if policy.every_seconds is not None:
        seconds = policy.every_seconds if loss is None else min(policy.every_seconds, loss)
        return Schedule(None, seconds, _("every {seconds:g} s").format(seconds=seconds))
    interval = choose_interval(
        None if stall is None else timedelta(seconds=stall),
        max_loss=None if loss is None else timedelta(seconds=loss),
    )
    why = _("every {every}: {why}").format(every=show_duration(interval.every), why=interval.why)
    return Schedule(None, interval.every.total_seconds(), why)


def is_due(planned: Schedule, last_step: int, step: int, seconds: float) -> bool:
    """Tell whether to save now.

    Steps count on a fixed grid (25, 50, 75, whatever else was saved between), so that two lives of a run
    save at the same places.

    Args:
        planned: from `schedule`.
        last_step: the step of the last save, or of the start.
        step: completed updates now.
        seconds: since the last save, or since the start.
    """
    if step <= last_step:
        return False
    every = planned.every_steps
    if every is not None and step // every > last_step // every:
        return True
    return planned.seconds is not None and seconds >= planned.seconds
