"""`lastro status`."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from lastro.cli.options import as_json_option, campaign_option, command, option, ssh_config_option
from lastro.cli.render import print_json, show
from lastro.clock import SystemClock
from lastro.errors import UsageError
from lastro.flow.existing import look_at_providers, told
from lastro.flow.live import live_of
from lastro.flow.money import may_bill
from lastro.flow.refresh import refresh
from lastro.flow.rented import given_up, left_behind, told_of
from lastro.flow.session import find_session
from lastro.flow.still_billing import still_billing
from lastro.journal.views import CampaignView, MachineView
from lastro.locale import _
from lastro.paths import Home, home_root
from lastro.view.as_json import page_json
from lastro.view.gather import page_from
from lastro.view.html_file import write_html
from lastro.view.summary_text import summary_lines
from lastro.view.terminal import status as status_view


@command()
@campaign_option
@option(
    "--all",
    "text",
    metavar="[TEXT]",
    is_flag=False,
    flag_value="",
    help="All campaigns of this home; with TEXT, those that hold each of its words.",
)
@option(
    "--report",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the report as it is now to this HTML file, too.",
)
@ssh_config_option
@as_json_option
def status(campaign_file: Path, text: str | None, report: Path | None, as_json: bool) -> None:
    """Show what runs, what it has cost, what is at risk.

    Reads only: it can be asked at any time, from any terminal of this home. With --all it lists every
    campaign of this home: question, answer, cost, day, order references, what was learned.

    \b
    Example:
      lastro status
      lastro status --json
      lastro status --report now.html
      lastro status --all "shift 4711"
    """
    if text is not None:
        if report is not None:
            raise UsageError(_("a report is of one campaign"), hint=_("leave --all or --report out"))
        _list(text, as_json=as_json)
        return
    session = find_session(Home(home_root()), SystemClock(), campaign_file)
    stale = refresh(session)
    view = session.view()
    left = left_behind(session, view)
    looked = look_at_providers(session, view, SystemClock(), stale)
    live = live_of(session, view, time.monotonic())
    page = page_from(session.on_disk, view, live=live, curves=as_json or report is not None)
    if report is not None:
        write_html(page, report)
    if as_json:
        unattended = [machine.id or machine.tag for machine in left]
        doubtful = [machine.id for machine in given_up(view)]
        print_json(
            {
                **page_json(page),
                "unattended": unattended,
                "may_bill": doubtful,
                "providers": [one.as_json() for one in looked],
                "stale": stale,
                "exit_code": 0,
            }
        )
        return
    show(status_view(page))
    if report is not None:
        click.echo(_("report: {path}").format(path=report))
    for line in (*_careful(view, left, stale), *told(looked)):
        click.echo(line)


def _careful(view: CampaignView, left: Sequence[MachineView], stale: str | None) -> Iterator[str]:
    """Give what a person should know beside what is shown: what bills, and how old it is."""
    if stale is not None:
        yield _("as it was when it was heard last: {why}").format(why=stale)
    if view.open_decision is not None:
        for one in still_billing(view):
            yield f"{one.what}: {one.why}"
    for machine in given_up(view):
        yield may_bill(machine)
    for machine in left:
        yield told_of(machine, view)


def _list(text: str, *, as_json: bool) -> None:
    from lastro.flow import overview  # late: SQL is for this alone

    listed = overview.overview(Home(home_root()), SystemClock(), text)
    if as_json:
        print_json({"campaigns": overview.as_json(listed), "exit_code": 0})
        return
    for one in listed:
        if one.summary is not None:
            click.echo("\n".join(summary_lines(one.summary)))
        else:
            click.echo(f"{one.facts.name}  {one.damage}")
    if not listed:
        click.echo(_("no campaign here holds '{text}'").format(text=text) if text else _("no campaigns yet"))
