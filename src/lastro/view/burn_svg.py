"""The spending of a campaign as SVG: a solid line inside, or outside, the band that the plan reserved."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from lastro.locale import _, forms
from lastro.view import ticks
from lastro.view.burn import Burn

_WIDTH, _HEIGHT = 520.0, 236.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 52.0, 506.0, 14.0, 206.0
#: A budget so many times higher than all else would press it into the floor: it is told in words.
_TALL = 3.0
#: As in the calendar: beyond this ratio the plan gets an axis of its own.
_COMMON = 12.0


def has_common_scale(burn: Burn) -> bool:
    """Say whether plan and facts are long enough, compared with each other, to share one axis of time."""
    spans = [burn.points[-1][0], burn.planned[2][0]] if burn.planned else [1.0]
    return min(spans) <= 0 or max(spans) / min(spans) <= _COMMON


def budget_is_drawn(burn: Burn) -> bool:
    """Say whether the budget's line fits above the others."""
    return burn.budget is not None and burn.budget <= _TALL * _highest(burn)


def burn_chart(burn: Burn) -> str:
    """Return the picture as an `<svg>` element."""
    tops = [_highest(burn), burn.budget or 0.0] if budget_is_drawn(burn) else [_highest(burn)]
    marks = ticks.linear(0.0, max(tops) or 1.0, 6)
    actual = burn.points[-1][0] or 1.0
    planned = burn.planned[2][0] if burn.planned else actual
    if has_common_scale(burn):
        actual = planned = max(actual, planned)

    def place(seconds: float, amount: float, span: float) -> tuple[float, float]:
        x = _LEFT + min(1.0, seconds / span) * (_RIGHT - _LEFT)
        return x, _BOTTOM - amount / (marks[-1] or 1.0) * (_BOTTOM - _TOP)

    parts = [_axes(marks, actual)]
    if burn.planned:
        low, likely, high = (place(*end, planned) for end in burn.planned)
        corners = [(_LEFT, _BOTTOM), high, likely, low]
        parts.append(f'<path class="burn-band" d="{_path(corners)}z"/>')
        parts.append(f'<path class="burn-plan" d="{_path([(_LEFT, _BOTTOM), likely])}"/>')
    if budget_is_drawn(burn) and burn.budget is not None:
        y = place(0.0, burn.budget, actual)[1]
        parts.append(f'<line class="burn-budget" x1="{_LEFT:g}" x2="{_RIGHT:g}" y1="{y:.1f}" y2="{y:.1f}"/>')
    line = [place(*point, actual) for point in burn.points]
    parts.append(f'<path class="burn-line" d="{_path(line)}"/>')
    parts.append(f'<circle class="burn-end" cx="{line[-1][0]:.1f}" cy="{line[-1][1]:.1f}" r="4.5"/>')
    title = escape(_("Spending over time, in {currency}").format(currency=burn.currency))
    return (
        f'<svg class="chart" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" role="img" aria-label="{title}">'
        f"<title>{title}</title><desc>{escape(_described(burn))}</desc>{''.join(parts)}</svg>"
    )


def _highest(burn: Burn) -> float:
    return max([amount for _at, amount in (*burn.points, *(burn.planned or ()))], default=0.0)


def _described(burn: Burn) -> str:
    spent = _("spent: {amount}").format(amount=forms.money(f"{burn.points[-1][1]:.2f}", burn.currency))
    if burn.planned is None:
        return spent
    low, _likely, high = burn.planned
    planned = _("planned: {low} to {high}").format(
        low=forms.money(f"{low[1]:.2f}", burn.currency), high=forms.money(f"{high[1]:.2f}", burn.currency)
    )
    return f"{spent}; {planned}"


def _axes(marks: Sequence[float], span: float) -> str:
    parts = []
    for value in marks:
        y = _BOTTOM - value / (marks[-1] or 1.0) * (_BOTTOM - _TOP)
        parts.append(f'<line class="grid" x1="{_LEFT:g}" x2="{_RIGHT:g}" y1="{y:.1f}" y2="{y:.1f}"/>')
        text = escape(ticks.label(value, marks))
        parts.append(
            f'<text class="tick" x="{_LEFT - 7:g}" y="{y + 3.6:.1f}" text-anchor="end">{text}</text>'
        )
    for seconds in ticks.times(span):
        x = _LEFT + seconds / span * (_RIGHT - _LEFT)
        anchor = "end" if seconds / span > 0.96 else "middle"
        parts.append(f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{_BOTTOM:g}" y2="{_BOTTOM + 4:g}"/>')
        parts.append(
            f'<text class="tick" x="{x:.1f}" y="{_BOTTOM + 17:g}" text-anchor="{anchor}">'
            f"{escape(ticks.time_label(seconds, span))}</text>"
        )
    parts.append(f'<line class="axis" x1="{_LEFT:g}" x2="{_RIGHT:g}" y1="{_BOTTOM:g}" y2="{_BOTTOM:g}"/>')
    return "".join(parts)


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
