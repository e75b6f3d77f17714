"""`lastro stop`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lastro.cli.options import as_json_option, campaign_option, command, option, ssh_config_option
from lastro.cli.render import narrator, print_json
from lastro.clock import SystemClock
from lastro.errors import StorageError, UsageError
from lastro.flow.declared_gone import declare_gone
from lastro.flow.money import bill_of
from lastro.flow.releasing import Released, release
from lastro.flow.rented import left_behind, told_of
from lastro.flow.session import find_session
from lastro.flow.stopping import Stopped, request_stop, wait_for_stop
from lastro.journal.views import MachineView
from lastro.locale import _
from lastro.paths import Home, home_root
from lastro.view.words import run_status


@command()
@click.argument("run_name", required=False, metavar="[RUN]")
@campaign_option
@option("--why", default="stopped by hand", show_default=True, help="Goes into the journal.")
@option(
    "--release",
    "with_release",
    is_flag=True,
    help="Then let the machines go, so that nothing bills any more.",
)
@ssh_config_option
@option(
    "--gone",
    metavar="MACHINE",
    help="Record that a machine which does not answer is gone, as its provider's page shows; say --why.",
)
@as_json_option
@click.pass_context
def stop(
    ctx: click.Context,
    run_name: str | None,
    campaign_file: Path,
    why: str,
    with_release: bool,
    gone: str | None,
    as_json: bool,
) -> None:
    """Save and end what runs, so that `lastro run` can go on.

    Each run saves at its next safe point; after its grace it is ended without. Without RUN: all that run,
    and a living `lastro run` starts nothing more, also between two runs: it lets the machines go and ends.
    Where none lives they stay, and bill, unless --release is given.

    \b
    Example:
      lastro stop
      lastro stop shift --why "the card is needed elsewhere"
      lastro stop --release
      lastro stop --gone ssh-ba8f1d-3754303a --why "terminated on its page"
    """
    clock = SystemClock()
    session = find_session(Home(home_root()), clock, campaign_file)
    tell = narrator(stderr=as_json)
    if gone is not None:
        if run_name is not None or with_release:
            raise UsageError(_("--gone asks nobody to stop"), hint=_("leave RUN and --release out"))
        _tell_gone(declare_gone(session, gone, why, clock, tell), as_json=as_json)
        return
    asked = request_stop(session, run_name, why, releasing=with_release)
    for run in asked.alive:
        tell(_("{run}: asked to save and end").format(run=run.name))
    if asked.driven:
        tell(_("the `lastro run` that drives this campaign: asked to start nothing more"))
    ended = wait_for_stop(session, asked, clock)
    damaged = [one.run.name for one in ended if one.damage]
    code = StorageError.exit_code if damaged else 0
    view = session.view()
    kept = left_behind(session, view)
    released = release(session, clock, tell) if with_release else Released(gone=(), kept=kept)
    if as_json:
        machines = {
            "released": [machine.id for machine in released.gone],
            "still_rented": [machine.id or machine.tag for machine in released.kept],
        }
        print_json({"stopped": [_as_json(one) for one in ended], **machines, "exit_code": code})
        ctx.exit(code)
    for one in ended:
        tell(_line(one))
    if not ended and not released.gone:
        tell(_("nothing is started any more; `lastro run` goes on") if asked.names else _("nothing runs"))
    for machine in released.kept:
        tell(_stays(machine) if with_release else told_of(machine, view))
    if damaged:
        raise StorageError(
            _("the last checkpoint of {names} cannot be read back").format(names=", ".join(damaged)),
            hint=_("`lastro run` goes on from the one before it; check the disk"),
        )


def _tell_gone(machine: MachineView, *, as_json: bool) -> None:
    if as_json:
        print_json({"stopped": [], "released": [machine.id], "still_rented": [], "exit_code": 0})
    else:
        click.echo(_("machine {id} is gone: {why}").format(id=machine.id, why=machine.cause))


def _as_json(one: Stopped) -> dict[str, Any]:
    return {
        "run": one.run.id,
        "name": one.run.name,
        "status": one.run.status,
        "why": one.run.why,
        "saved_step": one.saved,
        "damage": list(one.damage),
    }


def _stays(machine: MachineView) -> str:
    return _("machine {id} stays, for {bill}: runs are alive on it").format(
        id=machine.id or machine.tag, bill=bill_of(machine)
    )


def _line(one: Stopped) -> str:
    if one.saved is None:
        return _("{run}: {status}, nothing was saved").format(
            run=one.run.name, status=run_status(one.run.status)
        )
    state = "; ".join(one.damage) or _("saved and read back")
    return _("{run}: {status} at step {step}, {state}").format(
        run=one.run.name, status=run_status(one.run.status), step=one.saved, state=state
    )
