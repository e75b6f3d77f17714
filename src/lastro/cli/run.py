"""`lastro run`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lastro.cli.options import as_json_option, campaign_argument, command, disk_option, option
from lastro.cli.render import console, narrator, print_json
from lastro.clock import SystemClock
from lastro.flow.campaign import Outcome, Wish, run_campaign
from lastro.locale import _
from lastro.paths import Home, home_root
from lastro.view.as_json import page_json
from lastro.view.terminal import status, summary


@command()
@campaign_argument
@option("--on", metavar="PROVIDER", help="Where: here or local. Wins over the campaign file.")
@option("--only", metavar="RUN", help="Carry out this run alone; nothing is closed.")
@disk_option
@option(
    "--faults",
    type=click.Path(path_type=Path),
    help="A script of faults to rehearse with; only machines of the local provider can be lost.",
)
@option("--close/--no-close", default=True, help="Whether to end with reloading, conclusion and report.")
@option("--revise", metavar="WHY", help="Why the campaign file differs from the frozen plan.")
@as_json_option
@click.pass_context
def run(ctx: click.Context, /, as_json: bool, **wish: Any) -> None:
    """Run the campaign, or one run of it, to the end.

    Freezes the plan, rents, checks each machine, runs and restarts, replaces machines that vanish, reloads
    every output in another process and writes the report. Whatever ends this command, the same command
    goes on where it stopped. Ctrl-C leaves the runs running.

    \b
    Example:
      lastro run
      lastro run campaign.yaml --on local --faults faults.yaml --json
    """
    tell = narrator(stderr=as_json)
    try:
        outcome = run_campaign(Wish(**wish), Home(home_root()), SystemClock(), tell)
    except KeyboardInterrupt:
        tell(_("left; what runs goes on. `lastro status` shows it, `lastro stop` saves and ends it"))
        raise
    _show(outcome, as_json)
    ctx.exit(outcome.exit_code)


def _show(outcome: Outcome, as_json: bool) -> None:
    if as_json:
        print_json({**page_json(outcome.page), "halted": outcome.halted, "exit_code": outcome.exit_code})
        return
    screen = console()
    screen.print(status(outcome.page) if outcome.halted else summary(outcome.page))
    if outcome.halted:
        screen.print(_("halted: {why}").format(why=outcome.halted))
