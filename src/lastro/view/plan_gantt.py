"""The calendar of a plan as pictures: bars in percent of the width, so that they fit any page.

The names stand beside the bars in HTML, where they wrap and shrink; here are only the drawings. A calendar
is drawn in full, a row for each stage, or small, a row for each lane, to be compared with others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from lastro.locale import _, forms
from lastro.plan.parts import Slot
from lastro.records import dataclass
from lastro.view import plan_figures as figures
from lastro.view import ticks, words
from lastro.view.plan_calendar import Axis, Lease, lanes_of
from lastro.view.svg import run_class

_ROW, _SMALL = 26.0, 18.0


@dataclass(frozen=True, kw_only=True)
class Tick:
    """A moment on the axis: where, in percent, and its name. `minor`: left out where it is narrow."""

    at: float
    label: str
    minor: bool


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row: a lane's heading (without a drawing), a stage, or in a small picture a whole lane."""

    label: str
    svg: str
    slot: Slot | None = None


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A calendar, ready for the page. `described`: the same in words, for who does not see it."""

    ticks: tuple[Tick, ...]
    behind: str
    rows: tuple[Row, ...]
    described: str


def picture(
    slots: Sequence[Slot], axis: Axis, colours: Mapping[str, int], leases: Sequence[Lease]
) -> Picture:
    """Return a calendar in full: each lane with its stages below it."""
    rows: list[Row] = []
    for lane in lanes_of(slots):
        held = [lease for lease in leases if lease.lane == lane.lane]
        rows.append(
            Row(label=words.lane(lane.lane), svg=_drawing([_held(one, axis, 18) for one in held], 22))
        )
        for slot in lane.slots:
            drawn = _drawing(_bar(slot, axis, colours, _ROW, 14), _ROW)
            rows.append(Row(label=slot.name, svg=drawn, slot=slot))
    return Picture(ticks=_ticks(axis), behind=_behind(axis), rows=tuple(rows), described=describe(slots))


def small_picture(
    slots: Sequence[Slot], axis: Axis, colours: Mapping[str, int], leases: Sequence[Lease]
) -> Picture:
    """Return a calendar of one row a lane, to stand beside others on the same axis."""
    rows = []
    for lane in lanes_of(slots):
        parts = [_held(one, axis, _SMALL) for one in leases if one.lane == lane.lane]
        for slot in lane.slots:
            parts += _bar(slot, axis, colours, _SMALL, 9, detailed=False)
        last = max(lane.slots, key=lambda slot: slot.end_hours)
        parts.insert(0, _tail(last, axis, _SMALL, 9))
        rows.append(Row(label=words.lane(lane.lane), svg=_drawing(parts, _SMALL)))
    return Picture(ticks=_ticks(axis), behind=_behind(axis), rows=tuple(rows), described=describe(slots))


def describe(slots: Sequence[Slot]) -> str:
    """Return a calendar in words."""
    return "; ".join(slot_text(slot) for lane in lanes_of(slots) for slot in lane.slots)


def slot_text(slot: Slot) -> str:
    """Return one stage in words: when, on what, how sure, with how much slack."""
    text = _("{name} on {lane}: from {start} to {end} h").format(
        name=slot.name,
        lane=words.lane(slot.lane),
        start=forms.decimal(f"{slot.start_hours:.4g}"),
        end=forms.decimal(f"{slot.end_hours:.4g}"),
    )
    if slot.end_low_hours != slot.end_high_hours:
        text += ", " + _("its end from {low} to {high} h").format(
            low=forms.decimal(f"{slot.end_low_hours:.4g}"), high=forms.decimal(f"{slot.end_high_hours:.4g}")
        )
    text += ", " + _("{slack} of slack").format(slack=figures.short_hours(slot.slack_hours))
    return text + (", " + _("then a decision") if slot.decide else "")


# --- drawing ------------------------------------------------------------------------------------------


def _percent(share: float) -> str:
    return f"{100 * share:.3f}%"


def _drawing(parts: Sequence[str], height: float) -> str:
    return f'<svg class="bars" width="100%" height="{height:g}" aria-hidden="true">{"".join(parts)}</svg>'


def _rect(kind: str, axis: Axis, start: float, end: float, y: float, height: float, text: str = "") -> str:
    title = f"<title>{escape(text)}</title>" if text else ""
    width = axis.share(end) - axis.share(start)
    return (
        f'<rect class="{kind}" x="{_percent(axis.share(start))}" y="{y:g}" width="{_percent(width)}"'
        f' height="{height:g}" rx="2.5">{title}</rect>'
    )


def _bar(
    slot: Slot, axis: Axis, colours: Mapping[str, int], row: float, height: float, *, detailed: bool = True
) -> list[str]:
    y = (row - height) / 2
    colour = run_class(colours[slot.run]).split()[0] if slot.run else "other"
    parts = []
    if detailed:
        free = slot.end_hours + max(0.0, slot.slack_hours)
        if free > slot.end_hours:
            parts.append(_line("free", axis, slot.end_hours, free, row / 2))
        parts.append(_tail(slot, axis, row, height, colour))
    parts.append(
        _rect(f"likely {colour}", axis, slot.start_hours, slot.end_hours, y, height, slot_text(slot))
    )
    if detailed and slot.end_low_hours < slot.end_hours and slot.end_low_hours > slot.start_hours:
        parts.append(_mark("low", axis, slot.end_low_hours, f"M0 {y + 2.5:g}v{height - 5:g}"))
    if slot.decide:
        size = 6.5 if detailed else 5
        text = _("decision after {name}").format(name=slot.name)
        path = f"M0 {row / 2 - size:g}l{size:g} {size:g}l-{size:g} {size:g}l-{size:g}-{size:g}z"
        parts.append(_mark("decide", axis, slot.end_hours, path, text))
    return parts


def _tail(slot: Slot, axis: Axis, row: float, height: float, colour: str = "other") -> str:
    """Return what follows a bar when all durations are high; nothing when they are sure."""
    if slot.end_high_hours <= slot.end_hours:
        return ""
    y = (row - height) / 2 + 2.5
    return _rect(f"tail {colour}", axis, slot.end_hours, slot.end_high_hours, y, height - 5)


def _held(lease: Lease, axis: Axis, row: float) -> str:
    """Return the outline of a lot; one that is paid beyond the axis is left open, with an arrow."""
    text = _("the lot is paid from {start} to {end}").format(
        start=figures.short_hours(lease.start), end=figures.short_hours(lease.end)
    )
    if lease.end <= axis.hours:
        return _rect("held", axis, lease.start, lease.end, 1, row - 2, text)
    parts = [_rect("held open", axis, lease.start, axis.hours, 1, row - 2, text)]
    parts += [_line("edge", axis, lease.start, axis.hours, y) for y in (1, row - 1)]
    x = _percent(axis.share(lease.start))
    parts.append(f'<line class="edge" x1="{x}" x2="{x}" y1="1" y2="{row - 1:g}"/>')
    parts.append(_mark("on", axis, axis.hours, f"M2 {row / 2 - 4:g}l5 4-5 4z", text))
    return "".join(parts)


def _line(kind: str, axis: Axis, start: float, end: float, y: float) -> str:
    x1, x2 = _percent(axis.share(start)), _percent(axis.share(end))
    return f'<line class="{kind}" x1="{x1}" x2="{x2}" y1="{y:g}" y2="{y:g}"/>'


def _mark(kind: str, axis: Axis, at: float, path: str, text: str = "") -> str:
    title = f"<title>{escape(text)}</title>" if text else ""
    return (
        f'<svg x="{_percent(axis.share(at))}" overflow="visible" width="1" height="1">{title}'
        f'<path class="{kind}" d="{path}"/></svg>'
    )


def _behind(axis: Axis) -> str:
    """Return what lies behind all rows: the grid, and the window's end with what is beyond it."""
    parts = [
        f'<line class="grid" x1="{tick.at:.3f}%" x2="{tick.at:.3f}%" y1="0" y2="100%"/>'
        for tick in _ticks(axis)
    ]
    if axis.window is not None:
        x = _percent(axis.share(axis.window))
        if axis.window < axis.hours:
            wide = _percent(1 - axis.share(axis.window))
            parts.append(f'<rect class="beyond" x="{x}" y="0" width="{wide}" height="100%"/>')
        parts.append(f'<line class="window" x1="{x}" x2="{x}" y1="0" y2="100%"/>')
    return f'<svg class="behind" width="100%" height="100%" aria-hidden="true">{"".join(parts)}</svg>'


def _ticks(axis: Axis) -> tuple[Tick, ...]:
    seconds = axis.hours * 3600
    return tuple(
        Tick(
            at=100 * axis.share(moment / 3600),
            label=ticks.time_label(moment, seconds),
            minor=bool(number % 2),
        )
        for number, moment in enumerate(ticks.times(seconds))
    )
