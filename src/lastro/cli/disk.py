"""`lastro disk`."""

from __future__ import annotations

import click

from lastro.cli.commands import DISK_COMMANDS
from lastro.cli.lazy import LazyGroup


@click.group(cls=LazyGroup, table=DISK_COMMANDS)
def disk() -> None:
    """Prove what outlives the machine, keep everything of value there, and see that nothing stays behind.

    \b
    Example:
      lastro disk prove /mnt/disk           does it outlive this machine?
      lastro disk guard                     what would be lost if the machine went now?
    """
