"""The options of a plan in a terminal: figures in columns to choose by, and below each what and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from lastro.locale import _, ngettext
from lastro.plan.model import Plan
from lastro.plan.parts import Option
from lastro.view import plan_figures as figures
from lastro.view import show, words
from lastro.view.plan_calendar import offered, taken

#: Refused offers that are shown; a market may have thousands.
SHOWN = 10
#: Where a name would have less room beside its figures, they stand below it.
_SHORTEST_NAME = 16


def option_lines(plan: Plan, width: int, *, show_all: bool) -> Iterator[RenderableType]:
    """Yield the options, those that are offered first. `show_all`: every one that is refused, too."""
    mine = offered(plan)
    bounded = any(option.bound for option in mine)
    figured = [_figures(option, plan) for option in mine]
    widths = [max(cell_len(cell) for cell in column) for column in zip(_heads(), *figured, strict=True)]
    named = width - 2 - sum(widths) - 2 * len(widths)
    in_columns = bool(mine) and named >= _SHORTEST_NAME
    if in_columns:
        yield _row("  ", _("option"), _heads(), named, widths, "dim")
    elif mine:
        yield Text(_("Options"), style="dim")
    for option, row, notes in zip(mine, figured, figures.notes_once(mine), strict=True):
        column = named if in_columns else None
        yield from _option(option, plan, row, column, widths, notes=notes, bounded=bounded)
    if mine and not bounded:
        yield Text(figures.no_bound(), style="dim")
    if plan.lease is None:
        yield Text(plan.lease_why)
    elif taken(plan) is None:
        yield Text(_("Taken: {why}.").format(why=plan.lease_why))
    yield from _refused([option for option in plan.options if not option.offered], show_all=show_all)


def _heads() -> tuple[str, ...]:
    return _("cost"), _("end"), _("slack"), _("late"), _("too dear")


def _figures(option: Option, plan: Plan) -> tuple[str, ...]:
    return (
        figures.cost(option.cost),
        figures.short_hours(option.end.likely if option.end else None),
        "–" if plan.window_hours is None else figures.short_hours(option.slack_hours),
        figures.chance_late(option, plan),
        figures.chance_dear(option, plan),
    )


def _row(
    mark: str, name: str, cells: Sequence[str], named: int, widths: Sequence[int], style: str
) -> RenderableType:
    told = "".join(
        "  " + " " * (size - cell_len(cell)) + cell for cell, size in zip(cells, widths, strict=True)
    )
    short = show.shortened(name, named)
    return Text(mark + short + " " * (named - cell_len(short)) + told, style=style, no_wrap=True)


def _option(
    option: Option,
    plan: Plan,
    row: Sequence[str],
    named: int | None,
    widths: Sequence[int],
    *,
    notes: Sequence[str],
    bounded: bool,
) -> Iterator[RenderableType]:
    chosen = option.name == plan.option
    mark = "→ " if chosen else "  "
    if named is None:
        yield Text(mark + option.name, style="bold")
        told = [f"{head} {cell}" for head, cell in zip(_heads(), row, strict=True)]
        yield Padding(Text(" · ".join(told)), (0, 0, 0, 4))
    else:
        yield _row(mark, option.name, row, named, widths, "bold")
    code, fit = figures.fit(option, plan)
    roles = [_("taken")] if chosen else []
    roles += [words.option_role(role) for role in option.roles]
    head = Text.assemble((fit, {"fits": "green", "breaks": "red"}.get(code, "yellow")))
    head.append(" · " + " · ".join(roles) if roles else "")
    below = [
        head,
        Text(" · ".join(_facts(option, plan, bounded=bounded)), style="dim"),
        Text(option.why),
    ]
    below += [Text(note, style="dim") for note in notes]
    yield from (Padding(line, (0, 0, 0, 4)) for line in below)


def _facts(option: Option, plan: Plan, *, bounded: bool) -> Iterator[str]:
    yield figures.holdings(option)
    around = figures.cost_range(option.cost.low, option.cost.high)
    if around:
        yield _("cost {range}").format(range=around)
    each = figures.per_unit(option, plan)
    if each:
        yield each
    if bounded:
        yield figures.bound(option, plan)


def _refused(options: Sequence[Option], *, show_all: bool) -> Iterator[RenderableType]:
    if not options:
        return
    yield Text(_("Refused"), style="dim")
    shown = options if show_all else options[:SHOWN]
    for option in shown:
        yield Padding(Text(f"{option.name}: {option.why}", style="dim"), (0, 0, 0, 2))
    more = len(options) - len(shown)
    if more:
        text = ngettext("and {n} more: --all shows it", "and {n} more: --all shows them", more)
        yield Padding(Text(text.format(n=more), style="dim"), (0, 0, 0, 2))
