"""`lastro disk pull`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lastro.cli.bar import bytes_bar
from lastro.cli.moving import moving, show_estimate, show_result, wish_of
from lastro.cli.options import as_json_option, command
from lastro.cli.render import print_json
from lastro.clock import SystemClock
from lastro.locale import _
from lastro.paths import Home, home_root

if TYPE_CHECKING:
    from lastro.flow.transfers.ledger import Cap


@command()
@click.argument("source", metavar="SOURCE")
@click.argument("target", type=click.Path(path_type=Path))
@moving
@as_json_option
def disk_pull(
    source: str,
    target: Path,
    origin: str | None,
    to: str | None,
    offers: Path | None,
    cap: Cap | None,
    workers: int,
    as_json: bool,
) -> None:
    """Fetch what lies in a bucket or on a machine, or the nearest copy of a digest that was pushed.

    Each file appears whole under its name or not at all, and only when its bytes are those that were sent.
    After a kill the same line goes on. What is here already is compared and not fetched again.

    \b
    Example:
      lastro disk pull s3://corpora/images /mnt/disk/data/images
      lastro disk pull sha256:4be1c0 /mnt/disk/data/images --to us-east-1 --offers offers.yaml
    """
    from lastro.flow.transfers.move import Mover

    wish = wish_of(origin, to, offers, cap, workers)
    with bytes_bar(_("fetching"), shown=not as_json) as told:
        ahead = (lambda _told: None) if as_json else show_estimate
        result = Mover(Home(home_root()), SystemClock(), wish, told=told, ahead=ahead).pull(source, target)
    if as_json:
        print_json({**result.as_json(), "exit_code": 0})
    else:
        show_result(result)
