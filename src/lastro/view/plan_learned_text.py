"""What a plan has learned from runs that were measured, a line for each run."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from lastro.locale import _
from lastro.plan.learned import Learned
from lastro.plan.model import Plan
from lastro.units import show_duration


def learned_lines(plan: Plan) -> Iterator[str]:
    """Give a line for each estimate: hours, where they come from, what the file declares."""
    for one in plan.estimates:
        yield _("{run} on {card}: {low} to {high}, likely {likely}; {origin}").format(
            run=one.run,
            card=one.gpu or _("no known card"),
            low=_hours(one.hours.low),
            high=_hours(one.hours.high),
            likely=_hours(one.hours.likely),
            origin=_origin(one),
        )


def _origin(one: Learned) -> str:
    """Return where the hours come from; when they are not plain, also how they were found."""
    return one.origin if one.declared is None else f"{one.origin}; {one.why}"


def _hours(hours: float) -> str:
    return show_duration(timedelta(hours=hours))
