"""`lastro stop`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lastro.cli.options import as_json_option, campaign_option, command, option
from lastro.cli.render import narrator, print_json
from lastro.clock import SystemClock
from lastro.errors import StorageError
from lastro.flow.session import find_session
from lastro.flow.stopping import Stopped, request_stop, wait_for_stop
from lastro.locale import _
from lastro.paths import Home, home_root
from lastro.view.words import run_status


@command()
@click.argument("run_name", required=False, metavar="[RUN]")
@campaign_option
@option("--why", default="stopped by hand", show_default=True, help="Goes into the journal.")
@as_json_option
@click.pass_context
def stop(ctx: click.Context, run_name: str | None, campaign_file: Path, why: str, as_json: bool) -> None:
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
    damaged = [one.run.name for one in ended if one.damage]
    code = StorageError.exit_code if damaged else 0
    if as_json:
        print_json({"stopped": [_as_json(one) for one in ended], "exit_code": code})
        ctx.exit(code)
    for one in ended:
        tell(_line(one))
    if not asked:
        tell(_("nothing runs"))
    if damaged:
        raise StorageError(
            _("the last checkpoint of {names} cannot be read back").format(names=", ".join(damaged)),
            hint=_("`lastro run` goes on from the one before it; check the disk"),
        )


def _as_json(one: Stopped) -> dict[str, Any]:
    return {
        "run": one.run.id,
        "name": one.run.name,
        "status": one.run.status,
        "why": one.run.why,
        "saved_step": one.saved,
        "damage": list(one.damage),
    }


def _line(one: Stopped) -> str:
    if one.saved is None:
        return _("{run}: {status}, nothing was saved").format(
            run=one.run.name, status=run_status(one.run.status)
        )
    state = "; ".join(one.damage) or _("saved and read back")
    return _("{run}: {status} at step {step}, {state}").format(
        run=one.run.name, status=run_status(one.run.status), step=one.saved, state=state
    )
