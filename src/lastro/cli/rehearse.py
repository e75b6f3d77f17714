"""`lastro rehearse`."""

from __future__ import annotations

from pathlib import Path

import click

from lastro.cli.options import as_json_option, campaign_argument, command, option, seconds_of
from lastro.cli.rehearse_json import rehearsal_json
from lastro.cli.rehearse_text import rehearsal_text
from lastro.cli.render import narrator, print_json, show
from lastro.clock import SystemClock
from lastro.flow.rehearsal import RehearsalWish
from lastro.flow.rehearsal import rehearse as rehearse_plan
from lastro.locale import _
from lastro.paths import Home, home_root


@command()
@campaign_argument
@option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Draws the faults.")
@option(
    "--faults",
    type=click.Path(path_type=Path),
    help="These faults in the place of drawn ones, as for `lastro run --faults`.",
)
@option("--budget", metavar="TIME", help="How long it may take, as in 10min: leaves out drawn faults.")
@option("--keep", is_flag=True, help="Leave its folder with journals, logs and the drawn faults.")
@as_json_option
@click.pass_context
def rehearse(
    ctx: click.Context,
    campaign_file: Path,
    seed: int,
    faults: Path | None,
    budget: str | None,
    keep: bool,
    as_json: bool,
) -> None:
    """Play the plan in small with drawn faults: which promises hold?

    The whole plan runs on this computer, as `lastro run --smoke` does: once undisturbed, and once while
    machines are taken away, freeze and are refused, as the history of the offer that is taken has it. What
    that costs is counted in hours and money of the plan, and held against its window, its budget and what
    may be lost; of what broke it is said which fault broke it. Nothing is rented, and the real campaign is
    not touched.

    Ends with 0 (all held) or 11 (one did not, or cannot be shown).

    \b
    Example:
      lastro rehearse
      lastro rehearse --seed 7 --keep
      lastro rehearse campaign.yaml --faults faults.yaml --json
    """
    tell = narrator(stderr=as_json)
    wish = RehearsalWish(
        campaign_file=campaign_file,
        seed=seed,
        faults=faults,
        budget_seconds=None if budget is None else seconds_of("--budget", budget),
        keep=keep,
    )
    try:
        done = rehearse_plan(wish, Home(home_root()), SystemClock(), tell)
    except KeyboardInterrupt:
        tell(_("interrupted: nothing of this rehearsal is left running, and nothing was shown"))
        raise
    if as_json:
        print_json({**rehearsal_json(done), "exit_code": done.exit_code})
    else:
        show(rehearsal_text(done))
    ctx.exit(done.exit_code)
