"""A decision that is waited for, in a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from lastro.flow.waiting import Waiting
from lastro.locale import _
from lastro.plan.model import Plan
from lastro.plan.parts import Option
from lastro.units import show_duration
from lastro.view import show
from lastro.view.plan_learned_text import learned_lines


def waiting_text(waiting: Waiting) -> RenderableType:
    """Return the options drawn up again, and what waiting costs. The page shows what was measured."""
    parts: list[RenderableType] = [Text(), _title(_("Options, drawn up again with what was measured"))]
    parts.append(_options(waiting))
    parts += [_indented(text) for text in _learned(waiting.updated)]
    parts += [
        _indented(
            _("Each is the whole campaign from its beginning: what is done and paid is not taken off.")
        ),
        Text(),
        _title(_("While nobody decides")),
        *(_indented(f"{one.what}: {one.why}") for one in waiting.billing),
    ]
    return Group(*parts)


def waiting_json(waiting: Waiting) -> dict[str, Any]:
    """Return it for programs."""
    return {
        "stage": waiting.decision.stage,
        "choice": waiting.decision.choice,
        "why": waiting.why,
        "measured": dict(waiting.decision.measured),
        "planned": _plan_json(waiting.planned),
        "updated": _plan_json(waiting.updated),
        "estimates": [one.as_json() for one in waiting.updated.estimates],
        "still_billing": [one.as_json() for one in waiting.billing],
    }


def _plan_json(plan: Plan) -> dict[str, Any]:
    return {
        "total_hours": plan.total_hours.likely if plan.total_hours else None,
        "slack_hours": plan.slack_hours,
        "options": [option.as_json() for option in plan.options if option.offered],
    }


def _title(text: str) -> Text:
    return Text(text, style="bold")


def _indented(text: str) -> RenderableType:
    return Padding(Text(text), (0, 0, 0, 2), expand=False)


def _options(waiting: Waiting) -> RenderableType:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim", show_edge=False)
    for name in (_("option"), _("ends after"), _("as frozen"), _("costs"), _("as frozen"), _("late")):
        table.add_column(name, justify="left" if name == _("option") else "right", overflow="fold")
    before = {option.name: option for option in waiting.planned.options if option.offered}
    offered = [option for option in waiting.updated.options if option.offered]
    for option in offered:
        then = before.get(option.name)
        table.add_row(
            option.name, _end(option), _end(then), _cost(option), _cost(then), _late(option),
        )  # fmt: skip
    if not offered:
        total, then_total = waiting.updated.total_hours, waiting.planned.total_hours
        table.add_row(
            _("nothing is rented"),
            _hours(total.likely if total else None),
            _hours(then_total.likely if then_total else None),
            "–",
            "–",
            "–",
        )
    return Padding(table, (0, 0, 0, 2), expand=False)


def _learned(plan: Plan) -> Iterator[str]:
    if not plan.estimates:
        yield _("no duration was measured that would change them")
    yield from learned_lines(plan)


def _hours(hours: float | None) -> str:
    return show.unknown() if hours is None else show_duration(timedelta(hours=hours))


def _end(option: Option | None) -> str:
    return "–" if option is None else _hours(option.end.likely if option.end else None)


def _cost(option: Option | None) -> str:
    if option is None:
        return "–"
    if option.cost.total is None and option.cost.at_least is not None:
        return f"≥ {option.cost.at_least}"
    return show.money(option.cost.total)


def _late(option: Option) -> str:
    return "–" if option.p_late is None else f"{option.p_late:.0%}"
