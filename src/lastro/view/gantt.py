"""The calendar as SVG: what was planned above what happened, in percent of the width, so that it fits any.

Texts keep their size on a narrow screen: nothing is scaled, only stretched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape

from lastro.locale import _
from lastro.view import ticks
from lastro.view.parts import Bar, Calendar, Lane, Mark
from lastro.view.svg import run_class

_AXIS = 26
_ROW = {"stage": 40, "run": 58, "machine": 40}
#: Beyond this ratio one axis would show either the plan or the facts as a line of one pixel.
_COMMON = 12.0
#: Checkpoints nearer than this part of the axis would run into one dark patch.
_TOUCHING = 0.008
_SHAPES = {
    "checkpoint": '<path class="m-save" d="M0 -2v9"/>',
    "done": '<circle class="m-halo" r="7.5"/><path class="m-done" d="M-4.5 0l3 3.6L4.5-4"/>',
    "notice": '<path class="m-notice" d="M-5.5-4.5h11L0 6z"/>',
    "loss": '<path class="m-loss" d="M-5-5L5 5M5-5L-5 5"/>',
    "stop": '<path class="m-stop" d="M-5-5h10v10h-10z"/>',
    "ready": '<path class="m-ready" d="M0-6v12"/>',
}


def has_common_scale(calendar: Calendar) -> bool:
    """Say whether plan and facts are long enough, compared with each other, to share one axis."""
    planned, actual = calendar.planned_seconds, calendar.actual_seconds
    if not planned or not actual:
        return True
    return max(planned, actual) / min(planned, actual) <= _COMMON


def gantt(calendar: Calendar) -> str:
    """Return the calendar as an `<svg>` element; an empty text when there is nothing to draw."""
    lanes = [lane for lane in calendar.lanes if lane.planned or lane.actual]
    if not lanes:
        return ""
    spans = [calendar.planned_seconds or 0.0, calendar.actual_seconds or 0.0]
    if has_common_scale(calendar):
        spans = [max(spans), max(spans)]
    spans = [span or 1.0 for span in spans]
    parts: list[str] = []
    top = _AXIS
    for lane in lanes:
        parts.append(_row(lane, top, spans[0], spans[1]))
        top += _ROW[lane.kind]
    axis = spans[1] if calendar.actual_seconds else spans[0]
    title, described = escape(_("Calendar, planned and actual")), escape(_described(calendar))
    return (
        f'<svg class="gantt" width="100%" height="{top + 6}" role="img" aria-label="{title}">'
        f"<title>{title}</title><desc>{described}</desc>{_axis(axis, top)}{''.join(parts)}</svg>"
    )


def _described(calendar: Calendar) -> str:
    texts = [bar.text for lane in calendar.lanes for bar in lane.actual]
    return "; ".join(texts) or _("nothing has happened yet")


def _at(seconds: float, span: float) -> str:
    return f"{max(0.0, min(1.0, seconds / span)) * 98 + 1:.3f}%"


def _long(bar: Bar, span: float) -> str:
    return f"{max(0.0, min(span, bar.end) - max(0.0, bar.start)) / span * 98:.3f}%"


def _axis(span: float, bottom: int) -> str:
    parts = []
    moments = ticks.times(span)
    for number, seconds in enumerate(moments):
        x = _at(seconds, span)
        # On a narrow screen every second text goes (see report.css).
        place = "start" if number == 0 else "end" if seconds / span > 0.96 else "middle"
        minor = " minor" if number % 2 else ""
        parts.append(f'<line class="grid" x1="{x}" x2="{x}" y1="20" y2="{bottom}"/>')
        parts.append(
            f'<text class="tick{minor}" x="{x}" y="13" text-anchor="{place}">'
            f"{escape(ticks.time_label(seconds, span))}</text>"
        )
    return "".join(parts)


def _row(lane: Lane, top: int, planned_span: float, actual_span: float) -> str:
    parts = [f'<text class="lane of-{lane.kind}" x="1%" y="{top + 12}">{escape(lane.label)}</text>']
    parts.append(f'<line class="floor" x1="0" x2="100%" y1="{top - 3}" y2="{top - 3}"/>')
    y = top + 19
    parts += [_rect(bar, "planned", y, 11, planned_span) for bar in lane.planned]
    if lane.kind == "run":
        y += 15
    for bar in lane.actual:
        kind = "machine" if lane.kind == "machine" else f"actual {run_class(bar.index or 0)}"
        parts.append(_rect(bar, kind + (" open" if bar.open_ended else ""), y, 13, actual_span))
    # Checkpoints first, so that the end of a life lies on top of the save just before it.
    saves = [mark for mark in lane.marks if mark.kind == "checkpoint"]
    marks = [*_thinned(saves, actual_span), *(mark for mark in lane.marks if mark.kind != "checkpoint")]
    parts += [_mark(mark, y + (13 if mark.kind == "checkpoint" else 6.5), actual_span) for mark in marks]
    return "".join(parts)


def _thinned(saves: Sequence[Mark], span: float) -> list[Mark]:
    """Return checkpoints with those that would touch drawn as one; its text counts them."""
    groups: list[list[Mark]] = []
    for mark in sorted(saves, key=lambda item: item.at):
        if groups and mark.at - groups[-1][0].at < span * _TOUCHING:
            groups[-1].append(mark)
        else:
            groups.append([mark])
    return [
        group[0]
        if len(group) == 1
        else replace(
            group[0],
            text=_("{count} checkpoints; the last: {text}").format(count=len(group), text=group[-1].text),
        )
        for group in groups
    ]


def _rect(bar: Bar, kind: str, y: float, height: int, span: float) -> str:
    return (
        f'<rect class="{kind}" x="{_at(bar.start, span)}" y="{y:g}" width="{_long(bar, span)}"'
        f' height="{height}" rx="3"><title>{escape(bar.text)}</title></rect>'
    )


def _mark(mark: Mark, y: float, span: float) -> str:
    return (
        f'<svg x="{_at(mark.at, span)}" y="{y:g}" overflow="visible" width="1" height="1">'
        f"<title>{escape(mark.text)}</title>{_SHAPES[mark.kind]}</svg>"
    )


def legend_shape(kind: str) -> str:
    """Return a mark on its own, for the legend."""
    shape = _SHAPES[kind]
    return f'<svg class="key" width="14" height="14" viewBox="-7 -7 14 14" aria-hidden="true">{shape}</svg>'
