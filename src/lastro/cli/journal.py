"""`lastro journal`."""

from __future__ import annotations

from pathlib import Path

import click

from lastro.cli.options import Translated, TranslatedGroup, as_json_option, campaign_option
from lastro.cli.render import print_json
from lastro.clock import SystemClock
from lastro.errors import JournalDamaged
from lastro.flow.session import find_session
from lastro.flow.verifying import verify_folder, verify_session
from lastro.locale import _, ngettext
from lastro.paths import Home, home_root


@click.group(cls=TranslatedGroup)
def journal() -> None:
    """Check the record of a campaign."""


@journal.command(cls=Translated)
@click.argument("folder", required=False, type=click.Path(path_type=Path, exists=True, file_okay=False))
@campaign_option
@as_json_option
@click.pass_context
def verify(ctx: click.Context, folder: Path | None, campaign_file: Path, as_json: bool) -> None:
    """Read every stream and check its chain; a changed, removed or inserted line is found.

    FOLDER is a journal folder of anywhere; without it, home's copies and those on the disk.

    \b
    Example:
      lastro journal verify
      lastro journal verify /mnt/disk/campaigns/digits/journal
    """
    if folder is not None:
        checked = verify_folder(folder)
    else:
        checked = verify_session(find_session(Home(home_root()), SystemClock(), campaign_file))
    damaged = [stream for stream in checked if stream.why is not None]
    if as_json:
        code = JournalDamaged.exit_code if damaged else 0
        streams = [vars(stream) for stream in checked]
        print_json({"streams": streams, "damaged": len(damaged), "exit_code": code})
        ctx.exit(code)
    for stream in checked:
        state = stream.why or ngettext("{count} event", "{count} events", stream.events).format(
            count=stream.events
        )
        click.echo(f"{'ok ' if stream.why is None else 'BAD'} {stream.path}: {state}")
    if damaged:
        raise JournalDamaged(
            ngettext("{count} stream is damaged", "{count} streams are damaged", len(damaged)).format(
                count=len(damaged)
            ),
            hint=_("restore it from the other copy (home and disk each hold one), or from a backup"),
        )
    if not checked:
        click.echo(_("there are no streams here"))
