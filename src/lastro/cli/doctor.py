"""`lastro doctor`."""

from __future__ import annotations

from pathlib import Path

import click

from lastro.cli.options import as_json_option, command, disk_option
from lastro.cli.render import console, print_json
from lastro.errors import PreflightFailed
from lastro.flow.freeze import DEFAULT_DISK
from lastro.locale import _
from lastro.paths import home_root
from lastro.preflight.doctor import Ailment, Health, can_run, examine

_TONE = {Health.OK: "green", Health.WEAKER: "yellow", Health.MISSING: "bold red"}


@command()
@disk_option
@as_json_option
@click.pass_context
def doctor(ctx: click.Context, disk: Path | None, as_json: bool) -> None:
    """Tell what is missing on this machine, and what that costs.

    Python, packages, programs, rights, home and disk, shared memory, GPUs, the clock. Each is well, or weaker
    (and what is weaker then), or missing (what does not work, and how to get it). Needs no campaign; writes
    only probes, which are removed again.

    \b
    Example:
      lastro doctor
      lastro doctor --disk /mnt/disk --json
    """
    found = examine(home_root(), disk or Path.cwd() / DEFAULT_DISK)
    code = 0 if can_run(found) else PreflightFailed.exit_code
    if as_json:
        print_json({"found": [item.as_json() for item in found], "can_run": code == 0, "exit_code": code})
    else:
        _show(found)
    ctx.exit(code)


def _show(found: tuple[Ailment, ...]) -> None:
    from rich.text import Text

    screen = console()
    words = {Health.OK: _("ok"), Health.WEAKER: _("weaker"), Health.MISSING: _("missing")}
    for item in found:
        line = Text(f"{words[item.health]:<8}", style=_TONE[item.health])
        screen.print(line.append(f"{item.fact}: {item.value}", style="default"))
        if item.cost:
            screen.print(Text(f"        {item.cost}"))
        if item.cure:
            screen.print(Text(_("  next: {hint}").format(hint=item.cure), style="dim"))
    if can_run(found):
        screen.print(_("campaigns can be run here"))
    else:
        screen.print(_("nothing can be run here until what is missing and needed is there"))
