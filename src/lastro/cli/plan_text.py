"""A plan in a terminal of 80 columns: runs, calendar, cost lines, remarks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from lastro.locale import _
from lastro.plan.model import Option, Plan, Remark, Slot
from lastro.units import Money, show_duration
from lastro.view import words

_BAR = 24
_TONE = {"fail": "bold red", "warn": "yellow", "note": "dim"}


def plan_text(plan: Plan, drills: Sequence[Mapping[str, Any]], *, frozen: bool) -> RenderableType:
    """Return what `lastro plan` shows."""
    parts: list[RenderableType] = [_head(plan), _runs(plan), *_calendar(plan), *_options(plan)]
    parts += [*_remarks(plan.remarks), _drilled(drills)]
    digest = plan.digest()[:16]
    parts.append(
        Text(
            _("Frozen as {digest}.").format(digest=digest)
            if frozen
            else _("Not frozen; nothing was rented or written. `lastro plan --freeze` keeps it.")
        )
    )
    return Group(*parts)


def _drilled(drills: Sequence[Mapping[str, Any]]) -> RenderableType:
    """Say what is known of how this code resumes: what cannot be resumed is lost with its machine."""
    if not drills:
        return Text(
            _("No drill of this code is known: `lastro drill` proves that a lost machine costs minutes."),
            style="dim",
        )
    last = drills[-1]
    return Text(
        _("Drill of {run}: {answer}, {why}").format(
            run=last["run"], answer=words.drill(str(last["verdict"])), why=last["why"]
        ),
        style="" if last["verdict"] in ("exact", "within_noise") else "yellow",
    )


def _hours(hours: float) -> str:
    return show_duration(timedelta(hours=hours))


def _head(plan: Plan) -> RenderableType:
    text = Text(plan.campaign, style="bold")
    if plan.question:
        text.append(f"  {plan.question}", style="default")
    lines = [text]
    limits = [
        _("window {window}").format(window=_hours(plan.window_hours))
        if plan.window_hours
        else _("no window"),
        _("budget {budget}").format(budget=plan.budget) if plan.budget else _("no budget"),
        _("on {provider}, {count} at once").format(provider=plan.provider, count=plan.machines),
    ]
    lines.append(Text(" · ".join(limits)))
    return Group(*lines)


def _table(*columns: tuple[str, bool]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, expand=False)
    for name, right in columns:
        table.add_column(name, justify="right" if right else "left", overflow="fold")
    return table


def _runs(plan: Plan) -> RenderableType:
    table = _table((_("run"), False), (_("priority"), False), (_("changes"), False), (_("id"), False))
    for run in plan.runs:
        changes = ", ".join(f"{key}: {run.config[key]}" for key in run.changes)
        table.add_row(run.name, run.priority, changes or "–", run.id)
    return table


# --- calendar -----------------------------------------------------------------------------------------


def _calendar(plan: Plan) -> Iterator[RenderableType]:
    if plan.total_hours is None and not plan.calendar:
        yield Text(_("Calendar: the duration is unknown; `stages:` in the campaign file would say it."))
        return
    end = max((slot.end_hours for slot in plan.calendar), default=0.0)
    table = _table((_("stage"), False), (_("lane"), False), ("", False), (_("from"), True), (_("to"), True))
    for slot in plan.calendar:
        name = f"{slot.stage} {slot.run}" if slot.run else slot.stage
        if slot.decide:
            name += " ?"
        table.add_row(
            name, slot.lane or "–", _bar(slot, end), _hours(slot.start_hours), _hours(slot.end_hours)
        )
    yield table
    if plan.total_hours is not None:
        total = plan.total_hours
        text = _("In all {likely} (low {low}, high {high})").format(
            likely=_hours(total.likely), low=_hours(total.low), high=_hours(total.high)
        )
        if plan.slack_hours is not None:
            text += _("; not committed in the window: {slack}").format(slack=_hours(plan.slack_hours))
        yield Text(text)


def _bar(slot: Slot, end: float) -> Text:
    if end <= 0:
        return Text("·" * _BAR, no_wrap=True)
    first = min(_BAR - 1, int(slot.start_hours / end * _BAR))
    width = max(1, round((slot.end_hours - slot.start_hours) / end * _BAR))
    bar = ("·" * first + "█" * width)[:_BAR]
    return Text(bar.ljust(_BAR, "·"), no_wrap=True)


# --- cost ---------------------------------------------------------------------------------------------


def _options(plan: Plan) -> Iterator[RenderableType]:
    if not plan.options:
        yield Text(_("Cost: unknown, {why}.").format(why=plan.lease_why))
        return
    table = _table(
        (_("offer"), False), (_("kind"), False), (_("cost"), True), (_("low to high"), True), ("", False)
    )
    for option in plan.options:
        chosen = plan.lease is not None and plan.lease.offer == option.offer
        kind = f"{option.lots} × {option.kind}" if option.lots else option.kind
        table.add_row(
            option.offer,
            kind,
            str(option.cost) if option.cost else _("unknown"),
            _range(option.cost_low, option.cost_high),
            _("← taken") if chosen else _note(option),
            style="bold" if chosen else "default" if option.eligible else "dim",
        )
    yield table
    yield Text(_("Taken: {why}.").format(why=plan.lease_why) if plan.lease else plan.lease_why)


def _range(low: Money | None, high: Money | None) -> str:
    if low is None or high is None:
        return "–"
    return str(low) if low == high else f"{low} – {high}"


def _note(option: Option) -> str:
    if option.reason:
        return option.reason
    if option.fits_window is False:
        return _("window too short")
    return _("over the budget") if option.fits_budget is False else ""


def _remarks(remarks: Sequence[Remark]) -> Iterator[RenderableType]:
    words = {"fail": _("impossible"), "warn": _("careful"), "note": _("note")}
    lines = [Text.assemble((words[one.level], _TONE[one.level]), ": ", one.text) for one in remarks]
    if lines:
        yield Padding(Group(*lines), (1, 0))
