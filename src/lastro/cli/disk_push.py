"""`lastro disk push`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lastro.cli.moving import move, moving, wish_of
from lastro.cli.options import as_json_option, command, option
from lastro.locale import _


@command()
@click.argument("source", type=click.Path(path_type=Path, exists=True))
@click.argument("target", metavar="TARGET")
@moving
@option("--compress", is_flag=True, help="Make files smaller on their way, where a sample says that it pays.")
@as_json_option
def disk_push(source: Path, target: str, as_json: bool, **wish: Any) -> None:
    """Send a file or a folder to a bucket (s3://bucket/key) or a machine (ssh://user@host/path).

    What it moves and costs is told before the first byte. After a kill the same line goes on: only what is
    missing is sent, and own uploads that are of no use any more are given up. Every part is compared with
    what the store says it holds. A file that was made smaller lies there under its name and .gz; a pull
    gives it back as it was.

    \b
    Example:
      lastro disk push data s3://corpora/images --from eu-west-1 --to eu-west-1
      lastro disk push best.safetensors s3://weights/best.safetensors --cap "5 USD" --offers offers.yaml
    """
    move(_("sending"), wish_of(**wish), lambda mover: mover.push(source, target), as_json=as_json)
