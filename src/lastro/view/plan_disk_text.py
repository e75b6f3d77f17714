"""What the disk of a plan has to hold, and what an option costs, line by line, in a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from lastro.locale import _
from lastro.plan.parts import Cost, DiskNeed
from lastro.units import show_bytes
from lastro.view import plan_figures as figures
from lastro.view import show, words

_BAR = 20
_LONGEST_NAME = 36


def cost_lines(name: str, cost: Cost, width: int) -> Iterator[RenderableType]:
    """Yield the bill of an option: kind, quantity and amount, and below each where its price comes from."""
    yield Text(_("Cost of {name}").format(name=name), style="dim")
    for line in cost.lines:
        around = figures.cost_range(line.low, line.high)
        amount = show.money(line.amount) + (f" ({around})" if around else "")
        what = f"{words.cost_kind(line.kind)}  {line.name}, {line.quantity}"
        yield Padding(_leading(what, amount, width - 2), (0, 0, 0, 2))
        yield Padding(Text(line.why, style="dim"), (0, 0, 0, 4))
    if len(cost.lines) > 1 or cost.total is None:
        yield Padding(_leading(_("in all"), figures.cost(cost), width - 2), (0, 0, 0, 2))
    if cost.total is None and cost.why:
        yield Padding(Text(cost.why, style="yellow"), (0, 0, 0, 4))


def _leading(left: str, right: str, width: int) -> Text:
    """Return both at the ends of one line; where they do not fit, one after the other."""
    gap = width - len(left) - len(right)
    return Text(left + (" " * gap if gap >= 2 else "  ") + right)


def disk_lines(need: DiskNeed | None, width: int) -> Iterator[RenderableType]:
    """Yield the parts of the disk, their sum with its slack, and the size to rent; nothing without parts."""
    if need is None or not need.parts:
        return
    rent = show_bytes(need.recommended) if need.recommended is not None else show.unknown()
    row = _(", as {row}").format(row=need.row) if need.row else ""
    yield Text(
        _("Disk: {size}{row}").format(size=rent, row=row) + ("" if need.complete else ", " + _("incomplete"))
    )
    largest = max((part.bytes or 0 for part in need.parts), default=0) or 1
    named = min(_LONGEST_NAME, max(len(part.name) for part in need.parts))
    for part in need.parts:
        size = show.unknown() if part.bytes is None else show_bytes(part.bytes)
        cells = 0 if part.bytes is None else max(1, round(part.bytes / largest * _BAR))
        text = Text("  " + show.shortened(part.name, named).ljust(named) + " " + size.rjust(8) + " ")
        if text.cell_len + _BAR < width:
            text.append("█" * cells, style="cyan")
            text.append("·" * (_BAR - cells) + " ", style="dim")
        short = part.why if len(part.why) + text.cell_len <= width else ""
        text.append(short, style="dim")
        yield text
        if not short:
            yield Padding(Text(part.why, style="dim"), (0, 0, 0, 4))
    yield Padding(Text(need.why, style="dim"), (0, 0, 0, 2))
