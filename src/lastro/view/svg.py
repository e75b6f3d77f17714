"""Charts as plain SVG text: deterministic, no script, colours by class so that any theme can set them.

A run keeps its colour (`s0`..`s7`) and its dash (`d0`..`d3`) on the whole page, and each line carries the
run's name at its end, so that nothing is told by colour alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from itertools import pairwise

from lastro.locale import _, ngettext
from lastro.records import dataclass
from lastro.view import show, ticks
from lastro.view.parts import Chart, Curve
from lastro.view.series import Bucket, merge

COLOURS = 8
DASHES = 4
_WIDTH, _HEIGHT = 520.0, 236.0
_LEFT, _TOP, _BOTTOM = 46.0, 12.0, 206.0
_LABEL_LIMIT = 14
#: Lines are drawn on a grid of half units: whole numbers keep the file small.
_GRID = 2
#: Points that all curves of a page share, and the bounds for one curve.
_POINTS, _FEWEST, _MOST = 8400, 90, 400


def run_class(index: int) -> str:
    """Return the classes that give a run its colour and dash everywhere on the page."""
    return f"s{index % COLOURS} d{(index + index // COLOURS) % DASHES}"


def buckets_for(curves: int) -> int:
    """Return how many buckets one curve may draw on a page with so many curves."""
    return max(_FEWEST, min(_MOST, _POINTS // max(1, curves)))


@dataclass(frozen=True)
class Frame:
    """Where values lie on the drawing. `right` leaves room for the names at the ends of the lines."""

    first: int
    last: int
    low: float
    high: float
    log: bool
    right: float
    over_time: bool = False

    def x(self, step: float) -> float:
        span = (self.last - self.first) or 1
        return _LEFT + (step - self.first) / span * (self.right - _LEFT)

    def y(self, value: float) -> float:
        if self.log:
            share = (math.log10(value) - math.log10(self.low)) / (
                math.log10(self.high) - math.log10(self.low)
            )
        else:
            # Halves first: the difference of two huge numbers may not be a number any more.
            share = (value / 2 - self.low / 2) / ((self.high / 2 - self.low / 2) or 1)
        return _BOTTOM - share * (_BOTTOM - _TOP)


def line_chart(chart: Chart, buckets: int = _MOST) -> str:
    """Return one metric's chart as an `<svg>` element; `buckets` bounds the points of each curve."""
    finite = [bucket for curve in chart.curves for bucket in _all_buckets(curve)]
    lows, highs = [bucket.low for bucket in finite], [bucket.high for bucket in finite]
    low, high = (min(lows), max(highs)) if finite else (0.0, 1.0)
    log = low > 0 and high / low >= 1000
    marks = ticks.decades(low, high) if log else ticks.linear(low, high, 6)
    first, last = _step_range(chart)
    if chart.over_time:
        first = 0
    frame = Frame(first, last, marks[0], marks[-1], log, _right(chart.curves), chart.over_time)
    parts = [_axes(frame, marks)]
    parts += [_breaks(curve, frame) for curve in chart.curves]
    parts += [_curve(curve, frame, buckets) for curve in chart.curves]
    parts += [_non_finite(curve, frame) for curve in chart.curves]
    parts.append(_names(chart.curves, frame))
    title = escape(chart.metric)
    return (
        f'<svg class="chart" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" role="img" aria-label="{title}">'
        f"<title>{title}</title><desc>{escape(_described(chart, log))}</desc>{''.join(parts)}</svg>"
    )


def _all_buckets(curve: Curve) -> list[Bucket]:
    return [*curve.series.buckets, *(bucket for life in curve.series.earlier for bucket in life)]


def _step_range(chart: Chart) -> tuple[int, int]:
    steps = [step for curve in chart.curves for step, _value in curve.series.non_finite]
    for curve in chart.curves:
        steps += [step for bucket in _all_buckets(curve) for step in (bucket.first_step, bucket.last_step)]
    return (min(steps), max(steps)) if steps else (0, 1)


def _right(curves: Sequence[Curve]) -> float:
    longest = max((len(show.shortened(curve.name, _LABEL_LIMIT)) for curve in curves), default=0)
    return _WIDTH - 14 - 7.4 * longest


