"""`lastro decide`."""

from __future__ import annotations

from pathlib import Path

import click

from lastro.cli.options import Translated, as_json_option, campaign_argument, option
from lastro.cli.render import print_json
from lastro.clock import SystemClock
from lastro.errors import UsageError
from lastro.flow.decide import decide as write_decision
from lastro.flow.decide import what_follows
from lastro.flow.deciding import CHOICES
from lastro.flow.session import find_session
from lastro.locale import _
from lastro.paths import Home, home_root


@click.command(cls=Translated)
@click.argument("choice", type=click.Choice(CHOICES), metavar="continue|reduce|revise")
@campaign_argument
@option("--why", metavar="TEXT", help="The reason; it goes into the journal and the report.")
@as_json_option
def decide(choice: str, campaign_file: Path, why: str | None, as_json: bool) -> None:
    """Say how it goes on after a pilot, where the plan has `decide: true`.

    `continue`: as planned, from the pilot's checkpoint. `reduce`: by the reduced protocol, without runs that
    are only useful. `revise`: not before the campaign file was changed and frozen again. Nothing is started
    by it; until the next `lastro run` it can be decided otherwise.

    \b
    Example:
      lastro decide continue --why "the loss falls as it should, 9 % slower than planned"
      lastro decide reduce --why "the window holds the control and one variant"
    """
    if why is None or not why.strip():
        raise UsageError(
            _("a decision needs its reason"),
            hint=_("as in: lastro decide {choice} --why TEXT").format(choice=choice),
        )
    clock = SystemClock()
    session = find_session(Home(home_root()), clock, campaign_file)
    decided = write_decision(session, choice, why.strip(), clock)
    following = what_follows(decided)
    if as_json:
        print_json(
            {
                "campaign": session.facts.name,
                "stage": decided.decision.stage,
                "choice": choice,
                "why": decided.decision.why,
                "before": decided.before,
                "left_out": list(decided.left_out),
                "next": following,
                "exit_code": 0,
            }
        )
        return
    text = _("after {stage}: {choice}, {why}").format(
        stage=decided.decision.stage, choice=choice, why=decided.decision.why
    )
    if decided.before is not None:
        text += " " + _("(it was {before} until now)").format(before=decided.before)
    click.echo(text)
    click.echo(following)
