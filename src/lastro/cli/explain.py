"""`lastro explain`."""

from __future__ import annotations

from pathlib import Path

import click

from lastro.cli.options import as_json_option, campaign_option, command, option
from lastro.cli.render import print_json
from lastro.clock import SystemClock
from lastro.errors import UsageError
from lastro.flow.explaining import explain_stage, settle_doubt
from lastro.flow.session import find_session
from lastro.locale import _
from lastro.paths import Home, home_root
from lastro.view.outcome import outcome_json, outcome_of
from lastro.view.outcome_text import outcome_lines


@command()
@click.argument("stage", required=False)
@option("--run", "run_name", metavar="NAME", help="Of which run; without it, of the stage as such.")
@option("--doubt", type=int, metavar="NUMBER", help="What became of this doubt of the plan.")
@option("--why", metavar="TEXT", help="In your words.")
@option(
    "--hours", type=click.FloatRange(0, min_open=True), help="How long it took, where nothing measures it."
)
@campaign_option
@as_json_option
def explain(
    stage: str | None,
    run_name: str | None,
    doubt: int | None,
    why: str | None,
    hours: float | None,
    campaign_file: Path,
    as_json: bool,
) -> None:
    """Show the forecast beside what came of it, or say why a stage went otherwise.

    The forecast itself stays as it was frozen. What is said here, and what was measured, go into the next
    campaign: `lastro init --from`.

    \b
    Example:
      lastro explain
      lastro explain collect --why "the upload was slow" --hours 1.5
      lastro explain --doubt 1 --why "the price held"
    """
    session = find_session(Home(home_root()), SystemClock(), campaign_file)
    if (stage is not None or doubt is not None) and not why:
        raise UsageError(_("an explanation needs its words"), hint=_("add --why TEXT"))
    if stage is not None and doubt is not None:
        raise UsageError(_("it is about a stage or about a doubt"), hint=_("give one of them"))
    if stage is None and doubt is None and (why or hours is not None or run_name):
        raise UsageError(_("of which stage?"), hint=_('lastro explain collect --why "the upload was slow"'))
    if stage is not None:
        explain_stage(session, stage, run_name, why or "", hours)
    if doubt is not None:
        settle_doubt(session, doubt, why or "")
    outcome = outcome_of(session.view())
    if outcome is None:
        raise UsageError(_("this campaign has no frozen plan"), hint=_("run it with `lastro run`"))
    if as_json:
        print_json({**outcome_json(outcome), "exit_code": 0})
        return
    for line in outcome_lines(outcome):
        click.echo(line)
