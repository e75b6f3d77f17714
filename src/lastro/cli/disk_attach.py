"""`lastro disk attach`."""

from __future__ import annotations

from pathlib import Path

import click

from lastro.cli.disk_rows import provider_option, show_rows
from lastro.cli.options import as_json_option, command
from lastro.clock import SystemClock
from lastro.flow.disks import attach
from lastro.paths import Home, home_root


@command()
@click.argument("name")
@click.argument("path", type=click.Path(path_type=Path))
@provider_option
@as_json_option
def disk_attach(name: str, path: Path, provider: str, as_json: bool) -> None:
    """Show a disk at PATH, which must not be there yet. Its attach limit holds.

    \b
    Example:
      lastro disk attach models ./disk
    """
    show_rows([attach(provider, name, path, Home(home_root()), SystemClock())], as_json=as_json)
