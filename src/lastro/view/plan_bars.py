"""Costs and the disk of a plan as stacked bars, in percent of the width. What is unknown is drawn, too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from html import escape

from lastro.locale import _
from lastro.plan.model import Plan
from lastro.plan.parts import Cost, DiskNeed, Option
from lastro.records import dataclass
from lastro.units import Money, show_bytes
from lastro.view import plan_figures as figures
from lastro.view import show, words

#: A budget above this many times the dearest option would press all bars into a stripe.
_FAR = 4
_KINDS = ("machine", "disk", "ingress", "egress")
_COLOURS = 8


@dataclass(frozen=True, kw_only=True)
class Scale:
    """From nothing to `most`, in one currency. `budget`: where it lies; None: there is none, or it is far."""

    most: Decimal
    currency: str
    budget: Decimal | None

    def share(self, amount: Decimal) -> float:
        """Return where an amount lies, from 0 to 1."""
        return max(0.0, min(1.0, float(amount / self.most)))


def scale_of(plan: Plan, options: Sequence[Option]) -> Scale | None:
    """Return the scale that the costs of these options share; None when none of them is known."""
    sums = [_known(option.cost) for option in options]
    currencies = [money.currency for money in sums if money]
    budget = plan.budget
    currency = budget.currency if budget and budget.currency in currencies else next(iter(currencies), None)
    if currency is None:
        return None
    tops = [money.amount for option in options for money in _amounts(option) if money.currency == currency]
    most = max(tops, default=Decimal(0))
    if most <= 0:
        return None
    if budget is None or budget.currency != currency or budget.amount > most * _FAR:
        return Scale(most=most, currency=currency, budget=None)
    return Scale(most=max(most, budget.amount), currency=currency, budget=budget.amount)


def _known(cost: Cost) -> Money | None:
    return cost.total or cost.at_least


def _amounts(option: Option) -> Iterable[Money]:
    return [money for money in (_known(option.cost), option.cost.high, option.bound) if money]


def cost_bar(option: Option, scale: Scale, plan: Plan) -> str:
    """Return an option's lines on end, its range, its bound and the budget; empty: in another currency."""
    known = _known(option.cost)
    if known is None or known.currency != scale.currency:
        return ""
    parts, start = [], Decimal(0)
    for line in option.cost.lines:
        if line.amount is None:
            continue
        text = f"{words.cost_kind(line.kind)} {line.name}: {line.amount}"
        parts.append(
            _segment(
                f"k{kind_colour(line.kind)}",
                scale.share(start),
                scale.share(start + line.amount.amount),
                text,
            )
        )
        start += line.amount.amount
    if option.cost.total is None:
        first = scale.share(start)
        why = option.cost.why or show.unknown()
        parts.append(_segment("unknown", first, min(1.0, first + 0.12), _("unknown: {why}").format(why=why)))
    parts += [_range(option, scale), _bound(option, scale, plan)]
    if scale.budget is not None:
        parts.append(_upright("budget", scale.share(scale.budget), 0, 26))
    return _bar(parts, 26, _described(option, plan))


def kind_colour(kind: str) -> int:
    """Return the number of the colour of a kind of cost; kinds that are not known share one."""
    return _KINDS.index(kind) if kind in _KINDS else len(_KINDS)


def _described(option: Option, plan: Plan) -> str:
    lines = [f"{words.cost_kind(line.kind)} {show.money(line.amount)}" for line in option.cost.lines]
    return _("cost of {name}: {total}, of it {lines}; {bound}").format(
        name=option.name,
        total=figures.cost(option.cost),
        lines=", ".join(lines),
        bound=figures.bound(option, plan),
    )


def _range(option: Option, scale: Scale) -> str:
    low, high = option.cost.low, option.cost.high
    if low is None or high is None or low == high:
        return ""
    first, last = (f"{100 * scale.share(one.amount):.3f}%" for one in (low, high))
    text = escape(_("{low} to {high}").format(low=low, high=high))
    ends = "".join(f'<line class="around" x1="{x}" x2="{x}" y1="9" y2="17"/>' for x in (first, last))
    line = f'<line class="around" x1="{first}" x2="{last}" y1="13" y2="13"/>'
    return f"<g><title>{text}</title>{line}{ends}</g>"


def _bound(option: Option, scale: Scale, plan: Plan) -> str:
    if option.bound is None or option.bound.currency != scale.currency:
        return ""
    return _upright("bound", scale.share(option.bound.amount), 0, 26, figures.bound(option, plan))


def _upright(kind: str, share: float, top: float, bottom: float, text: str = "") -> str:
    title = f"<title>{escape(text)}</title>" if text else ""
    x = f"{100 * share:.3f}%"
    return f'<line class="{kind}" x1="{x}" x2="{x}" y1="{top:g}" y2="{bottom:g}">{title}</line>'


def _segment(kind: str, start: float, end: float, text: str) -> str:
    place = f'x="{100 * start:.3f}%" width="{100 * (end - start):.3f}%" y="6" height="14"'
    return f'<rect class="part {kind}" {place}><title>{escape(text)}</title></rect>'


def _bar(parts: Iterable[str], height: float, described: str) -> str:
    told = escape(described)
    return (
        f'<svg class="stacked" width="100%" height="{height:g}" role="img" aria-label="{told}">'
        f"<title>{told}</title>{''.join(parts)}</svg>"
    )


# --- disk ---------------------------------------------------------------------------------------------


def disk_bar(need: DiskNeed) -> str:
    """Return what the disk holds on end, with its slack, up to the size to rent; empty: nothing is known."""
    known = [part for part in need.parts if part.bytes]
    if need.needed is None or not known:
        return ""
    whole = max(need.recommended or 0, need.needed)
    parts, start = [], 0
    for number, part in enumerate(need.parts):
        if not part.bytes:
            continue
        text = f"{part.name}: {show_bytes(part.bytes)}"
        parts.append(_segment(f"k{number % _COLOURS}", start / whole, (start + part.bytes) / whole, text))
        start += part.bytes
    spare = _("slack: {size}").format(size=show_bytes(need.needed - start))
    parts.append(_segment("slack", start / whole, need.needed / whole, spare))
    if need.needed < whole:
        left = _("left of what is rented: {size}").format(size=show_bytes(whole - need.needed))
        parts.append(_segment("left", need.needed / whole, 1.0, left))
    told = [
        f"{part.name} {show_bytes(part.bytes) if part.bytes is not None else show.unknown()}"
        for part in need.parts
    ]
    return _bar(
        parts, 26, _("what the disk holds: {parts}; {spare}").format(parts=", ".join(told), spare=spare)
    )
