"""`lastro plan`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from lastro.cli.options import as_json_option, campaign_argument, command, disk_option, option
from lastro.cli.render import console, print_json
from lastro.clock import SystemClock
from lastro.errors import PlanError
from lastro.flow.drills import drills_of
from lastro.flow.freeze import draw_up, freeze_plan
from lastro.paths import Home, home_root
from lastro.plan.build import Plan, is_possible, require_possible
from lastro.plan.summary import summary


@command()
@campaign_argument
@option("--on", metavar="PROVIDER", help="Where: here or local. Wins over the campaign file.")
@disk_option
@option("--reduced", is_flag=True, help="Plan the reduced protocol: useful runs are left out until it fits.")
@option("--freeze", is_flag=True, help="Keep this plan, with its digest, as the one that is run.")
@option("--revise", metavar="WHY", help="With --freeze: why it differs from the frozen plan.")
@as_json_option
@click.pass_context
def plan(
    ctx: click.Context,
    campaign_file: Path,
    on: str | None,
    disk: Path | None,
    reduced: bool,
    freeze: bool,
    revise: str | None,
    as_json: bool,
) -> None:
    """Show calendar, options, disk and risk of a campaign. Rents nothing; writes only with --freeze.

    When no option fits the window and the budget, the code is 5. What is frozen has to fit by itself: the
    whole protocol, or with --reduced the reduced one.

    \b
    Example:
      lastro plan
      lastro plan campaign.yaml --freeze
    """
    clock = SystemClock()
    made = draw_up(campaign_file, clock, on=on, disk=disk, reduced=reduced or None).plan
    if freeze:
        require_possible(made)
        made, _revisions = freeze_plan(
            campaign_file, Home(home_root()), clock, on=on, disk=disk, revise=revise, reduced=reduced or None
        )
    _show(made, drills_of(Home(home_root()), made), frozen=freeze, as_json=as_json)
    if not is_possible(made):
        ctx.exit(PlanError.exit_code)


def _show(made: Plan, drills: Sequence[Mapping[str, Any]], *, frozen: bool, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                **summary(made),
                "plan": made.as_json(),
                "digest": made.digest(),
                "frozen": frozen,
                "possible": is_possible(made),
                "drills": [dict(drill) for drill in drills],
                "exit_code": 0 if is_possible(made) else PlanError.exit_code,
            }
        )
        return
    from lastro.cli.plan_text import plan_text

    console().print(plan_text(made, drills, frozen=frozen))
