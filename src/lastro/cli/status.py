"""`lastro status`."""

from __future__ import annotations

import time
from pathlib import Path

import click

from lastro.cli.options import as_json_option, campaign_option, command
from lastro.cli.render import print_json, show
from lastro.clock import SystemClock
from lastro.flow.live import live_of
from lastro.flow.money import may_bill
from lastro.flow.releasing import given_up, left_behind, told_of
from lastro.flow.session import find_session
from lastro.flow.waiting import still_billing
from lastro.paths import Home, home_root
from lastro.view.as_json import page_json
from lastro.view.gather import page_from
from lastro.view.terminal import status as status_view


@command()
@campaign_option
@as_json_option
def status(campaign_file: Path, as_json: bool) -> None:
    """Show what runs, what it has cost, what is at risk.

    Reads only: it can be asked at any time, from any terminal of this home.

    \b
    Example:
      lastro status
      lastro status --json
    """
    session = find_session(Home(home_root()), SystemClock(), campaign_file)
    view = session.view()
    left = left_behind(session, view)
    page = page_from(session.on_disk, view, live=live_of(session, view, time.monotonic()), curves=as_json)
    if as_json:
        unattended = [machine.id or machine.tag for machine in left]
        doubtful = [machine.id for machine in given_up(view)]
        print_json({**page_json(page), "unattended": unattended, "may_bill": doubtful, "exit_code": 0})
        return
    show(status_view(page))
    if view.open_decision is not None:
        for one in still_billing(view):
            click.echo(f"{one.what}: {one.why}")
    for machine in given_up(view):
        click.echo(may_bill(machine))
    for machine in left:
        click.echo(told_of(machine, view))
