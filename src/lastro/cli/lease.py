"""`lastro lease`."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import click

from lastro.billing import LeaseKind
from lastro.cli.options import Translated, TranslatedGroup, as_json_option, campaign_option, option
from lastro.cli.render import print_json
from lastro.clock import SystemClock
from lastro.errors import UsageError
from lastro.flow.leases import Bought, add_lease, leases_of, parse_until
from lastro.flow.session import find_session
from lastro.journal.views import LeaseView
from lastro.locale import _
from lastro.paths import Home, home_root
from lastro.units import Money, parse_money


def _money(_ctx: click.Context, _option: click.Parameter, text: str) -> Money:
    try:
        return parse_money(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def _moment(_ctx: click.Context, _option: click.Parameter, text: str) -> datetime:
    try:
        return parse_until(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


@click.group(cls=TranslatedGroup, invoke_without_command=True)
@campaign_option
@as_json_option
@click.pass_context
def lease(ctx: click.Context, campaign_file: Path, as_json: bool) -> None:
    """List what was bought by hand for a campaign.

    \b
    Example:
      lastro lease
      lastro lease add --order 4711 --price "47.14 USD" --until 2026-12-03T12:00
    """
    if ctx.invoked_subcommand is not None:
        return
    clock = SystemClock()
    found = leases_of(find_session(Home(home_root()), clock, campaign_file))
    if as_json:
        print_json({"leases": [_as_json(one) for one in found], "exit_code": 0})
        return
    for one in found:
        click.echo(_line(one))
    if not found:
        click.echo(_("nothing was bought by hand"))


@lease.command(cls=Translated)
@option("--order", required=True, metavar="REF", help="The order's reference; it stands in the bill.")
@option("--price", required=True, callback=_money, metavar="MONEY", help="As paid, with its currency.")
@option("--until", required=True, callback=_moment, metavar="TIME", help="When the lease ends.")
@option("--host", type=click.Choice(["here"]), default="here", show_default=True, help="What was bought.")
@option(
    "--kind",
    type=click.Choice(["lot", "hourly"]),
    default="lot",
    show_default=True,
    help="lot: the price is for all of it; hourly: for each hour of use.",
)
@campaign_option
@as_json_option
def add(campaign_file: Path, as_json: bool, kind: str, **given: Any) -> None:
    """Keep what was bought on a website as the lease of this box.

    The machine's cost is then that of the order, and runs save and leave before it ends. The same order again
    corrects it.

    \b
    Example:
      lastro lease add --order 4711 --price "47.14 USD" --until 2026-12-03T12:00
      lastro lease add --order A-9 --price "0.69 USD" --kind hourly --until 2026-12-03T12:00+00:00
    """
    if given["price"].amount < 0:
        raise UsageError(_("{price} is less than nothing").format(price=given["price"]))
    kept = add_lease(campaign_file, Bought(kind=LeaseKind(kind), **given), Home(home_root()), SystemClock())
    if as_json:
        print_json({"lease": _as_json(kept), "exit_code": 0})
    else:
        click.echo(_line(kept))


def _line(one: LeaseView) -> str:
    price = one.lease.price
    kind = _("in all") if one.lease.kind is LeaseKind.LOT else _("an hour")
    return _("{order}: {host}, {price} {kind}, until {until}").format(
        order=one.order, host=one.host, price=price, kind=kind, until=one.lease.ends_at
    )


def _as_json(one: LeaseView) -> dict[str, Any]:
    return {
        "order": one.order,
        "host": one.host,
        "kind": one.lease.kind.value,
        "price": one.lease.price.as_json() if one.lease.price else None,
        "until": one.lease.ends_at,
        "added_at": one.added_at,
        "source": one.lease.source,
    }
