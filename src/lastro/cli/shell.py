"""`lastro shell`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from lastro.cli.options import (
    WithCommand,
    as_json_option,
    campaign_option,
    command_after_dashes,
    option,
    ssh_config_option,
)
from lastro.cli.render import narrator, print_json
from lastro.clock import SystemClock
from lastro.errors import UsageError
from lastro.flow.shell import Wish, open_shell
from lastro.locale import _
from lastro.paths import Home, home_root


@click.command(cls=WithCommand)
@click.argument("machine", required=False, metavar="[MACHINE]")
@campaign_option
@option(
    "--forward",
    "forwards",
    multiple=True,
    metavar="PORT[:REMOTE]",
    help="A port of this computer that leads to the machine's, as for a notebook.",
)
@ssh_config_option
@as_json_option
@click.pass_context
def shell(
    ctx: click.Context,
    machine: str | None,
    campaign_file: Path,
    forwards: tuple[str, ...],
    as_json: bool,
) -> None:
    """Open a terminal on a machine of the campaign, or run one command there.

    It has the campaign's environment: caches on the disk, the job's Python, the run's folder. While it is
    open the machine is not let go as idle; the end of its lease, its budget and the window end it all the
    same. When its connection is lost, it is ended within the campaign's `silence`. The exit code is the
    command's.

    \b
    Example:
      lastro shell
      lastro shell -- nvidia-smi
      lastro shell --forward 8888 -- jupyter lab --no-browser
    """
    words = command_after_dashes(ctx)
    if words == ():
        raise UsageError(_("there is no command after `--`"))
    if as_json and words is None:
        raise UsageError(
            _("--json is for a command, and there is none after `--`"),
            hint=_("what it prints goes to standard error then"),
        )
    wish = Wish(
        campaign_file=campaign_file,
        machine=machine,
        command=words,
        forwards=forwards,
        terminal=sys.stdin.isatty() and sys.stdout.isatty() and not as_json,
        aside=as_json,
    )
    left = open_shell(wish, Home(home_root()), SystemClock(), narrator(stderr=True))
    if as_json:
        print_json({**left.as_json(), "exit_code": left.code})
    ctx.exit(left.code)
