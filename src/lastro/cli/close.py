"""`lastro close`."""

from __future__ import annotations

from pathlib import Path

import click

from lastro.cli.options import as_json_option, campaign_option, command
from lastro.cli.render import narrator, print_json, show
from lastro.clock import SystemClock
from lastro.flow.closing import close_session
from lastro.flow.session import find_session
from lastro.paths import Home, home_root
from lastro.view.as_json import page_json
from lastro.view.terminal import summary


@command()
@campaign_option
@as_json_option
@click.pass_context
def close(ctx: click.Context, campaign_file: Path, as_json: bool) -> None:
    """Reload every output, add up the cost, conclude.

    Also before every run has ended: what is missing then is told, and the answer may be `undecided`.

    \b
    Example:
      lastro close
      lastro close --json
    """
    clock = SystemClock()
    session = find_session(Home(home_root()), clock, campaign_file)
    closing = close_session(session, clock, narrator(stderr=as_json))
    if as_json:
        print_json({**page_json(closing.page), "exit_code": closing.exit_code})
    else:
        show(summary(closing.page))
    ctx.exit(closing.exit_code)
