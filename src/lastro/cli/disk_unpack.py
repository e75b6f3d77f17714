"""`lastro disk unpack`."""

from __future__ import annotations

from pathlib import Path

import click

from lastro.cli.bar import bytes_bar
from lastro.cli.options import as_json_option, command, option
from lastro.cli.render import print_json
from lastro.errors import UsageError
from lastro.locale import _
from lastro.storage.pack.layout import PackManifest
from lastro.storage.pack.unpack import unpack
from lastro.storage.pack.verify import damaged, verify_pack
from lastro.storage.system import processors
from lastro.units import show_bytes


@command()
@click.argument("packed", type=click.Path(path_type=Path))
@click.argument("target", type=click.Path(path_type=Path), required=False, metavar="[TARGET]")
@option("--verify", is_flag=True, help="Only read the pack again, every byte, and say whether it is whole.")
@as_json_option
def disk_unpack(packed: Path, target: Path | None, verify: bool, as_json: bool) -> None:
    """Write the files of a pack into a new folder, or only verify the pack.

    The folder appears whole or not at all. Nothing is written outside of it, whoever made the pack.

    \b
    Example:
      lastro disk unpack /mnt/disk/data/photos photos
      lastro disk unpack /mnt/disk/data/photos --verify
    """
    if verify == (target is not None):
        raise UsageError(
            _("there has to be a target, or --verify, and not both"),
            hint=_("lastro disk unpack {packed} FOLDER").format(packed=packed),
        )
    if target is None:
        _verify(packed, as_json)
        return
    with bytes_bar(_("unpacking"), shown=not as_json) as told:
        done = unpack(packed, target, told=told)
    if as_json:
        facts = {"files": done.files, "links": done.links, "bytes": done.bytes}
        print_json({"target": str(target), **facts, "exit_code": 0})
    else:
        click.echo(
            _("{files} files, {size}, in {target}").format(
                files=done.files, size=show_bytes(done.bytes), target=target
            )
        )


def _verify(packed: Path, as_json: bool) -> None:
    total, done = PackManifest.read(packed).packed_bytes, 0
    with bytes_bar(_("reading"), shown=not as_json) as told:

        def tell(count: int) -> None:
            nonlocal done
            done += count
            told(done, total)

        found = verify_pack(packed, workers=processors(), told=tell)
    if found.wrong:
        raise damaged(packed, found.wrong)
    manifest = found.manifest
    if as_json:
        print_json({**manifest.as_json(), "verified": True, "exit_code": 0})
    else:
        click.echo(
            _("whole: {files} files in {shards} shards, digest {digest}").format(
                files=manifest.files, shards=len(manifest.shards), digest=manifest.digest()
            )
        )
