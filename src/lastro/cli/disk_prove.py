"""`lastro disk prove`."""

from __future__ import annotations

import os
from pathlib import Path

import click

from lastro.cli.given import given_by
from lastro.cli.options import as_json_option, command, option
from lastro.cli.render import console, print_json
from lastro.clock import SystemClock
from lastro.disk.probes import Probe
from lastro.disk.prove import Proof, prove
from lastro.disk.verdict import State
from lastro.locale import _
from lastro.paths import Home, home_root
from lastro.providers.who import who_of_environment
from lastro.units import parse_bytes

_TONE = {State.PROVEN: "green", State.DECLARED: "yellow", State.UNKNOWN: "bold red"}


@command()
@click.argument("path", type=click.Path(path_type=Path), default=Path(), metavar="[PATH]")
@option(
    "--size",
    "planned",
    callback=given_by(parse_bytes),
    metavar="SIZE",
    help="Allocate so much for a moment: does it fit?",
)
@option("--declare", "declared", metavar="WHO", help="Who says that it outlives the machine; it is kept.")
@option("--expect", "uuid", metavar="UUID", help="Which disk has to be here.")
@option("--no-probes", is_flag=True, help="Do not try out what the file system does.")
@as_json_option
@click.pass_context
def disk_prove(
    ctx: click.Context,
    path: Path,
    planned: int | None,
    declared: str | None,
    uuid: str | None,
    no_probes: bool,
    as_json: bool,
) -> None:
    """Say how well it is known that a folder outlives this machine.

    proven: two machines have seen its mark. declared: somebody has said so. unknown: nobody has. The mark is
    a file that this command leaves in PATH/.lastro, so that the next machine can prove it. A wrong, empty,
    swapped or unmounted disk is told, and left as it is; nothing is ever formatted.

    \b
    Example:
      lastro disk prove /mnt/disk
      lastro disk prove /mnt/disk --size "500 GB" --declare "the provider's console"
    """
    found = prove(
        path,
        Home(home_root()),
        SystemClock(),
        who_of_environment(os.environ),
        declared=declared,
        expect_uuid=uuid,
        planned=planned,
        probing=not no_probes,
    )
    if as_json:
        print_json(found.as_json())
    else:
        _show(found)
    ctx.exit(found.exit_code)


def _show(found: Proof) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    screen = console()
    words = {
        State.PROVEN: _("proven"),
        State.DECLARED: _("declared, not proven"),
        State.UNKNOWN: _("unknown"),
    }
    state = Text(f"{words[found.verdict.state]}: ", style=_TONE[found.verdict.state])
    screen.print(Text(found.path + " ").append_text(state).append(found.verdict.why))
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in (_("what"), _("found"), _("means")):
        table.add_column(name, overflow="fold")
    for fact in found.verdict.facts:
        table.add_row(fact.name, fact.value, fact.means)
    for probe in found.probes:
        table.add_row(probe.name, Text(probe.value, style=_tone(probe)), probe.means)
    screen.print(table)
    if found.unmarked:
        screen.print(Text(_("it could not be marked: {why}").format(why=found.unmarked)))
    for trouble in found.verdict.troubles:
        screen.print(Text(_("  next: {hint}").format(hint=trouble.next_step)))


def _tone(probe: Probe) -> str:
    return {True: "", False: "bold red", None: "dim"}[probe.ok]
