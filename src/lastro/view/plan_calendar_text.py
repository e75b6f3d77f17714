"""The calendar of a plan in a terminal: a bar for each stage, lanes grouped, the window's end marked."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len
from rich.text import Text

from lastro.locale import _
from lastro.plan.model import Plan
from lastro.plan.parts import Slot
from lastro.view import plan_figures as figures
from lastro.view import show, ticks, words
from lastro.view.plan_calendar import Axis, axis_of, lanes_of

_LIKELY, _HIGH, _SLACK, _NOTHING, _END, _DECIDE = "█", "▒", "╌", "·", "│", "◆"
#: A name is cut before a bar becomes shorter than this.
_SHORTEST_BAR = 16
_LONGEST_NAME = 22
_COLUMN = 7


def calendar_lines(plan: Plan, width: int) -> Iterator[Text]:
    """Yield the lines of the calendar, none of them wider than `width` columns."""
    axis = axis_of([plan.calendar], plan.window_hours)
    if axis is None:
        if not plan.calendar:
            yield Text(_("Calendar: the duration is unknown; `stages:` in the campaign file would say it."))
        return
    columns = _columns(plan, width)
    room = width - _COLUMN * len(columns) - 1
    longest = max(cell_len(_name(slot, _LONGEST_NAME)) for slot in plan.calendar) + 2
    named = max(8, min(longest, _LONGEST_NAME, room - _SHORTEST_BAR))
    bar = max(4, room - named)
    heads = "".join(head.rjust(_COLUMN) for head in columns)
    yield Text(" " * (named + 1) + _ticks(axis, bar) + heads, style="dim", no_wrap=True)
    for lane in lanes_of(plan.calendar):
        yield Text(words.lane(lane.lane), style="bold")
        for slot in lane.slots:
            line = Text("  " + _name(slot, named - 2).ljust(named - 2) + " ", no_wrap=True)
            line.append_text(_bar(slot, axis, bar))
            line.append("".join(_cells(slot, columns, axis)))
            yield line
    yield from _legend(plan, axis, width)


def _columns(plan: Plan, width: int) -> list[str]:
    """Return the headings that there is room for."""
    columns = [_("from"), _("to")]
    if width >= 60:
        columns.append(_("slack"))
    if width >= 70 and any(slot.one_more_hour is not None for slot in plan.calendar):
        columns.append(_("+1 h"))
    return columns


def _cells(slot: Slot, columns: list[str], axis: Axis) -> Iterator[str]:
    values = [slot.start_hours, slot.end_hours, slot.slack_hours]
    texts = [figures.moment(value, axis.hours) for value in values]
    texts.append(figures.effect(slot) if slot.one_more_hour is not None else "?")
    for text, _head in zip(texts, columns, strict=False):
        yield text.rjust(_COLUMN)


def _name(slot: Slot, limit: int) -> str:
    if slot.decide:
        return f"{show.shortened(slot.name, limit - 2)} {_DECIDE}"
    return show.shortened(slot.name, limit)


def _ticks(axis: Axis, width: int) -> str:
    """Return the axis: round hours where they lie, as many as there is room for."""
    seconds = axis.hours * 3600
    line = [" "] * width
    free = 0
    for moment in ticks.times(seconds, max(2, width // 8)):
        text = ticks.time_label(moment, seconds)
        at = min(int(axis.share(moment / 3600) * width), width - len(text))
        if at >= free:
            line[at : at + len(text)] = text
            free = at + len(text) + 1
    return "".join(line)


def _bar(slot: Slot, axis: Axis, width: int) -> Text:
    """Return one bar. What takes time has at least one full cell, however short it is."""
    start = min(width - 1, int(axis.share(slot.start_hours) * width))
    end = max(start + 1, round(axis.share(slot.end_hours) * width))
    high = max(end, round(axis.share(slot.end_high_hours) * width))
    slack = round(axis.share(slot.end_hours + max(0.0, slot.slack_hours)) * width)
    window = None if axis.window is None else min(width - 1, int(axis.share(axis.window) * width))
    bar = Text(no_wrap=True)
    for cell in range(width):
        if start <= cell < end:
            bar.append(_LIKELY, style="red" if window is not None and cell > window else "cyan")
        elif end <= cell < high:
            bar.append(_HIGH, style="red" if window is not None and cell > window else "cyan dim")
        elif cell == window:
            bar.append(_END, style="yellow")
        else:
            bar.append(_SLACK if end <= cell < slack else _NOTHING, style="dim")
    return bar


def _legend(plan: Plan, axis: Axis, width: int) -> Iterator[Text]:
    parts = [f"{_LIKELY} " + _("likely")]
    if any(slot.end_high_hours > slot.end_hours for slot in plan.calendar):
        parts.append(f"{_HIGH} " + _("when all takes long"))
    if any(slot.slack_hours > 0 for slot in plan.calendar):
        parts.append(f"{_SLACK} " + _("slack"))
    if any(slot.decide for slot in plan.calendar):
        parts.append(f"{_DECIDE} " + _("decision after it"))
    if axis.window is not None:
        parts.append(f"{_END} " + _("the window ends"))
    yield Text(" · ".join(parts), style="dim")
    unit = figures.unit_of(axis.hours)[1]
    told = _("{columns} in {unit}").format(columns=", ".join(_columns(plan, width)[:3]), unit=unit)
    if len(_columns(plan, width)) == 4:
        told += "; " + _("+1 h: by how much one more hour moves the end, in h")
    yield Text(told, style="dim")
    yield from (Text(f"{_DECIDE} {line}") for line in figures.decisions(plan))


def total_line(plan: Plan) -> Text | None:
    """Return how long it takes in all; None: unknown."""
    if plan.total_hours is None:
        return None
    total = plan.total_hours
    text = _("In all {likely} (low {low}, high {high})").format(
        likely=figures.hours(total.likely), low=figures.hours(total.low), high=figures.hours(total.high)
    )
    if plan.slack_hours is not None and plan.slack_hours < 0:
        text += _("; {hours} beyond the window").format(hours=figures.hours(-plan.slack_hours))
    elif plan.slack_hours is not None:
        text += _("; not committed in the window: {slack}").format(slack=figures.hours(plan.slack_hours))
    return Text(text)
