"""`lastro disk create`."""

from __future__ import annotations

import click

from lastro.cli.disk_rows import provider_option, show_rows
from lastro.cli.given import given_by
from lastro.cli.options import as_json_option, command, option
from lastro.clock import SystemClock
from lastro.flow.disks import create
from lastro.paths import Home, home_root
from lastro.providers.disks import DiskRequest
from lastro.units import Money, parse_bytes, parse_money


@command()
@click.argument("name")
@option("--size", required=True, metavar="SIZE", callback=given_by(parse_bytes), help="50 GB to 10 TB.")
@option("--zone", metavar="NAME", help="Where it is: machines of other zones cannot hold it.")
@option("--price", metavar="MONEY", callback=given_by(parse_money), help="Of 1 GB for a month.")
@option("--attach", type=click.IntRange(1), default=1, show_default=True, help="How many hold it at once.")
@provider_option
@as_json_option
def disk_create(
    name: str, size: int, zone: str | None, price: Money | None, attach: int, provider: str, as_json: bool
) -> None:
    """Make a disk that outlives machines. It is a folder: nothing is formatted.

    \b
    Example:
      lastro disk create models --size "200 GB" --price "0.07 USD" --zone eu-1
    """
    request = DiskRequest(name=name, bytes=size, zone=zone, price=price, attach=attach)
    show_rows([create(provider, request, Home(home_root()), SystemClock())], as_json=as_json)
