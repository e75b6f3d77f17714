"""`lastro disk pull`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lastro.cli.moving import move, moving, wish_of
from lastro.cli.options import as_json_option, command
from lastro.locale import _

if TYPE_CHECKING:
    from lastro.storage.transfer.ledger import Cap


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
    wish = wish_of(origin, to, offers, cap, workers)
    move(_("fetching"), wish, lambda mover: mover.pull(source, target), as_json=as_json)
