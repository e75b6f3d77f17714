"""`lastro disk list`."""

from __future__ import annotations

from lastro.cli.disk_rows import provider_option, show_rows
from lastro.cli.options import as_json_option, command
from lastro.clock import SystemClock
from lastro.flow.disks import list_disks
from lastro.paths import Home, home_root


@command()
@provider_option
@as_json_option
def disk_list(provider: str, as_json: bool) -> None:
    """List disks: size, use, who holds them, what they cost. Idle ones that still cost are named.

    \b
    Example:
      lastro disk list
    """
    show_rows(list_disks(provider, Home(home_root()), SystemClock()), as_json=as_json, idle=True)
