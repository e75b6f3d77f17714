"""`lastro disk usage`."""

from __future__ import annotations

from pathlib import Path

from lastro.cli.given import given_by
from lastro.cli.options import as_json_option, command, disk_option, option
from lastro.cli.render import console, print_json
from lastro.clock import SystemClock
from lastro.disk.room.usage import Usage
from lastro.flow.room import usage_by_hand
from lastro.locale import _
from lastro.paths import Home, home_root
from lastro.units import Money, parse_money, show_bytes, show_duration


@command()
@disk_option
@option(
    "--price",
    metavar="MONEY",
    callback=given_by(parse_money),
    help="Of 1 GB for a month.",
)
@as_json_option
def disk_usage(disk: Path | None, price: Money | None, as_json: bool) -> None:
    """Show who uses what on the disk, what it costs a month, when it is full, and what packing would save.

    Each look keeps a sample of the sum, so the growth is known from the second one on.

    \b
    Example:
      lastro disk usage
      lastro disk usage --disk /mnt/disk --price "0.07 USD"
    """
    found = usage_by_hand(disk, price, Home(home_root()), SystemClock())
    if as_json:
        print_json({**found.as_json(), "exit_code": 0})
    else:
        _show(found)


def _show(found: Usage) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column(_("part"), overflow="fold")
    for name in (_("files"), _("size"), _("a month")):
        table.add_column(name, justify="right")
    for part in found.parts:
        month = str(part.month) if part.month else _("unknown")
        table.add_row(part.name, str(part.files), show_bytes(part.bytes), month)
    screen = console()
    screen.print(table)
    text = _("{used} used, {free} free").format(used=show_bytes(found.used), free=show_bytes(found.free))
    if found.planned is not None:
        text += _("; the plans want {size}").format(size=show_bytes(found.planned))
    screen.print(Text(text))
    screen.print(Text(_growth(found)))
    for each in found.packable:
        told = _("{files} small files in {folder}: a pack of {shards} shards takes {saved} less")
        screen.print(
            Text(
                told.format(
                    files=each.files, folder=each.folder, shards=each.shards, saved=show_bytes(each.saved)
                )
            )
        )


def _growth(found: Usage) -> str:
    if found.bytes_a_day is None:
        return _("growth: unknown; it is told from the second look on, ten minutes later")
    if found.full_in is None:
        return _("growth: none")
    return _("growth: {size} a day; full in {time}").format(
        size=show_bytes(round(found.bytes_a_day)), time=show_duration(found.full_in)
    )
