"""`lastro disk detach`."""

from __future__ import annotations

import click

from lastro.cli.disk_rows import provider_option, show_rows
from lastro.cli.options import as_json_option, command
from lastro.clock import SystemClock
from lastro.flow.disks import detach
from lastro.paths import Home, home_root


@command()
@click.argument("name")
@provider_option
@as_json_option
def disk_detach(name: str, provider: str, as_json: bool) -> None:
    """Take a disk off this box; what lies on it stays, and costs. Refused while a machine uses it.

    \b
    Example:
      lastro disk detach models
    """
    show_rows([detach(provider, name, Home(home_root()), SystemClock())], as_json=as_json, idle=True)
