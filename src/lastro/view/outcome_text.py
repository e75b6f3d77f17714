"""Forecast and actual as lines of text."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from lastro.locale import _
from lastro.units import show_duration
from lastro.view.moves import move_text
from lastro.view.outcome_parts import Outcome, StageRow


def outcome_lines(outcome: Outcome) -> Iterator[str]:
    """Yield what `lastro explain` prints."""
    for row in outcome.stages:
        yield _stage(row)
        for one in row.explanations:
            yield f"    {one.text}"
    for wait in outcome.waits:
        yield _("waited {time} ({kind}): {why}").format(
            time=_hours(wait.seconds / 3600 if wait.seconds is not None else None),
            kind=wait.kind,
            why=wait.why,
        )
    for move in outcome.moves:
        yield _("offer: {move}").format(move=move_text(move))
    if outcome.slack is not None:
        yield _("slack: {slack} planned, {used} used, {left} left of the window").format(
            slack=_hours(outcome.slack), used=_hours(outcome.slack_used), left=_hours(outcome.slack_left)
        )
    cost = outcome.cost
    yield _("cost: {likely} planned, {observed} spent").format(
        likely=cost.likely if cost.likely is not None else _("unknown"),
        observed=cost.observed if cost.observed is not None else _("unknown"),
    )
    for number, doubt in enumerate(outcome.doubts, 1):
        state = _("settled: {why}").format(why=doubt.settled) if doubt.settled is not None else _("open")
        yield _("doubt {number}: {text} [{state}]").format(number=number, text=doubt.text, state=state)


def _stage(row: StageRow) -> str:
    planned = f"{_hours(row.low)} / {_hours(row.likely)} / {_hours(row.high)}"
    text = _("{stage}: {planned} reserved, {observed} observed").format(
        stage=row.name, planned=planned, observed=_hours(row.observed)
    )
    return _("{stage}: outside of what was reserved").format(stage=text) if row.outside else text


def _hours(hours: float | None) -> str:
    return _("unknown") if hours is None else show_duration(timedelta(hours=hours))
