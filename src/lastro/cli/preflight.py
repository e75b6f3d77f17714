"""`lastro preflight`."""

from __future__ import annotations

import contextlib
from pathlib import Path

import click

from lastro.billing import Lease
from lastro.cli.options import WithCommand, as_json_option, campaign_argument, disk_option, option
from lastro.cli.preflight_modes import with_modes
from lastro.cli.preflight_text import show_report
from lastro.cli.render import console, print_json
from lastro.cli.typed import typed_at
from lastro.clock import SystemClock
from lastro.errors import LastroError, PreflightFailed, UsageError
from lastro.flow.freeze import DEFAULT_DISK, draw_up
from lastro.flow.lock_record import record_lock_by_hand
from lastro.flow.machine_check import Checked, CheckWish, check_machine
from lastro.locale import _
from lastro.paths import Home, home_root
from lastro.preflight.size import Size
from lastro.spec.load import LoadedCampaign, load_campaign


@click.command(cls=WithCommand)
@campaign_argument
@disk_option
@option("--cpu", is_flag=True, help="All of it in small, without a GPU, within a minute.")
@option("--canary", is_flag=True, help="The short look: a minute at most.")
@option("--full", is_flag=True, help="All checks: ten minutes at most.")
@option("--burn-in", is_flag=True, help="All checks, and load for an hour and more.")
@option("--relock", is_flag=True, help="Make lastro.lock anew from this machine, if it passes.")
@option("--why", metavar="REASON", help="Why it is made anew; it is kept in the lock and the journal.")
@as_json_option
@with_modes
@click.pass_context
def preflight(
    ctx: click.Context,
    /,
    campaign_file: Path,
    disk: Path | None,
    relock: bool,
    why: str | None,
    as_json: bool,
    **sizes: bool,
) -> None:
    """Check this machine against what the campaign wants, and against lastro.lock.

    Looks at software, memory, the disk and GPUs, each step within its budget. How much is due follows from
    what is known of this kind of machine; an option says otherwise. With --full, --burn-in and --cpu the
    campaign's own job makes some updates in a copy of its code, and is killed and resumed.

    The first machine that passes writes lastro.lock beside the campaign file; every later one has to be the
    same. Ends with code 4 when the machine must not be trusted.

    --profile, --history, --note, --probe and --checklist do what they say instead, and check nothing here.

    \b
    Example:
      lastro preflight
      lastro preflight --cpu
      lastro preflight campaign.yaml --disk /mnt/disk --full --json
      lastro preflight --relock --why "torch 2.13.1 mends the loader"
      lastro preflight --profile -- python train.py
      lastro preflight --history
      lastro preflight --note 3f9c21a0b7d4 "its fan howls"
      lastro preflight --probe 3 --max-spend "2 USD" --every 6h
      lastro preflight --checklist
    """
    size = _asked(sizes)
    if relock != bool(why and why.strip()):
        raise UsageError(
            _("--relock and its reason, --why, go together"),
            hint=_('for example: lastro preflight --relock --why "a newer driver"'),
        )
    loaded = load_campaign(campaign_file)
    home, clock = Home(home_root()), SystemClock()
    wish = CheckWish(
        loaded=loaded,
        disk=disk or loaded.disk_path or loaded.folder / DEFAULT_DISK,
        provider=loaded.spec.provider,
        asked=size,
        lease=_lease(loaded),
        relock=why if relock else None,
        began=typed_at(),
    )
    done = check_machine(wish, home, clock, lambda text: click.echo(text, err=as_json))
    if done.lock is not None:
        record_lock_by_hand(home, clock, loaded, done.lock)
    _show(done, as_json)
    ctx.exit(PreflightFailed.exit_code if done.report.failed else 0)


def _asked(sizes: dict[str, bool]) -> Size | None:
    """Return the size that a person asked for; None when it is left open."""
    asked = [name for name, is_asked in sizes.items() if is_asked]
    if len(asked) > 1:
        names = " ".join(f"--{name.replace('_', '-')}" for name in asked)
        raise UsageError(
            _("{names}: it can only be one size").format(names=names), hint=_("leave all but one out")
        )
    return Size(asked[0]) if asked else None


def _lease(loaded: LoadedCampaign) -> Lease | None:
    """Return the lease that the plan takes, where its machine is this one and not a rehearsal."""
    if loaded.spec.provider == "local" or loaded.offers_path is None:
        return None
    with contextlib.suppress(LastroError):  # what is wrong with a plan is told by `lastro plan`
        return draw_up(loaded, SystemClock()).plan.lease
    return None


def _show(done: Checked, as_json: bool) -> None:
    report = done.report
    if as_json:
        print_json(
            {
                **report.as_json(),
                "lock_written": done.lock.digest if done.lock else None,
                "exit_code": PreflightFailed.exit_code if report.failed else 0,
            }
        )
        return
    show_report(console(), report)
    if done.lock is not None:
        click.echo(
            _("lastro.lock was written: {path}. Keep it in the campaign's repository.").format(
                path=report.reading.path
            )
        )
