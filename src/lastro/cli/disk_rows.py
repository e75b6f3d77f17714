"""Disks in a terminal, the same for every command that shows some."""

from __future__ import annotations

from collections.abc import Sequence

from lastro.cli.options import option
from lastro.cli.render import console, print_json
from lastro.flow.disks import DiskRow, idle_cost
from lastro.locale import _
from lastro.units import show_bytes

provider_option = option(
    "--on", "provider", default="local", show_default=True, metavar="PROVIDER", help="Whose disks."
)


def show_rows(rows: Sequence[DiskRow], *, as_json: bool, idle: bool = False) -> None:
    """Print disks; with `idle` also what those cost that nobody holds."""
    if as_json:
        print_json({"disks": [row.as_json() for row in rows], "exit_code": 0})
        return
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name, justify in (
        (_("disk"), "left"),
        (_("size"), "right"),
        (_("used"), "right"),
        (_("zone"), "left"),
        (_("a month"), "right"),
        (_("held by"), "left"),
    ):
        table.add_column(name, justify="right" if justify == "right" else "left", overflow="fold")
    for row in rows:
        held = ", ".join(f"{one.machine} ({one.path})" for one in row.disk.attachments)
        table.add_row(
            row.disk.request.name,
            show_bytes(row.disk.request.bytes),
            show_bytes(row.used),
            row.disk.request.zone or _("unknown"),
            str(row.disk.month) if row.disk.month else _("unknown"),
            held or _("nobody"),
        )
    screen = console()
    if rows:
        screen.print(table)
    else:
        screen.print(_("there are no disks"))
    if idle:
        _show_idle(rows)


def _show_idle(rows: Sequence[DiskRow]) -> None:
    names = [row.disk.request.name for row in rows if row.idle]
    if not names:
        return
    sums, unknown = idle_cost(rows)
    cost = [str(amount) for amount in sums]
    if unknown:
        cost.append(_("an unknown price for {count}").format(count=unknown))
    text = _("{names}: nobody holds them, and they cost {cost} a month")
    console().print(text.format(names=", ".join(names), cost=_(" and ").join(cost)), markup=False)
