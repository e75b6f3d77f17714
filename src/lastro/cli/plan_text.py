"""A plan in a terminal of 80 columns: runs, calendar, options, cost, disk, findings, and what to do next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.constrain import Constrain
from rich.table import Table
from rich.text import Text

from lastro.locale import _
from lastro.plan.model import Plan
from lastro.preflight.price import prices
from lastro.view import plan_figures as figures
from lastro.view import words
from lastro.view.plan_calendar import taken
from lastro.view.plan_calendar_text import calendar_lines, total_line
from lastro.view.plan_disk_text import cost_lines, disk_lines
from lastro.view.plan_ladder_text import ladder_lines
from lastro.view.plan_learned_text import learned_lines
from lastro.view.plan_options_text import option_lines

#: Wider lines are no easier to read.
_WIDEST = 100
#: In fewer columns only the names of the runs are told, and what they decide.
_ROOM = 60
_TONE = {"fail": "bold red", "warn": "yellow", "note": "dim"}


def plan_text(
    plan: Plan, drills: Sequence[Mapping[str, Any]], *, frozen: bool, width: int = 80, show_all: bool = False
) -> RenderableType:
    """Return what `lastro plan` shows in `width` columns. `show_all`: each offer that is refused, too."""
    width = min(width, _WIDEST)
    option = taken(plan)
    parts: list[RenderableType] = [_head(plan), _runs(plan, width), *calendar_lines(plan, width)]
    total = total_line(plan)
    parts += [total] if total is not None else []
    parts += _apart(Text(line) for line in learned_lines(plan))
    if plan.options:
        parts += _apart(option_lines(plan, width, show_all=show_all))
    else:
        parts.append(Text(_("Cost: unknown, {why}.").format(why=plan.lease_why)))
    if option is not None and option.cost.lines:
        parts += _apart(cost_lines(option.name, option.cost, width))
    parts += _apart(Text(line) for line in ladder_lines(plan))
    parts += _apart(disk_lines(plan.disk_need, width))
    parts += _apart(_findings(plan))
    parts += ["", _preflighted(plan), _drilled(drills), _ending(plan, frozen=frozen)]
    return Constrain(Group(*parts), width)


def _apart(lines: Iterable[RenderableType]) -> list[RenderableType]:
    """Return lines with an empty one before them, and nothing when there are none."""
    found = list(lines)
    return ["", *found] if found else []


def _head(plan: Plan) -> RenderableType:
    text = Text(plan.campaign, style="bold")
    if plan.question:
        text.append(f"  {plan.question}", style="default")
    limits = [
        _("window {window}").format(window=figures.hours(plan.window_hours))
        if plan.window_hours
        else _("no window"),
        _("budget {budget}").format(budget=plan.budget) if plan.budget else _("no budget"),
        _("on {provider}, {count} at once").format(provider=plan.provider, count=plan.machines),
    ]
    return Group(text, Text(" · ".join(limits)))


def _runs(plan: Plan, width: int) -> RenderableType:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, expand=False)
    decided = plan.decision is not None
    wide = width >= _ROOM
    heads = [_("run"), _("what it decides") if decided else _("changes")]
    if wide:
        heads = [heads[0], _("priority"), heads[1], _("id")]
    for head in heads:
        table.add_column(head, overflow="fold")
    for run in plan.runs:
        changes = ", ".join(f"{key}: {run.config[key]}" for key in run.changes)
        what = (decided and run.decides) or changes or "–"
        if wide:
            table.add_row(run.name, words.priority(run.priority), what, run.id)
        else:
            table.add_row(run.name, what)
    for name in plan.left_out:
        table.add_row(name, *([""] if wide else []), _("left out of the reduced protocol"), style="dim")
    return table


def _findings(plan: Plan) -> Iterator[RenderableType]:
    """Yield what the reader should know, the worst first."""
    for level, tone in _TONE.items():
        for text in (one.text for one in plan.findings if one.level == level):
            yield Text.assemble((words.finding_level(level), tone), ": ", text)


def _preflighted(plan: Plan) -> RenderableType:
    """Say what the check of each machine may take and cost, before the first attempt on it."""
    told = "; ".join(price.text for price in prices(plan.lease))
    return Text(_("Preflight of each machine: {sizes}.").format(sizes=told), style="dim")


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


def _ending(plan: Plan, *, frozen: bool) -> RenderableType:
    state = (
        _("Frozen as {digest}.").format(digest=plan.digest()[:16])
        if frozen
        else _("Not frozen, nothing rented or written.")
    )
    return Text(_("{state} Next: {step}").format(state=state, step=figures.next_step(plan, frozen=frozen)))
