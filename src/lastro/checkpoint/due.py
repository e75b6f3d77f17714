"""When a save is due, as a pure function of the policy and of what has happened."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from lastro.checkpoint.interval import choose_interval
from lastro.locale import _
from lastro.rules import CheckpointPolicy


@dataclass(frozen=True, kw_only=True)
class Saved:
    """Where the work stands since it was last safe.

    step, seconds: since the start of this attempt's work or its last save, whichever is later; stall is
    the length of the last save in seconds, None before the first.
    """

    last_step: int
    step: int
    seconds: float
    stall: float | None


def due(policy: CheckpointPolicy, saved: Saved) -> str | None:
    """Return why a save is due now; None when it is not.

    Steps count on a fixed grid (every 25 means 25, 50, 75, whatever else was saved between), so that two
    lives of a run save at the same places. `max_loss_seconds` bounds every policy.
    """
    if saved.step <= saved.last_step:
        return None
    every = policy.every_steps
    if every is not None and saved.step // every > saved.last_step // every:
        return _("every {every} steps").format(every=every)
    seconds = _seconds(policy, saved.stall)
    if seconds is not None and saved.seconds >= seconds:
        return _("{seconds:.0f} s since the last save").format(seconds=saved.seconds)
    return None


def _seconds(policy: CheckpointPolicy, stall: float | None) -> float | None:
    loss = policy.max_loss_seconds
    if policy.every_seconds is not None:
        return policy.every_seconds if loss is None else min(policy.every_seconds, loss)
    if policy.every_steps is not None:
        return loss
    interval = choose_interval(
        None if stall is None else timedelta(seconds=stall),
        max_loss=None if loss is None else timedelta(seconds=loss),
    )
    return interval.every.total_seconds()
