"""`lastro disk guard`."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import click

from lastro.cli.options import as_json_option, command, disk_option, option
from lastro.cli.render import console, print_json
from lastro.clock import SystemClock
from lastro.disk.guard.find import Found, Item, spelled
from lastro.disk.guard.rescue import Rescued
from lastro.errors import GuardRefused
from lastro.flow.guard_by_hand import Guarded, Wish, guard_by_hand
from lastro.locale import _
from lastro.paths import Home, home_root
from lastro.units import show_bytes

_SHOWN = 20


@command()
@option("--machine", metavar="ID", help="A machine that lastro has made; without: this one.")
@disk_option
@option("--since", metavar="TIME", help="Files since then: 2h, 3d. Without: since this machine began.")
@option("--rescue", is_flag=True, help="Copy everything to the disk; read it back, record it.")
@option("--let-go", "let_go", multiple=True, metavar="ID|all", help="It may be lost; may be given again.")
@option("--why", help="Why that may be lost; it is recorded.")
@as_json_option
@click.pass_context
def disk_guard(
    ctx: click.Context,
    machine: str | None,
    disk: Path | None,
    since: str | None,
    rescue: bool,
    let_go: tuple[str, ...],
    why: str | None,
    as_json: bool,
) -> None:
    """Find what of value would be lost if the machine went now.

    Looks at every file of every file system that is not known to outlive the machine, and ranks what is left
    when all that can be had again is taken away: installed packages, downloads, equal copies on the disk.
    Until that is rescued or let go, lastro refuses to delete the machine.

    \b
    Example:
      lastro disk guard
      lastro disk guard --disk /mnt/disk --rescue
      lastro disk guard --let-go 1f0c22ab --why "an experiment that failed"
    """
    wish = Wish(machine=machine, disk=disk, since=since, rescue=rescue, let_go=let_go, why=why)
    done = guard_by_hand(wish, Home(home_root()), SystemClock(), os.environ)
    code = GuardRefused.exit_code if done.left else 0
    if as_json:
        print_json({**done.as_json(), "exit_code": code})
    else:
        _show(done)
    ctx.exit(code)


def _show(done: Guarded) -> None:
    from rich.text import Text

    screen = console()
    for one in done.rescued:
        screen.print(Text(_of_rescued(one)), soft_wrap=True)
    for item in done.let_go:
        screen.print(Text(_("let go: {path}").format(path=_shown(item.path))), soft_wrap=True)
    if done.left:
        _table(done.left)
    screen.print(Text(_sum(done.found, done.left)))
    for passed in done.found.passed:
        text = _("  not counted: {files} files, {bytes}: {why}")
        screen.print(Text(text.format(files=passed.files, bytes=show_bytes(passed.bytes), why=passed.why)))
    for point, reason in done.found.not_looked_at:
        screen.print(Text(_("  not looked at: {point}: {why}").format(point=point, why=reason)))
    if done.found.unreadable:
        text = _("  could not be looked into: {count} folders, such as {first}")
        first = _shown(done.found.unreadable[0])
        screen.print(Text(text.format(count=len(done.found.unreadable), first=first)))
    if done.left:
        screen.print(Text(_("  next: --rescue copies them to the disk; --let-go ID --why REASON lets go")))


def _table(left: tuple[Item, ...]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column(_("id"))
    table.add_column(_("what"))
    table.add_column(_("size"), justify="right")
    table.add_column(_("where"), overflow="fold")
    for item in left[:_SHOWN]:
        where = _shown(item.path) + (f" ({item.why})" if item.why else "")
        table.add_row(item.id, item.kind.text, show_bytes(item.size), where)
    console().print(table)
    more = Counter(str(Path(item.path).parent) for item in left[_SHOWN:])
    for folder, count in more.most_common(5):
        text = _("  and {count} more in {folder}").format(count=count, folder=_shown(folder))
        console().print(text, markup=False)
    rest = sum(more.values()) - sum(count for _folder, count in more.most_common(5))
    if rest:
        console().print(_("  and {count} more elsewhere").format(count=rest))


def _of_rescued(one: Rescued) -> str:
    if one.copy is None:
        return _("not rescued: {path}: {why}").format(path=_shown(one.item.path), why=one.problem)
    text = _("rescued: {path} -> {copy}").format(path=_shown(one.item.path), copy=_shown(one.copy))
    return text if one.problem is None else f"{text}; {one.problem}"


def _shown(path: str) -> str:
    """Return a path as it can be printed: odd bytes and line breaks as escapes."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in spelled(path))


def _sum(found: Found, left: tuple[Item, ...]) -> str:
    if not left:
        return _("nothing of value would be lost: {files} files looked at in {seconds:.1f} s").format(
            files=found.files, seconds=found.seconds
        )
    text = _("{count} files of value ({bytes}) would be lost; {files} looked at in {seconds:.1f} s")
    return text.format(
        count=len(left),
        bytes=show_bytes(sum(item.size for item in left)),
        files=found.files,
        seconds=found.seconds,
    )
