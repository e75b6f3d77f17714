"""`lastro disk pack`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from lastro.cli.bar import bytes_bar
from lastro.cli.given import given_by
from lastro.cli.options import as_json_option, command, option
from lastro.cli.render import print_json
from lastro.errors import UsageError
from lastro.locale import _, ngettext
from lastro.storage.pack.cut import SHARD_BYTES
from lastro.storage.pack.names import shown
from lastro.storage.pack.pack import Packed, pack
from lastro.storage.pack.parquet import to_parquet
from lastro.storage.pack.source import Removed
from lastro.storage.pack.source import remove_source as remove
from lastro.units import parse_bytes, show_bytes


@command()
@click.argument("source", type=click.Path(path_type=Path))
@click.argument("target", type=click.Path(path_type=Path))
@option(
    "--shard-size", callback=given_by(parse_bytes), metavar="SIZE", help="Of one shard; 256 MB by default."
)
@option("--workers", type=click.IntRange(min=1), help="Processes; one for each processor by default.")
@option(
    "--remove-source", is_flag=True, help="Remove each file that the pack, read again, holds to the byte."
)
@option(
    "--as",
    "form",
    type=click.Choice(["tar", "parquet"]),
    default="tar",
    show_default=True,
    help="parquet: text and tables (CSV, TSV, JSON lines), by DuckDB.",
)
@as_json_option
def disk_pack(
    source: Path,
    target: Path,
    shard_size: int | None,
    workers: int | None,
    remove_source: bool,
    form: str,
    as_json: bool,
) -> None:
    """Pack a folder of many files into few large ones, which are read again before it is called done.

    Shards are POSIX tar, the same bytes for the same files, with an index beside them: `tar` lists them,
    WebDataset streams them, `lastro.data.PackedDataset` reads any item at once. What was interrupted goes on
    where it was. What cannot be packed (sockets, links that leave the folder) is told and stays.

    \b
    Example:
      lastro disk pack photos /mnt/disk/data/photos
      lastro disk pack photos /mnt/disk/data/photos --remove-source
      lastro disk pack reviews /mnt/disk/data/reviews --as parquet
    """
    if form == "parquet":
        _as_parquet(source, target, remove_source or shard_size is not None or workers is not None, as_json)
        return
    with bytes_bar(_("packing"), shown=not as_json) as told:
        packed = pack(source, target, shard_bytes=shard_size or SHARD_BYTES, workers=workers, told=told)
    removed = remove(source, target) if remove_source else None
    if as_json:
        print_json({**_as_json(packed, removed), "exit_code": 0})
    else:
        _show(packed, removed)


def _as_parquet(source: Path, target: Path, more: bool, as_json: bool) -> None:
    if more:
        raise UsageError(
            _("--as parquet takes none of --remove-source, --shard-size and --workers"),
            hint=_("rows are not the files that they came from: the source stays"),
        )
    with bytes_bar(_("reading"), shown=not as_json) as told:
        done = to_parquet(source, target, told=told)
    if as_json:
        tables = [asdict(one) for one in done.tables]
        left_out = [one.as_json() for one in done.left_out]
        print_json({"folder": str(done.folder), "tables": tables, "left_out": left_out, "exit_code": 0})
        return
    for one in done.tables:
        click.echo(
            _("{name}: {rows} rows, {size}").format(name=one.name, rows=one.rows, size=show_bytes(one.bytes))
        )
    for skipped in done.left_out:
        click.echo(_("not packed: {path}: {why}").format(path=shown(skipped.name), why=skipped.why))


def _as_json(packed: Packed, removed: Removed | None) -> dict[str, Any]:
    manifest = packed.manifest
    return {
        "folder": str(packed.folder),
        **manifest.as_json(),
        "packed_bytes": manifest.packed_bytes,
        "shards_kept": packed.kept,
        "holes_bytes": packed.holes,
        "verified": True,
        "removed": asdict(removed) if removed is not None else None,
    }


def _show(packed: Packed, removed: Removed | None) -> None:
    manifest = packed.manifest
    click.echo(
        ngettext(
            "{files} files, {size}, in {shards} shard at {folder}; every byte was read again",
            "{files} files, {size}, in {shards} shards at {folder}; every byte was read again",
            len(manifest.shards),
        ).format(
            files=manifest.files,
            size=show_bytes(manifest.bytes),
            shards=len(manifest.shards),
            folder=packed.folder,
        )
    )
    click.echo(_("digest {digest}").format(digest=manifest.digest()))
    if packed.kept:
        click.echo(_("{count} shards were there from before").format(count=packed.kept))
    if packed.holes:
        click.echo(_("{size} of holes in sparse files take room now").format(size=show_bytes(packed.holes)))
    for one in manifest.left_out:
        click.echo(_("not packed: {path}: {why}").format(path=one["path"], why=one["why"]))
    if removed is not None:
        size = show_bytes(removed.bytes)
        click.echo(_("removed {files} files, {size}, of the source").format(files=removed.files, size=size))
        for name in removed.kept:
            click.echo(_("stays in the source, the pack does not hold it so: {path}").format(path=name))
