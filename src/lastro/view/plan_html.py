"""The page of a plan: one HTML file that needs no network, no script and no server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup, escape

from lastro import __version__
from lastro.locale import _
from lastro.plan.model import Plan
from lastro.plan.parts import Option
from lastro.records import dataclass
from lastro.view import plan_bars, plan_figures, plan_gantt
from lastro.view.html import environment
from lastro.view.model import page_language
from lastro.view.parts import Headline
from lastro.view.plan_calendar import Axis, axis_of, colours, leases_of, offered, taken
from lastro.view.plan_ladder_text import ladder_lines
from lastro.view.plan_learned_text import learned_lines


@dataclass(frozen=True, kw_only=True)
class Card:
    """An option with its pictures, which are None or empty where there is nothing to draw.

    `notes`: those that no card before it has told.
    """

    option: Option
    gantt: plan_gantt.Picture | None
    bar: Markup
    notes: tuple[str, ...]
    chosen: bool


def render_plan(plan: Plan, drills: Sequence[Mapping[str, Any]], *, frozen: bool) -> str:
    """Return the page. The same plan gives the same text, byte for byte."""
    shown, number = offered(plan), colours(plan)
    axis = axis_of([plan.calendar], plan.window_hours)
    chosen = taken(plan)
    leases = leases_of(chosen) if chosen else ()
    need = plan.disk_need
    return (
        environment()
        .get_template("plan.html.j2")
        .render(
            plan=plan,
            language=page_language(),
            version=__version__,
            frozen=frozen,
            headline=headline(plan),
            chosen=chosen,
            leases=leases,
            gantt=plan_gantt.picture(plan.calendar, axis, number, leases) if axis else None,
            axis=axis,
            cards=_cards(plan, shown, number),
            scale=plan_bars.scale_of(plan, shown),
            learned=list(learned_lines(plan)),
            ladder=list(ladder_lines(plan)),
            refused=[option for option in plan.options if not option.offered],
            disk_bar=Markup(plan_bars.disk_bar(need)) if need else "",  # noqa: S704 - it escapes its texts
            drills=drills,
            step=plan_figures.next_step(plan, frozen=frozen),
            figures=plan_figures,
            kind_colour=plan_bars.kind_colour,
            Markup=Markup,
            coded=_coded,
            run_number=number,
            levels=("fail", "warn", "note"),
        )
    )


def _coded(text: str) -> Markup:
    """Return a text with what stands in backticks as code; all of it is escaped."""
    parts = [escape(part) for part in text.split("`")]
    if len(parts) % 2 == 0:  # a backtick without its partner is one that a user has written
        return escape(text)
    return Markup().join(
        Markup("<code>{}</code>").format(part) if at % 2 else part for at, part in enumerate(parts)
    )


def headline(plan: Plan) -> Headline:
    """Return what the plan comes to, in one sentence, and why.

    `verdict` is a code of the report's headlines, for its colour: adopt when it fits, stopped when not.
    """
    option = taken(plan)
    if option is None:
        text = _("Nothing can be rented for it") if plan.options else _("Nothing is priced yet")
        return Headline(verdict="open", text=text, why=plan.lease_why)
    code, fit = plan_figures.fit(option, plan)
    price = plan_figures.cost(option.cost)
    if code == "breaks":
        return Headline(
            verdict="stopped", text=_("It does not fit: {fit}").format(fit=fit), why=plan.lease_why
        )
    if option.end is None:
        return Headline(verdict="open", text=price, why=plan.lease_why)
    text = _("{price}, done after {hours}").format(price=price, hours=plan_figures.hours(option.end.likely))
    return Headline(verdict="adopt" if code == "fits" else "undecided", text=text, why=plan.lease_why)


def _cards(plan: Plan, shown: Sequence[Option], number: Mapping[str, int]) -> list[Card]:
    """Return the options with pictures on one axis of time and one of money, to be compared by eye."""
    axis = axis_of([option.calendar for option in shown], plan.window_hours)
    scale = plan_bars.scale_of(plan, shown)
    return [
        Card(
            option=option,
            gantt=_small(option, axis, number),
            bar=Markup(plan_bars.cost_bar(option, scale, plan)) if scale else Markup(),  # noqa: S704 - escaped there
            notes=notes,
            chosen=option.name == plan.option,
        )
        for option, notes in zip(shown, plan_figures.notes_once(shown), strict=True)
    ]


def _small(option: Option, axis: Axis | None, number: Mapping[str, int]) -> plan_gantt.Picture | None:
    if axis is None or not option.calendar:
        return None
    return plan_gantt.small_picture(option.calendar, axis, number, leases_of(option))
