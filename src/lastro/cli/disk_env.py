"""`lastro disk env`."""

from __future__ import annotations

import os
from pathlib import Path

import click

from lastro.cli.options import as_json_option, command, disk_option, option
from lastro.cli.render import print_json
from lastro.clock import SystemClock
from lastro.disk.caches.shells import SHELLS, lines_for
from lastro.flow.caches_by_hand import point_caches, save_kernels
from lastro.locale import _
from lastro.paths import Home, home_root
from lastro.units import show_bytes


@command()
@disk_option
@option("--shell", type=click.Choice(SHELLS), default="sh", show_default=True, help="Whose words to use.")
@option("--save", is_flag=True, help="Write compiled kernels to the disk, before the machine goes.")
@as_json_option
def disk_env(disk: Path | None, shell: str, save: bool, as_json: bool) -> None:
    """Print what points caches of models, data sets, packages and kernels to the disk.

    For a shell's eval, before any program starts: set later, it changes nothing. `lastro run` does it for its
    jobs by itself. Credentials stay where they are; what is set already is left so, and told.

    \b
    Example:
      eval "$(lastro disk env --disk /mnt/disk)"
      lastro disk env --shell fish | source
      lastro disk env --save
    """
    home, clock = Home(home_root()), SystemClock()
    if save:
        kept = save_kernels(disk, home, clock, os.environ)
        if as_json:
            print_json({**vars(kept), "exit_code": 0})
        else:
            told = _("{files} files of compiled kernels, {bytes}, are on the disk")
            click.echo(kept.why or told.format(files=kept.files, bytes=show_bytes(kept.bytes)))
        return
    found, carried = point_caches(disk, home, clock, os.environ)
    if as_json:
        print_json({**found.as_json(), "compiled": vars(carried), "exit_code": 0})
        return
    for line in lines_for(shell, found.variables):
        click.echo(line)
    for finding in found.findings:
        click.echo(f"{finding.variable}: {finding.text}", err=True)
