"""A pack becomes a folder again. Nothing is ever written outside of it, whoever made the shards."""

from __future__ import annotations

import os
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

from lastro import atomic
from lastro.errors import StorageError, UsageError
from lastro.locale import _
from lastro.records import dataclass
from lastro.storage.pack.checksum import Running
from lastro.storage.pack.index import Index
from lastro.storage.pack.layout import PackManifest
from lastro.storage.pack.names import shown
from lastro.storage.pack.tree import is_below, stays_inside
from lastro.units import show_bytes

_PIECE = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Unpacked:
    """What was written: files, links, and the bytes of the files."""

    files: int
    links: int
    bytes: int


def unpack(
    folder: Path, target: Path, *, told: Callable[[int, int], None] = lambda _done, _total: None
) -> Unpacked:
    """Write all that a pack holds into a new folder; each file's sum is checked as it is written.

    The folder appears whole or not at all.

    Args:
        folder: the pack.
        target: is not there, or an empty folder.
        told: gets (bytes done, bytes in all).

    Raises:
        UsageError: target is there and is not empty.
        StorageError: the pack is damaged, holds a name or a link that leaves the folder, or does not fit; or
            two names are one for the target's file system.
    """
    manifest = PackManifest.read(folder)
    index = Index(folder, manifest)
    _check_target(target, manifest)
    if target.is_dir():
        target.rmdir()
    atomic.make_folder(target.parent)
    try:
        with atomic.publish_folder(target) as aside:
            # One sync for all of them: that of each file, which follows, then finds nothing left to do.
            result = _Writer(folder, aside, manifest, index, told).write()
            os.sync()
    except OSError as error:
        hint = (
            _("make room, or name a target on a larger disk; nothing was left there")
            if atomic.is_full(error)
            else _("check the disk and its permissions; nothing was left there")
        )
        raise StorageError(
            _("{target} cannot be written: {error}").format(target=target, error=error.strerror or error),
            hint=hint,
        ) from error
    return result


def _check_target(target: Path, manifest: PackManifest) -> None:
    if target.is_symlink() or (target.exists() and (not target.is_dir() or any(target.iterdir()))):
        raise UsageError(
            _("{target} is there already").format(target=target),
            hint=_("name a folder that is not there, or an empty one; nothing was written"),
        )
    place = next(parent for parent in (target, *target.absolute().parents) if parent.is_dir())
    free = shutil.disk_usage(place).free
    if manifest.bytes > free:
        raise StorageError(
            _("{place} has {free} free, and the files take {needed}").format(
                place=place, free=show_bytes(free), needed=show_bytes(manifest.bytes)
            ),
            hint=_("make room, or name a target on a larger disk; nothing was written"),
        )


class _Writer:
    """Files and folders first, links last: so no name can lead through a link."""

    def __init__(
        self,
        folder: Path,
        root: Path,
        manifest: PackManifest,
        index: Index,
        told: Callable[[int, int], None],
    ) -> None:
        self._folder, self._manifest, self._index, self._told = folder, manifest, index, told
        self._root = os.fsencode(root)
        self._links: list[tuple[bytes, bytes]] = []
        self._number, self._bytes = 0, 0

    def write(self) -> Unpacked:
        for number, sealed in enumerate(self._manifest.shards):
            path = self._folder / sealed.name
            try:
                with tarfile.open(path, "r:", encoding="utf-8", errors="surrogateescape") as tar:
                    for member in tar:
                        self._member(tar, member, number)
            except (tarfile.TarError, EOFError, FileNotFoundError) as error:
                raise self._damaged(sealed.name, str(error)) from error
        if self._number != self._manifest.files:
            raise self._damaged("", _("files are missing"))
        self._make_links()
        return Unpacked(files=self._number, links=len(self._links), bytes=self._bytes)

    def _member(self, tar: tarfile.TarFile, member: tarfile.TarInfo, shard: int) -> None:
        name = os.fsencode(member.name)
        parts = name.split(b"/")
        if name.startswith(b"/") or b".." in parts or b"" in parts or b"." in parts:
            raise self._foreign(name)
        path = os.path.join(self._root, name)
        if member.isdir():
            os.makedirs(path, exist_ok=True)
        elif member.issym():
            target = os.fsencode(member.linkname)
            if not stays_inside(name, target):
                raise self._foreign(name)
            self._links.append((name, target))
        elif member.isreg():
            self._file(tar, member, name, shard)
        else:
            raise self._foreign(name)

    def _file(self, tar: tarfile.TarFile, member: tarfile.TarInfo, name: bytes, shard: int) -> None:
        number = self._number
        if number >= len(self._index) or self._index.name(number) != name:
            raise self._damaged(shown(name), _("it is not the file that the index tells of here"))
        row = self._index.row(number)
        if (row.shard, row.offset, row.size) != (shard, member.offset_data, member.size):
            raise self._damaged(shown(name), _("the index tells of another place"))
        self._copy(tar, member, name)
        self._number += 1
        self._bytes += row.size
        self._told(self._bytes, self._manifest.bytes)

    def _copy(self, tar: tarfile.TarFile, member: tarfile.TarInfo, name: bytes) -> None:
        path = os.path.join(self._root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        mode = 0o755 if member.mode & 0o100 else 0o644
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
        except FileExistsError as error:
            raise self._collides(name) from error
        source, running = tar.extractfile(member), Running(self._manifest.checksum)
        assert source is not None, "a regular member has content"
        with os.fdopen(descriptor, "wb", buffering=0) as out:
            while piece := source.read(_PIECE):
                running.update(piece)
                view = memoryview(piece)
                while view:
                    view = view[out.write(view) :]
        if running.value() != self._index.row(self._number).checksum:
            raise self._damaged(shown(name), _("its content has another sum than the index says"))

    def _make_links(self) -> None:
        for name, target in self._links:
            path = os.path.join(self._root, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            try:
                os.symlink(target, path)
            except FileExistsError as error:
                raise self._collides(name) from error
        # A chain of links, each of which stays inside by its text, may still lead out.
        real = os.path.realpath(self._root)
        for name, _target in self._links:
            if not is_below(os.path.realpath(os.path.join(self._root, name)), real):
                raise self._foreign(name)

    def _damaged(self, name: str, why: str) -> StorageError:
        return StorageError(
            _("{folder} is damaged at {name}: {why}").format(
                folder=self._folder, name=name or _("its end"), why=why
            ),
            hint=_("`lastro disk unpack --verify` tells what else is wrong; nothing was left at the target"),
        )

    def _foreign(self, name: bytes) -> StorageError:
        return StorageError(
            _("{folder} holds {name}, which would leave the folder").format(
                folder=self._folder, name=shown(name)
            ),
            hint=_("lastro did not make this pack; do not use it. Nothing was written outside"),
        )

    def _collides(self, name: bytes) -> StorageError:
        return StorageError(
            _("{name} is one with another name on this file system").format(name=shown(name)),
            hint=_("it does not tell large letters from small ones; name a target on one that does"),
        )