def _described(chart: Chart, log: bool) -> str:
    said = [
        _("{name}: {value} after {time}").format(
            name=curve.name,
            value=show.number(curve.series.last),
            time=ticks.time_label(curve.series.last_step, curve.series.last_step),
        )
        if chart.over_time
        else _("{name}: {value} at step {step}").format(
            name=curve.name, value=show.number(curve.series.last), step=curve.series.last_step
        )
        for curve in chart.curves
    ]
    return "; ".join([*said, _("logarithmic scale")] if log else said)


def _axes(frame: Frame, marks: Sequence[float]) -> str:
    parts = []
    for value in marks:
        y = frame.y(value)
        parts.append(f'<line class="grid" x1="{_LEFT:g}" x2="{frame.right:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>')
        text = ticks.power(value) if frame.log else ticks.label(value, marks)
        parts.append(
            f'<text class="tick" x="{_LEFT - 7:g}" y="{y + 3.6:.1f}" text-anchor="end">{text}</text>'
        )
    for step, told in _step_ticks(frame):
        x = frame.x(step)
        parts.append(f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{_BOTTOM:g}" y2="{_BOTTOM + 4:g}"/>')
        parts.append(
            f'<text class="tick" x="{x:.1f}" y="{_BOTTOM + 17:g}" text-anchor="middle">{escape(told)}</text>'
        )
    parts.append(
        f'<line class="axis" x1="{_LEFT:g}" x2="{frame.right:.1f}" y1="{_BOTTOM:g}" y2="{_BOTTOM:g}"/>'
    )
    named = _("time") if frame.over_time else _("step")
    step_word = escape(named + (" · " + _("log scale") if frame.log else ""))
    parts.append(
        f'<text class="tick" x="{_WIDTH - 2:g}" y="{_BOTTOM + 17:g}" text-anchor="end">{step_word}</text>'
    )
    return "".join(parts)


def _step_ticks(frame: Frame) -> list[tuple[float, str]]:
    """Return where the lower axis is marked, and by what: round steps, or times that clocks are read in."""
    if frame.over_time:
        return [(at, ticks.time_label(at, frame.last)) for at in ticks.times(frame.last)]
    return [(step, ticks.step_label(step)) for step in ticks.steps(frame.first, frame.last)]


def _path(points: Sequence[tuple[float, float]], *, close: bool = False) -> str:
    """Return path data of whole numbers on the grid, each relative to the one before."""
    if not points:
        return ""
    grid = [(round(x * _GRID), round(y * _GRID)) for x, y in points]
    text = f"M{grid[0][0]} {grid[0][1]}l"
    moves = [f"{bx - ax} {by - ay}" for (ax, ay), (bx, by) in pairwise(grid)] or ["0 0"]
    return text + " ".join(moves).replace(" -", "-") + ("z" if close else "")


def _curve(curve: Curve, frame: Frame, limit: int) -> str:
    name = run_class(curve.index)
    parts = []
    for life in curve.series.earlier:
        faint = merge(life, max(20, limit // 4))
        parts.append(f'<path class="line earlier {name}" d="{_line(faint, frame)}"/>')
    shown = merge(curve.series.buckets, limit)
    if any(bucket.count > 1 for bucket in shown):
        parts.append(f'<path class="band {name}" d="{_band(shown, frame)}"/>')
    if len(shown) == 1:
        x, y = frame.x(shown[0].middle) * _GRID, frame.y(shown[0].mean) * _GRID
        parts.append(f'<circle class="dot {name}" cx="{x:.0f}" cy="{y:.0f}" r="{3 * _GRID}"/>')
    elif shown:
        parts.append(f'<path class="line {name}" d="{_line(shown, frame)}"/>')
    title = escape(curve.name)
    return f'<g transform="scale({1 / _GRID:g})"><title>{title}</title>{"".join(parts)}</g>' if parts else ""


def _line(buckets: Sequence[Bucket], frame: Frame) -> str:
    return _path([(frame.x(bucket.middle), frame.y(bucket.mean)) for bucket in buckets])


def _band(buckets: Sequence[Bucket], frame: Frame) -> str:
    """Return the outline of the range: along the highs, and back along the lows."""
    highs = [(frame.x(bucket.middle), frame.y(bucket.high)) for bucket in buckets]
    lows = [(frame.x(bucket.middle), frame.y(bucket.low)) for bucket in reversed(buckets)]
    return _path([*highs, *lows], close=True)


def _breaks(curve: Curve, frame: Frame) -> str:
    parts = []
    for step in curve.breaks:
        if frame.first <= step <= frame.last:
            text = escape(_("{name} was interrupted at step {step}").format(name=curve.name, step=step))
            x = frame.x(step)
            parts.append(
                f'<g class="break {run_class(curve.index)}"><title>{text}</title>'
                f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP:g}" y2="{_BOTTOM:g}"/>'
                f'<path d="M{x - 4:.1f} {_BOTTOM:g}h8l-4-7z"/></g>'
            )
    return "".join(parts)


def _non_finite(curve: Curve, frame: Frame) -> str:
    if not curve.series.non_finite:
        return ""
    shown = curve.series.non_finite[:: max(1, len(curve.series.non_finite) // 12)]
    crosses = "".join(f"M{frame.x(step) - 3.5:.1f} {_TOP - 3:g}l7 7m0-7l-7 7" for step, _value in shown)
    step, value = curve.series.non_finite[0]
    text = ngettext(
        "{name}: {count} value that is not finite, {value} at step {step}",
        "{name}: {count} values that are not finite, the first {value} at step {step}",
        curve.series.non_finite_count,
    ).format(name=curve.name, count=curve.series.non_finite_count, value=show.number(value), step=step)
    x = frame.x(step)
    anchor, shift = ("end", -7) if x > (_LEFT + frame.right) / 2 else ("start", 7)
    return (
        f'<g class="nan"><title>{escape(text)}</title><path d="{crosses}"/>'
        f'<text x="{x + shift:.1f}" y="{_TOP + 4:g}" text-anchor="{anchor}">{show.number(value)}</text></g>'
    )


def _names(curves: Sequence[Curve], frame: Frame) -> str:
    """Write each run's name at the end of its line, moved apart where they would overlap."""
    wanted = []
    for curve in curves:
        last = curve.series.buckets[-1] if curve.series.buckets else None
        wanted.append((frame.y(last.mean) if last else _TOP + 4, curve))
    wanted.sort(key=lambda item: (item[0], item[1].index))
    heights = spread([y for y, _curve_ in wanted], 13.0, _TOP + 2, _BOTTOM - 2)
    parts = []
    for (_y, curve), y in zip(wanted, heights, strict=True):
        name = escape(show.shortened(curve.name, _LABEL_LIMIT))
        parts.append(
            f'<text class="name {run_class(curve.index)}" x="{frame.right + 6:.1f}" y="{y + 3.8:.1f}">'
            f"{name}</text>"
        )
    return "".join(parts)


def spread(heights: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Return sorted heights moved apart to at least `gap` and kept within the bounds where they fit."""
    placed: list[float] = []
    for height in heights:
        placed.append(max(height, placed[-1] + gap if placed else low))
    over = placed[-1] - high if placed else 0.0
    if over <= 0:
        return placed
    limit = high
    for position in range(len(placed) - 1, -1, -1):
        placed[position] = min(placed[position], limit)
        limit = placed[position] - gap
    return placed


def dot_track(
    value: float | None, base: float | None, bar: float | None, span: tuple[float, float], classes: str
) -> str:
    """Return one row of the evidence.

    Args:
        value: the run's metric; None or NaN draws no dot, one outside `span` an arrow at that end.
        base: the control's.
        bar: what a run has to reach to be adopted.
        span: smallest and largest value of the axis.
        classes: of the run.
    """
    low, high = span

    def at(number: float) -> str:
        return f"{(number - low) / ((high - low) or 1) * 96 + 2:.2f}%"

    parts = ['<line class="rail" x1="0" x2="100%" y1="14" y2="14"/>']
    if bar is not None:
        parts.append(f'<line class="bar" x1="{at(bar)}" x2="{at(bar)}" y1="0" y2="28"/>')
    if base is not None:
        parts.append(f'<line class="base" x1="{at(base)}" x2="{at(base)}" y1="0" y2="28"/>')
    if value is not None and math.isfinite(value):
        if low <= value <= high:
            if base is not None and value != base:
                parts.append(
                    f'<line class="gap {classes}" x1="{at(base)}" x2="{at(value)}" y1="14" y2="14"/>'
                )
            parts.append(f'<circle class="dot {classes}" cx="{at(value)}" cy="14" r="6.5"/>')
        else:
            x, arrow = ("0", "M10 8v12L0 14z") if value < low else ("100%", "M-10 8v12L0 14z")
            parts.append(f'<svg x="{x}" overflow="visible"><path class="off {classes}" d="{arrow}"/></svg>')
    return f'<svg class="track" height="28" aria-hidden="true">{"".join(parts)}</svg>'
