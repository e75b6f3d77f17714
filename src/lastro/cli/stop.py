"""`lastro stop`."""

from __future__ import annotations

from pathlib import Path

import click

from lastro.cli.options import as_json_option, campaign_option
from lastro.cli.render import narrator, print_json
from lastro.clock import SystemClock
from lastro.flow.session import find_session
from lastro.flow.stopping import request_stop, wait_for_stop
from lastro.locale import _
from lastro.paths import Home, home_root


@click.command()
@click.argument("run_name", required=False, metavar="[RUN]")
@campaign_option
@click.option("--why", default="stopped by hand", show_default=True, help="Goes into the journal.")
@as_json_option
def stop(run_name: str | None, campaign_file: Path, why: str, as_json: bool) -> None:
    """Save and end what runs, so that `lastro run` can go on.

    Each run saves at its next safe point; after its grace it is ended without. Without RUN: all that run.

    \b
    Example:
      lastro stop
      lastro stop shift --why "the card is needed elsewhere"
    """
    clock = SystemClock()
    session = find_session(Home(home_root()), clock, campaign_file)
    asked = request_stop(session, run_name, why)
    tell = narrator(stderr=as_json)
    for run in asked:
        tell(_("{run}: asked to save and end").format(run=run.name))
    ended = wait_for_stop(session, asked, clock)
    if as_json:
        print_json(
            {
                "stopped": [
                    {"run": run.id, "name": run.name, "status": run.status, "why": run.why} for run in ended
                ]
            }
        )
        return
    for run in ended:
        life = run.attempts[-1]
        tell(
            _("{run}: {status}, saved at step {step}").format(
                run=run.name,
                status=run.status,
                step=life.committed_step if life.committed_step is not None else "-",
            )
        )
    if not asked:
        tell(_("nothing runs"))
