"""A folder of many files becomes a few shards: read, cut, written by several processes, verified."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from lastro import atomic
from lastro.errors import StorageError, UsageError
from lastro.locale import _
from lastro.records import dataclass
from lastro.storage.pack.checksum import best
from lastro.storage.pack.cut import SHARD_BYTES, cut, samples, taken
from lastro.storage.pack.index import index_bytes
from lastro.storage.pack.layout import INDEX, MANIFEST, NAMES, WORK, PackManifest, Row, Sealed, shard_name
from lastro.storage.pack.shard import Written
from lastro.storage.pack.tree import Kind, Tree, read_tree
from lastro.storage.pack.verify import damaged, verify_pack
from lastro.storage.pack.work import Shard, ask, written
from lastro.storage.pack.workers import work_off
from lastro.storage.system import processors
from lastro.units import show_bytes

#: Kept free beside what the shards take: the index, the names, and what others write meanwhile.
_SLACK = 16 * 2**20


@dataclass(frozen=True, kw_only=True)
class Packed:
    """A pack that was made and read again. `kept`: shards that an earlier, interrupted call had written."""

    folder: Path
    manifest: PackManifest
    kept: int
    holes: int


def pack(
    source: Path,
    target: Path,
    *,
    shard_bytes: int = SHARD_BYTES,
    workers: int | None = None,
    told: Callable[[int, int], None] = lambda _done, _total: None,
) -> Packed:
    """Pack all files below `source` into `target`, and read the result again.

    The same tree gives the same bytes, whatever the number of workers. After a kill the same call goes on:
    shards that are whole, and whose files have not changed, are not written again.

    Args:
        source: the folder; it is only read.
        target: a folder that is not there, is empty, or holds an earlier pack of `source`.
        shard_bytes: see `cut`.
        workers: how many processes; by default one for each processor that may be used.
        told: gets (bytes done, bytes in all), of the content.

    Raises:
        UsageError: source is a file, or one folder lies in the other.
        StorageError: target holds something else, is full or in use; or a file cannot be read, or changed.
    """
    tree = read_tree(source)
    _check_places(source, target)
    shards = [
        Shard(number=number, entries=tree.entries[begin:end])
        for number, (begin, end) in enumerate(cut(tree.entries, shard_bytes))
    ]
    count = workers or processors()
    atomic.make_folder(target / WORK)
    with _alone(target):
        checksum = best()
        there = {one.number: old for one in shards if (old := written(target, one, checksum))}
        missing = [one for one in shards if one.number not in there]
        _check_room(target, missing)
        _clear(target, len(shards))
        total = sum(one.bytes for one in shards)
        done = total - sum(one.bytes for one in missing)

        def tell(number: int) -> None:
            nonlocal done
            done += number
            told(done, total)

        told(done, total)
        (target / MANIFEST).unlink(missing_ok=True)
        work_off([ask(source, target, one, checksum) for one in missing], count, tell)
        results = [there.get(one.number) or written(target, one, checksum) for one in shards]
        manifest = _seal(target, tree, shards, results, checksum)
        found = verify_pack(target, workers=count)
        if found.wrong:
            (target / MANIFEST).unlink()
            raise damaged(target, found.wrong)
        shutil.rmtree(target / WORK)
    return Packed(folder=target, manifest=manifest, kept=len(there), holes=tree.holes)


def _check_places(source: Path, target: Path) -> None:
    if target.exists() and not target.is_dir():
        raise UsageError(
            _("{path} is a file, and a pack is a folder").format(path=target), hint=_("name another target")
        )
    here, there = source.resolve(), target.resolve()
    if here == there or here in there.parents or there in here.parents:
        raise UsageError(
            _("{source} and {target} lie in one another").format(source=source, target=target),
            hint=_("name a target beside the source"),
        )
    ours = target.is_dir() and ((target / WORK).is_dir() or (target / MANIFEST).is_file())
    if target.is_dir() and not ours and any(target.iterdir()):
        raise StorageError(
            _("{target} holds something that is no pack").format(target=target),
            hint=_("name a folder that is empty or not there; nothing was written"),
        )


@contextlib.contextmanager
def _alone(target: Path) -> Iterator[None]:
    """Hold the folder while a pack is made in it. The lock goes with the process, however that ends."""
    descriptor = os.open(target / WORK, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise StorageError(
                _("something else packs into {target} just now").format(target=target),
                hint=_("let it finish, or end it; then type the same again"),
            ) from error
        yield
    finally:
        os.close(descriptor)


def _check_room(target: Path, missing: Sequence[Shard]) -> None:
    needed = sum(taken(entry) for one in missing for entry in one.entries) + _SLACK
    free = shutil.disk_usage(target).free
    if needed > free:
        raise StorageError(
            _("{target} has {free} free, and the shards take {needed}").format(
                target=target, free=show_bytes(free), needed=show_bytes(needed)
            ),
            hint=_("make room, or name a target on a larger disk; nothing was written"),
        )


def _clear(target: Path, shards: int) -> None:
    """Remove what an interrupted call left half, and shards of an earlier tree that was larger."""
    names = {shard_name(number) for number in range(shards)}
    for path in target.iterdir():
        stale = path.name.startswith("shard-") and path.name.endswith(".tar") and path.name not in names
        if path.is_file() and (path.name.startswith(atomic.TEMPORARY) or stale):
            path.unlink()


def _seal(
    target: Path, tree: Tree, shards: Sequence[Shard], results: Sequence[Written | None], checksum: str
) -> PackManifest:
    """Write index, names and, last of all, the manifest."""
    done = [one for one in results if one is not None]
    assert len(done) == len(shards), "each shard was written, or an error was raised"
    files = [entry for entry in tree.entries if entry.kind is Kind.FILE]
    rows, end = [], 0
    numbers = samples(tree.entries)
    items = ((shard, item) for shard, one in enumerate(done) for item in one.items)
    for entry, (shard, (offset, size, value)), sample in zip(files, items, numbers, strict=True):
        end += len(entry.name) + 1
        rows.append(Row(offset, size, value, end, shard, sample))
    kinds = [entry.kind for entry in tree.entries]
    manifest = PackManifest(
        checksum=checksum,
        files=len(files),
        samples=rows[-1].sample + 1 if rows else 0,
        bytes=sum(entry.size for entry in files),
        links=kinds.count(Kind.LINK),
        empty_folders=kinds.count(Kind.FOLDER),
        shards=tuple(Sealed(shard_name(number), one.bytes, one.sha256) for number, one in enumerate(done)),
        index=_publish(target, INDEX, index_bytes(rows, len(rows))),
        names=_publish(target, NAMES, b"".join(entry.name + b"\0" for entry in files)),
        left_out=tuple(one.as_json() for one in tree.left_out),
    )
    manifest.write(target)
    return manifest


def _publish(target: Path, name: str, data: bytes) -> Sealed:
    atomic.write_bytes(target / name, data)
    return Sealed(name, len(data), hashlib.sha256(data).hexdigest())
