"""`lastro logs`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from lastro.cli.options import campaign_option, command, option
from lastro.clock import SystemClock
from lastro.flow.logs import follow_log, pick_run, read_log
from lastro.flow.refresh import refresh
from lastro.flow.session import find_session
from lastro.paths import Home, home_root


@command()
@click.argument("run_name", required=False, metavar="[RUN]")
@campaign_option
@option("-f", "--follow", is_flag=True, help="Go on with what is printed until the run has ended.")
def logs(run_name: str | None, campaign_file: Path, follow: bool) -> None:
    """Show what a run has printed, over all its attempts.

    Without RUN: the run that is alive, else the one that ended last.

    \b
    Example:
      lastro logs -f
      lastro logs control
    """
    session = find_session(Home(home_root()), SystemClock(), campaign_file)
    refresh(session)
    run = pick_run(session.view(), run_name)
    lines = follow_log(session, run, SystemClock()) if follow else read_log(session, run)
    for chunk in lines:
        sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()
