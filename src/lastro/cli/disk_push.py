"""`lastro disk push`."""

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
@click.argument("source", type=click.Path(path_type=Path, exists=True))
@click.argument("target", metavar="TARGET")
@moving
@as_json_option
def disk_push(
    source: Path,
    target: str,
    origin: str | None,
    to: str | None,
    offers: Path | None,
    cap: Cap | None,
    workers: int,
    as_json: bool,
) -> None:
    """Send a file or a folder to a bucket (s3://bucket/key) or a machine (ssh://user@host/path).

    What it moves and costs is told before the first byte. After a kill the same line goes on: only what is
    missing is sent, and own uploads that are of no use any more are given up. Every part is compared with
    what the store says it holds.

    \b
    Example:
      lastro disk push data s3://corpora/images --from eu-west-1 --to eu-west-1
      lastro disk push best.safetensors s3://weights/best.safetensors --cap "5 USD" --offers offers.yaml
    """
    from lastro.flow.transfers.move import Mover

    wish = wish_of(origin, to, offers, cap, workers)
    with bytes_bar(_("sending"), shown=not as_json) as told:
        ahead = (lambda _told: None) if as_json else show_estimate
        result = Mover(Home(home_root()), SystemClock(), wish, told=told, ahead=ahead).push(source, target)
    if as_json:
        print_json({**result.as_json(), "exit_code": 0})
    else:
        show_result(result)
