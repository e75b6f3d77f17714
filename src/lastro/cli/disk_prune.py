"""`lastro disk prune`."""

from __future__ import annotations

from pathlib import Path

import click

from lastro.cli.options import as_json_option, command, disk_option, option
from lastro.cli.render import console, print_json
from lastro.clock import SystemClock
from lastro.disk.room.prune import Action
from lastro.errors import StorageError
from lastro.flow.room import Pruned, prune_by_hand
from lastro.locale import _
from lastro.paths import Home, home_root
from lastro.units import show_bytes


@command()
@disk_option
@option("--dry-run/--apply", default=True, show_default=True, help="Say what would go, or let it go.")
@option("--archive-closed", is_flag=True, help="Make one compressed file of each closed campaign.")
@as_json_option
@click.pass_context
def disk_prune(
    ctx: click.Context, disk: Path | None, dry_run: bool, archive_closed: bool, as_json: bool
) -> None:
    """Say what can go from the disk, and why; with --apply let it go.

    Only what can be had again is removed: what killed writes and downloads have left, kernels of machines
    that are rented no more. An archive is read back before what it holds goes.

    \b
    Example:
      lastro disk prune
      lastro disk prune --apply
      lastro disk prune --archive-closed --apply
    """
    done = prune_by_hand(disk, Home(home_root()), SystemClock(), apply=not dry_run, archive=archive_closed)
    code = StorageError.exit_code if done.problems else 0
    if as_json:
        print_json({**done.as_json(), "exit_code": code})
    else:
        _show(done)
    ctx.exit(code)


def _show(done: Pruned) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    words = {Action.KEEP: _("stays"), Action.REMOVE: _("goes"), Action.ARCHIVE: _("is archived")}
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in (_("what"), _("size"), "", _("why")):
        table.add_column(name, overflow="fold", justify="right" if name == _("size") else "left")
    for choice in done.choices:
        table.add_row(choice.thing.path, show_bytes(choice.thing.bytes), words[choice.action], choice.why)
    screen = console()
    screen.print(table)
    freed = show_bytes(done.freed)
    text = _("{size} are free again") if done.applied else _("{size} would be free; --apply does it")
    screen.print(Text(text.format(size=freed)))
    for problem in done.problems:
        screen.print(Text(_("not done: {problem}").format(problem=problem)))
