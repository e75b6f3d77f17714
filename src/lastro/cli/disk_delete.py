"""`lastro disk delete`."""

from __future__ import annotations

import click

from lastro.cli.disk_rows import provider_option
from lastro.cli.options import as_json_option, command, option
from lastro.cli.render import print_json
from lastro.clock import SystemClock
from lastro.flow.disks import delete
from lastro.locale import _
from lastro.paths import Home, home_root


@command()
@click.argument("name")
@option("--why", help="Why the only copies that it holds may be lost.")
@provider_option
@as_json_option
def disk_delete(name: str, why: str | None, provider: str, as_json: bool) -> None:
    """Delete a disk. Refused while it is attached, or holds the only copy of something of value.

    \b
    Example:
      lastro disk delete models
      lastro disk delete models --why "it was a test"
    """
    lost = delete(provider, name, why, Home(home_root()), SystemClock())
    if as_json:
        print_json({"deleted": name, "lost": [item.as_json() for item in lost], "exit_code": 0})
        return
    click.echo(_("disk {name} is deleted").format(name=name))
    if lost:
        click.echo(_("{count} files of value are lost with it: {why}").format(count=len(lost), why=why))
