"""`lastro run`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from lastro.cli.options import (
    DEFAULT_FILE,
    WithCommand,
    as_json_option,
    campaign_argument,
    checkpoints_option,
    command_after_dashes,
    disk_option,
    option,
    refuse_saves_without_command,
    resume_arg_option,
    ssh_config_option,
)
from lastro.cli.render import echo, narrator, print_json, show, unread
from lastro.cli.waiting_text import waiting_json, waiting_text
from lastro.clock import SystemClock
from lastro.errors import UsageError
from lastro.flow.campaign import Outcome, Wish, run_campaign
from lastro.flow.quick import quick_campaign
from lastro.flow.smoke import run_smoke
from lastro.locale import _
from lastro.paths import Home, home_root
from lastro.view.as_json import page_json
from lastro.view.terminal import status, summary


@click.command(cls=WithCommand)
@campaign_argument
@option("--on", metavar="PROVIDER", help="Where: here, local, or user@host. Wins over the campaign file.")
@option("--only", metavar="RUN", help="Carry out this run alone; nothing is closed.")
@disk_option
@option(
    "--faults",
    type=click.Path(path_type=Path),
    help="A script of faults to rehearse with; only machines of the local provider can be lost.",
)
@option("--close/--no-close", default=True, help="Whether to end with reloading, conclusion and report.")
@option("--smoke", is_flag=True, help="All of it in small, on this computer: does the path work?")
@checkpoints_option
@resume_arg_option
@ssh_config_option
@option("--take-over", is_flag=True, help="Drive from here what another home has driven until now.")
@option("--revise", metavar="WHY", help="Why the campaign file differs from the frozen plan.")
@option(
    "--accept-risk", multiple=True, metavar="CODE", help="Use a machine although preflight has found this."
)
@option("--why", metavar="REASON", help="Why that risk is accepted; it stands in the report.")
@as_json_option
@click.pass_context
def run(ctx: click.Context, /, as_json: bool, smoke: bool, **wish: Any) -> None:
    """Run the campaign, or one run of it, to the end; or a command, without a campaign file.

    Freezes the plan, rents, checks each machine, runs and restarts, replaces machines that vanish, reloads
    every output in another process and writes the report. Whatever ends this command, the same command
    goes on where it stopped. Ctrl-C leaves the runs running.

    After `--` stands a command of this folder instead: nothing else is needed, nothing is closed. It is
    restarted as long as it makes progress, which it does by lastro's API or by its own saves. What it prints
    is shown, behind its name.

    \b
    Example:
      lastro run
      lastro run --smoke
      lastro run campaign.yaml --on local --faults faults.yaml --json
      lastro run -- python train.py --epochs 3
      lastro run --checkpoints 'out/checkpoint-*' --resume-arg '--resume {latest}' -- python train.py
    """
    tell = narrator(stderr=as_json)
    if smoke:
        _smoke(ctx, as_json, wish)
    wish = _understood(ctx, wish, tell)
    shown = None if as_json or "quick" not in wish else echo
    try:
        outcome = run_campaign(Wish(**wish, echo=shown), Home(home_root()), SystemClock(), tell)
    except KeyboardInterrupt:
        tell(_("left; what runs goes on. `lastro status` shows it, `lastro stop` saves and ends it"))
        raise
    with unread():
        _show(outcome, as_json)
    ctx.exit(outcome.exit_code)


def _smoke(ctx: click.Context, as_json: bool, wish: dict[str, Any]) -> None:
    if command_after_dashes(ctx) is not None:
        raise UsageError(
            _("--smoke is for a campaign file, and there is a command after `--`"),
            hint=_("a command has nothing that could be made small; run it with small arguments of its own"),
        )
    campaign_file, close = wish.pop("campaign_file"), wish.pop("close")
    given = [f"--{name.replace('_', '-')}" for name, value in wish.items() if value]
    given += ([] if close else ["--no-close"]) + (["--"] if command_after_dashes(ctx) is not None else [])
    if given:
        raise UsageError(
            _("--smoke does not go with {name}").format(name=given[0]),
            hint=_("it is always the whole campaign, on the local provider, on a disk of its own"),
        )
    tell = narrator(stderr=as_json)
    done = run_smoke(campaign_file, Home(home_root()), SystemClock(), tell)
    verdict = (
        _("smoke: it does not work: {failed}").format(failed="; ".join(done.failed))
        if done.failed
        else _("smoke: the path works; the numbers mean nothing")
    )
    if as_json:
        page = page_json(done.outcome.page)
        told = {"works": not done.failed, "failed": list(done.failed), "text": verdict}
        print_json({**page, "smoke": told, "halted": done.outcome.halted, "exit_code": done.exit_code})
    else:
        show(summary(done.outcome.page))
        click.echo(verdict)
    ctx.exit(done.exit_code)


def _understood(ctx: click.Context, wish: dict[str, Any], tell: Callable[[str], None]) -> dict[str, Any]:
    """Return the wish with the campaign of the command after `--`, when there is one."""
    saves = {"checkpoints": wish.pop("checkpoints"), "resume_arg": wish.pop("resume_arg")}
    command = command_after_dashes(ctx)
    if command is None:
        refuse_saves_without_command(*saves.values())
        return wish
    if ctx.get_parameter_source("campaign_file") is ParameterSource.COMMANDLINE:
        raise UsageError(
            _("there is a campaign file ({file}) and a command; it can only be one of them").format(
                file=wish["campaign_file"]
            ),
            hint=_("put the file's own command into its key command"),
        )
    if wish["only"] is not None:
        raise UsageError(_("a command is one run; there is nothing to choose with --only"))
    made = quick_campaign(command, Path.cwd().resolve(), provider=wish["on"] or "here", **saves)
    close = wish["close"] and ctx.get_parameter_source("close") is ParameterSource.COMMANDLINE
    name = made.loaded.spec.campaign
    option = f" --campaign {name}" if DEFAULT_FILE.exists() else ""
    tell(_("campaign {name}").format(name=name))
    tell(
        _("all that it prints: `lastro logs -f{option}`; to end it: `lastro stop{option}`").format(
            option=option
        )
    )
    for note in made.notes:
        tell(note)
    return {**wish, "campaign_file": made.loaded.path, "quick": made.loaded, "close": close}


def _show(outcome: Outcome, as_json: bool) -> None:
    if as_json:
        waiting = waiting_json(outcome.waiting) if outcome.waiting else None
        told = {"halted": outcome.halted, "waiting": waiting, "exit_code": outcome.exit_code}
        print_json({**page_json(outcome.page), **told})
        return
    show(status(outcome.page) if outcome.halted else summary(outcome.page))
    if outcome.waiting:
        show(waiting_text(outcome.waiting))
    elif outcome.halted:
        click.echo(_("halted: {why}").format(why=outcome.halted))
