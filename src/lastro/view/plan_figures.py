"""The figures of a plan in words: amounts, hours, chances, bounds. Unknown is a word, and never a zero."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta

from lastro.locale import _, forms, ngettext
from lastro.plan.model import Plan
from lastro.plan.parts import Cost, Holding, Option, Slot
from lastro.units import Money, show_duration
from lastro.view import show

#: With so many draws, an event that never came has a chance below one in a thousand: 3 / n, with 95 %.
_MANY = 3000


def hours(value: float | None) -> str:
    """Return hours as people say them."""
    return show.unknown() if value is None else show_duration(timedelta(hours=value))


def short_hours(value: float | None) -> str:
    """Return hours for a column: one decimal at most, minutes below one hour."""
    if value is None:
        return show.unknown()
    if value and abs(value) < 1:
        return _("{value} min").format(value=forms.decimal(f"{value * 60:.3g}").replace("-", "−"))
    return _("{value} h").format(value=forms.decimal(f"{round(value, 1):g}").replace("-", "−"))


def unit_of(hours_in_all: float) -> tuple[float, str]:
    """Return the unit in which the moments of a calendar are told: how many are in an hour, and its name."""
    if hours_in_all <= 180 / 3600:
        return 3600.0, _("s")
    return (60.0, _("min")) if hours_in_all <= 3 else (1.0, _("h"))


def moment(value: float, hours_in_all: float) -> str:
    """Return a moment or a length in the unit of its calendar, without it; what is short is never a zero."""
    number = value * unit_of(hours_in_all)[0]
    shown = f"{number:.2g}" if abs(number) < 1 else f"{round(number, 1):g}"
    return forms.decimal(shown).replace("-", "−")


def chance(share: float | None, draws: int | None) -> str:
    """Return a share of draws. What came in none or in all of them is not shown as a certainty."""
    if share is None or not draws:
        return show.unknown()
    if share <= 0:
        return _("< 0.1 %") if draws >= _MANY else _("0 of {draws}").format(draws=draws)
    if share >= 1:
        return _("> 99.9 %") if draws >= _MANY else _("{draws} of {draws}").format(draws=draws)
    if share < 0.001:
        return _("< 0.1 %")
    return forms.decimal(f"{100 * share:.1f} %" if share < 0.1 else f"{100 * share:.0f} %")


def cost(value: Cost) -> str:
    """Return what an option costs; where a line is unknown, what it costs at least."""
    if value.total is not None:
        return str(value.total)
    return _("at least {amount}").format(amount=value.at_least) if value.at_least else show.unknown()


def cost_range(low: Money | None, high: Money | None) -> str | None:
    """Return the range of a cost; None where it has none: it is certain, or unknown."""
    if low is None or high is None or low == high:
        return None
    return _("{low} to {high}").format(low=low, high=high)


def per_unit(option: Option, plan: Plan) -> str | None:
    """Return what one unit of the work costs; None: the campaign counts no work, or the cost is unknown."""
    if option.per_unit is None:
        return None
    unit = plan.work_unit or _("unit of work")
    return _("{amount} per {unit}").format(amount=option.per_unit, unit=unit)


def chance_late(option: Option, plan: Plan) -> str:
    """Return how often an option ends after the window; a dash where there is no window."""
    return "–" if plan.window_hours is None else chance(option.p_late, option.draws)


def chance_dear(option: Option, plan: Plan) -> str:
    """Return how often an option costs more than the budget; a dash where there is no budget."""
    return "–" if plan.budget is None else chance(option.p_over_budget, option.draws)


def no_bound() -> str:
    """Return what is said once, when no option has a bound."""
    return _("No bound is known: that nothing cheaper does the same is not proven.")


def bound(option: Option, plan: Plan) -> str:
    """Return what is proven about the cost of an option. Nothing is called the best without a proof.

    Where something of the same protocol fits the window, the bound is for what does: of an option that is
    too long it says what doing it in time costs at least.
    """
    if option.bound is None:
        return _("no bound")
    same = [one for one in plan.options if one.offered and one.protocol == option.protocol]
    if option.fits_window is False and any(one.fits_window for one in same):
        return _("proven: nothing below {bound} does it in the window").format(bound=option.bound)
    if option.proven:
        return _("proven: nothing below {bound} does the same").format(bound=option.bound)
    if option.gap is None:
        return _("bound {bound}; the gap is unknown").format(bound=option.bound)
    return _("bound {bound}, {gap} below this").format(
        bound=option.bound, gap=forms.decimal(f"{100 * option.gap:.2g} %")
    )


def holdings(option: Option) -> str:
    """Return what is rented for an option."""
    return " + ".join(_holding(one) for one in option.holdings) or _("nothing that could be priced")


def _holding(one: Holding) -> str:
    if one.leases < 1:
        return _("{offer}, nobody knows for how long").format(offer=one.offer)
    if one.terms is None:
        what = one.offer if one.leases <= 1 else f"{one.leases} × {one.offer}"
        return _("{what} for {hours}").format(what=what, hours=hours(one.hours))
    count = ngettext("{n} lot", "{n} lots", one.leases).format(n=one.leases)
    each = one.hours / max(1, one.leases * one.machines)
    text = _("{count} of {offer}, held for {hours}").format(count=count, offer=one.offer, hours=hours(each))
    if one.terms > 1:
        text += " " + ngettext("({n} term)", "({n} terms)", one.terms).format(n=one.terms)
    return text


def fit(option: Option, plan: Plan) -> tuple[str, str]:
    """Return whether an option fits, as a code (fits | unsure | breaks) and in words."""
    late, dear = option.fits_window is False, option.fits_budget is False
    if late and dear:
        return "breaks", _("too long and too dear")
    if late:
        return "breaks", _("too long for the window")
    if dear:
        return "breaks", _("over the budget")
    known = (option.fits_window or plan.window_hours is None) and (option.fits_budget or plan.budget is None)
    return ("fits", _("fits")) if known else ("unsure", _("fits as far as is known"))


def notes_once(options: Sequence[Option]) -> list[tuple[str, ...]]:
    """Return the notes of each option without those that an option before it has told already."""
    told: set[str] = set()
    found = []
    for option in options:
        found.append(tuple(note for note in option.notes if note not in told))
        told.update(option.notes)
    return found


def effect(slot: Slot) -> str:
    """Return by how much one more hour of a stage moves the end; an unknown effect says so."""
    if slot.one_more_hour is None:
        return show.unknown()
    if slot.one_more_hour < 0.005:
        return "0"
    return forms.decimal(f"+{slot.one_more_hour:.2f}".rstrip("0").rstrip("."))


def decisions(plan: Plan) -> Iterator[str]:
    """Yield for each decision point what it comes after, and what waits for it."""
    for point in plan.decision_points:
        if point.holds:
            yield _("{stage} ends with a decision; what waits for it: {runs}").format(
                stage=point.stage, runs=", ".join(point.holds)
            )
        else:
            yield _("{stage} ends with a decision; nothing waits for it").format(stage=point.stage)


def next_step(plan: Plan, *, frozen: bool) -> str:
    """Return what to do after having read the plan."""
    if frozen:
        return _("`lastro run` starts it.")
    if all(finding.level != "fail" for finding in plan.findings):
        return _("`lastro plan --freeze` keeps it.")
    others = list(_others(plan))
    if others:
        return _("{ways}; or another window, budget or offer.").format(ways="; ".join(others))
    return _("another window, budget or offer, or fewer variants: nothing that is offered fits.")


def _others(plan: Plan) -> Iterator[str]:
    """Yield how to take those options that fit, when the one that is taken does not."""
    for option in plan.options:
        if option.fits and option.name != plan.option and option.protocol != plan.protocol:
            yield _("`lastro plan --reduced --freeze` takes {name}").format(name=option.name)
        elif option.fits and option.name != plan.option and option.machines != plan.machines:
            yield _("`machines: {count}` in the campaign file takes {name}").format(
                count=option.machines, name=option.name
            )
