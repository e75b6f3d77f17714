"""When a save is due, as pure functions of the policy and of what has happened."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from lastro.checkpoint.interval import SaveCost, choose_interval, wasted_share
from lastro.locale import _
from lastro.records import dataclass
from lastro.rules import CheckpointPolicy
from lastro.units import Money, show_duration


@dataclass(frozen=True)
class Schedule:
    """When the next save is due: on a grid of steps, after some seconds, or whichever comes first."""

    every_steps: int | None
    seconds: float | None
    why: str


def schedule(policy: CheckpointPolicy, cost: SaveCost | None, an_hour: Money | None = None) -> Schedule:
    """Return when saves are due until the next one. `max_loss_seconds` bounds every policy.

    Args:
        policy: steps, seconds, or neither: then the interval follows from what a save costs.
        cost: of the last save; None before the first.
        an_hour: the price of an hour of this machine; None where it is not known.
    """
    loss = _bound(policy.max_loss_seconds, cost)
    if policy.every_steps is not None:
        return Schedule(policy.every_steps, loss, _("every {steps} steps").format(steps=policy.every_steps))
    if policy.every_seconds is not None:
        seconds = policy.every_seconds if loss is None else min(policy.every_seconds, loss)
        return Schedule(None, seconds, _("every {seconds:g} s").format(seconds=seconds))
    between = _seconds(policy.interruption_seconds)
    interval = choose_interval(
        cost, between_interruptions=between, max_loss=_seconds(policy.max_loss_seconds)
    )
    why = _("every {every}: {why}").format(every=show_duration(interval.every), why=interval.why)
    if cost is not None and an_hour is not None:
        wasted = an_hour.times(Decimal(str(round(wasted_share(cost, interval.every, between), 6))))
        why = _("{why}; saves and interruptions waste about {money} an hour").format(why=why, money=wasted)
    return Schedule(None, interval.every.total_seconds(), why)


def _bound(loss: float | None, cost: SaveCost | None) -> float | None:
    """Return the time between saves that keeps the loss: what is in flight can be lost too."""
    if loss is None or cost is None:
        return loss
    durable = cost.durable.total_seconds()
    return max(loss - durable, durable)


def _seconds(count: float | None) -> timedelta | None:
    return None if count is None else timedelta(seconds=count)


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
