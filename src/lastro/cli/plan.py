"""`lastro plan`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from lastro import atomic
from lastro.cli.options import as_json_option, campaign_argument, command, disk_option, option
from lastro.cli.render import console, print_json
from lastro.clock import SystemClock
from lastro.errors import PlanError, UsageError
from lastro.flow.drills import drills_of
from lastro.flow.freeze import Durations, Sources, draw_up, freeze_plan
from lastro.locale import _
from lastro.paths import Home, home_root
from lastro.plan.model import Plan
from lastro.plan.possible import is_possible, require_possible
from lastro.plan.quota import quota_request as request_text
from lastro.plan.summary import summary
from lastro.preflight.price import prices


@command()
@campaign_argument
@option("--on", metavar="PROVIDER", help="Where: here or local. Wins over the campaign file.")
@disk_option
@option("--reduced/--whole", default=None, help="Leave useful runs out until it fits; or all of them in.")
@option("--quota-request", is_flag=True, help="Print a draft for the provider who has to raise a limit.")
@option("--as-declared", is_flag=True, help="Leave aside what earlier runs took; only what the file says.")
@option("--online", is_flag=True, help="Ask the hub how large the repositories are that `data` names.")
@option("--freeze", is_flag=True, help="Keep this plan, with its digest, as the one that is run.")
@option("--revise", metavar="WHY", help="With --freeze: why it differs from the frozen plan.")
@option(
    "--page",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write it as one HTML file with pictures, too.",
)
@option("--all", "show_all", is_flag=True, help="Show every offer that is refused, not ten.")
@as_json_option
@click.pass_context
def plan(
    ctx: click.Context,
    /,
    campaign_file: Path,
    quota_request: bool,
    freeze: bool,
    revise: str | None,
    page: Path | None,
    show_all: bool,
    as_json: bool,
    **wish: Any,
) -> None:
    """Show calendar, options, disk and risk of a campaign. Rents nothing; writes only with --freeze.

    When no option fits the window and the budget, the code is 5. What is frozen has to fit by itself: the
    whole protocol, or with --reduced the reduced one.

    \b
    Example:
      lastro plan
      lastro plan campaign.yaml --freeze
      lastro plan --page plan.html
    """
    if revise is not None and not freeze:
        raise UsageError(
            _("--revise says why a frozen plan changes, and nothing is frozen here"),
            hint=_("add --freeze, or leave --revise out"),
        )
    clock = SystemClock()
    durations = _durations(as_declared=wish.pop("as_declared"), keeps=freeze and revise is None)
    wish["sources"] = Sources(durations=durations, online=wish.pop("online"))
    made = draw_up(campaign_file, clock, **wish).plan
    if freeze:
        require_possible(made)
        made, _revisions = freeze_plan(campaign_file, Home(home_root()), clock, revise=revise, **wish)
    if quota_request:
        _show_request(request_text(made), as_json=as_json)
        return
    drills = drills_of(Home(home_root()), made)
    if page is not None:
        from lastro.view.plan_html import render_plan  # late: only the page needs its templates

        _write_page(page, render_plan(made, drills, frozen=freeze))
    _show(made, drills, frozen=freeze, page=page, show_all=show_all, as_json=as_json)
    if not is_possible(made):
        ctx.exit(PlanError.exit_code)


def _durations(*, as_declared: bool, keeps: bool) -> Durations:
    """Return where hours come from. `keeps`: a frozen plan changes by a revision only, never by itself."""
    if as_declared:
        return Durations.AS_DECLARED
    return Durations.AS_FROZEN if keeps else Durations.MEASURED


def _show_request(text: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"quota_request": text, "exit_code": 0})
    else:
        console().print(text, markup=False, highlight=False, soft_wrap=True)


def _write_page(page: Path, text: str) -> None:
    atomic.make_folder(page.resolve().parent)
    atomic.write_text(page, text)


def _show(
    made: Plan,
    drills: Sequence[Mapping[str, Any]],
    *,
    frozen: bool,
    page: Path | None,
    show_all: bool,
    as_json: bool,
) -> None:
    if as_json:
        print_json(
            {
                **summary(made),
                "plan": made.as_json(),
                "digest": made.digest(),
                "frozen": frozen,
                "possible": is_possible(made),
                "drills": [dict(drill) for drill in drills],
                "preflight": [price.as_json() for price in prices(made.lease)],
                "page": str(page) if page else None,
                "exit_code": 0 if is_possible(made) else PlanError.exit_code,
            }
        )
        return
    from lastro.cli.plan_text import plan_text

    out = console()
    out.print(plan_text(made, drills, frozen=frozen, width=out.width, show_all=show_all))
    if page is not None:
        click.echo(_("The page: {path}").format(path=page))
