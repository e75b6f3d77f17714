"""`lastro logs`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from lastro.cli.options import campaign_option, command, option, ssh_config_option
from lastro.cli.render import narrator
from lastro.clock import SystemClock
from lastro.flow.logs import follow_log, pick_run, read_log
from lastro.flow.refresh import refresh
from lastro.flow.session import find_session
from lastro.locale import _
from lastro.paths import Home, home_root


@command()
@click.argument("run_name", required=False, metavar="[RUN]")
@campaign_option
@option("-f", "--follow", is_flag=True, help="Go on with what is printed until the run has ended.")
@ssh_config_option
def logs(run_name: str | None, campaign_file: Path, follow: bool) -> None:
    """Show what a run has printed, over all its attempts.

    Without RUN: the run that is alive, else the one that ended last. Reads only. With -f a machine that does
    not answer is asked again; Ctrl-C ends this command, and nothing else.

    \b
    Example:
      lastro logs -f
      lastro logs control
    """
    session = find_session(Home(home_root()), SystemClock(), campaign_file)
    tell = narrator(stderr=True)
    stale = refresh(session, reading=True)
    if stale is not None:
        tell(_("as it was when it was heard last: {why}").format(why=stale))
    run = pick_run(session.view(), run_name)
    lines = follow_log(session, run, SystemClock(), tell) if follow else read_log(session, run)
    for chunk in lines:
        sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()
