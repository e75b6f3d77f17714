"""Files are fetched from a bucket: in pieces, several at once, and only those that are not here yet."""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
import time
import zlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import Enum
from pathlib import Path

from lastro import atomic
from lastro.errors import StorageError, UsageError
from lastro.locale import _
from lastro.records import dataclass
from lastro.storage.digest import sha256_file
from lastro.storage.transfer.compress import expanded
from lastro.storage.transfer.journal import PieceJournal
from lastro.storage.transfer.manifest import NAME, Files, SentFile, inside
from lastro.storage.transfer.parts import PART_BYTES, Part, parts_of
from lastro.storage.transfer.place import Bucket
from lastro.storage.transfer.push import all_done, read_list
from lastro.storage.transfer.s3 import S3, Object
from lastro.storage.transfer.told import Tally
from lastro.units import show_bytes


class Level(str, Enum):
    """How what came was compared with what was sent. The value stands in results."""

    SHA256 = "sha256"
    MD5 = "md5"
    SIZE = "size"


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """A file to be fetched: its object, and what was told of it when it was sent (None: nobody told)."""

    name: str
    object: Object
    sent: SentFile | None

    @property
    def packed(self) -> bool:
        """Whether the object is the file made smaller."""
        return self.sent is not None and self.sent.packed_bytes is not None

    @property
    def bytes_here(self) -> int:
        """The size of the file when it is here."""
        return self.sent.bytes if self.sent is not None else self.object.bytes

    @property
    def level(self) -> Level:
        """By what it can be compared."""
        if self.sent is not None:
            return Level.SHA256
        return Level.SIZE if "-" in self.object.etag else Level.MD5


@dataclass(frozen=True, kw_only=True)
class Fetched:
    """What was fetched. `digest`: of all, if it was told at sending. `level`: the weakest of any file."""

    path: Path
    digest: str | None
    level: Level


def pull(place: Bucket, target: Path, store: S3, tally: Tally, *, workers: int = 8) -> Fetched:
    """Fetch an object, or all objects whose keys begin with `place` and a slash, and check what came.

    Each file appears whole under its name, or not at all. After a kill the same call goes on by pieces.

    Args:
        place: where from.
        target: of a single object its new file, or a folder that is there; else a folder.
        store: where it lies.
        tally: counts, and draws from the budget before anything moves.
        workers: pieces that are fetched at once.

    Raises:
        UsageError: another file lies where one has to come.
        StorageError: nothing is there, it does not fit, or it came damaged; nothing half lies under a name.
    """
    wanted, listed = find(place, store, tally)
    single = len(wanted) == 1 and not wanted[0].name
    if single and target.is_dir():
        target = target / place.key.rsplit("/", 1)[-1]
    tally.files, tally.bytes = len(wanted), sum(one.object.bytes for one in wanted)
    tally.total = tally.bytes
    _check_room(target, tally.bytes + sum(one.bytes_here for one in wanted if one.packed))
    with ThreadPoolExecutor(max_workers=workers) as pool:
        fetcher = _Fetcher(place.bucket, store, tally, pool)
        for one in wanted:
            fetcher.fetch(one, target if single else _below(target, one.name))
    tally.retried = store.retried
    weakest = max((one.level for one in wanted), key=list(Level).index, default=Level.SHA256)
    return Fetched(path=target, digest=listed.digest() if listed is not None else None, level=weakest)


def find(place: Bucket, store: S3, tally: Tally) -> tuple[list[Wanted], Files | None]:
    """Return what lies at a place: by the list beside it, or by its keys where there is none.

    Raises:
        StorageError: nothing is there, the list is damaged, or a key leads out of the folder.
    """
    if place.key:
        # The list first: what was sent smaller has another name, and an older object may still have this one.
        listed = read_list(store, Bucket(bucket=place.bucket, key=place.key + NAME), tally)
        sent = listed.files[0] if listed is not None else None
        alone = store.head(Bucket(bucket=place.bucket, key=place.key + (sent.stored if sent else "")))
        if alone is not None:
            return [Wanted(name="", object=alone, sent=sent)], listed
    prefix = place.below("") if place.key else place
    objects = {one.key[len(prefix.key) :]: one for one in store.list(prefix)}
    listed = read_list(store, prefix.below(NAME) if not place.key else place.below(NAME), tally)
    told = {one.name: one for one in listed.files} if listed is not None else None
    names = sorted(told if told is not None else (name for name in objects if not name.endswith("/")))
    if not names and listed is None:
        raise StorageError(
            _("nothing lies at {place}").format(place=place),
            hint=_("check bucket and key; nothing was written"),
        )
    for name in names:
        if not inside(name):
            raise StorageError(
                _("{place} holds {name!r}, which would leave the folder").format(place=place, name=name),
                hint=_("do not use it, or fetch single keys; nothing was written"),
            )
        stored, size = (told[name].stored, told[name].stored_bytes) if told is not None else (name, None)
        if stored not in objects or size not in (None, objects[stored].bytes):
            raise StorageError(
                _("{place} does not hold {name} as it was sent").format(place=place, name=name),
                hint=_("send it again, or fetch it from another copy; nothing was written"),
            )
    if told is None:
        return [Wanted(name=name, object=objects[name], sent=None) for name in names], None
    return [Wanted(name=name, object=objects[told[name].stored], sent=told[name]) for name in names], listed


def _check_room(target: Path, needed: int) -> None:
    around = next(parent for parent in (target, *target.absolute().parents) if parent.is_dir())
    free = shutil.disk_usage(around).free
    if needed > free:
        raise StorageError(
            _("{place} has {free} free, and what is fetched takes {needed}").format(
                place=around, free=show_bytes(free), needed=show_bytes(needed)
            ),
            hint=_("make room, or name a target on a larger disk; nothing was written"),
        )


def _below(target: Path, name: str) -> Path:
    path = target / name
    if not path.parent.resolve().is_relative_to(target.resolve()):
        raise UsageError(
            _("{path} lies behind a link that leaves {target}").format(path=path, target=target),
            hint=_("name an empty folder"),
        )
    return path


class _Fetcher:
    def __init__(self, bucket: str, store: S3, tally: Tally, pool: ThreadPoolExecutor) -> None:
        self._bucket, self._store, self._tally, self._pool = bucket, store, tally, pool

    def fetch(self, wanted: Wanted, path: Path) -> None:
        if path.exists():
            self._compare(wanted, path)
            self._tally.there_files += 1
            self._tally.there_bytes += wanted.object.bytes
            self._tally.done(wanted.object.bytes)
            return
        atomic.make_folder(path.parent)
        part = path.with_name(f".{path.name}.lastro-part")
        each = wanted.sent.part_bytes if wanted.sent is not None else PART_BYTES
        pieces = parts_of(wanted.object.bytes, each)
        found = wanted.object
        journal = PieceJournal(
            path.with_name(f".{path.name}.lastro-pieces"), f"{found.etag} {found.bytes} {each}"
        )
        descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
        try:
            done = _still_there(descriptor, pieces, journal.read())
            os.ftruncate(descriptor, found.bytes)
            journal.begin(done)
            self._pieces(wanted, descriptor, [one for one in pieces if one.number not in done], journal)
            os.fsync(descriptor)
        except OSError as error:
            raise _not_written(part, error) from error
        finally:
            os.close(descriptor)
        whole = _expand(part, wanted, journal) if wanted.packed else part
        self._check(wanted, whole, part, journal)
        whole.chmod(0o755 if wanted.sent is not None and wanted.sent.executable else 0o644)
        whole.replace(path)
        part.unlink(missing_ok=True)
        atomic.sync_folder(path.parent)
        journal.end()

    def _compare(self, wanted: Wanted, path: Path) -> None:
        """Raise unless what lies there is what would come."""
        if not path.is_file() or path.stat().st_size != wanted.bytes_here or not _equal(wanted, path):
            raise UsageError(
                _("{path} is there, and is not what would come").format(path=path),
                hint=_("move it away, or name another target; it was not touched"),
            )

    def _pieces(
        self, wanted: Wanted, descriptor: int, missing: Sequence[Part], journal: PieceJournal
    ) -> None:
        size = wanted.object.bytes
        self._tally.there_bytes += size - sum(one.size for one in missing)
        self._tally.done(size - sum(one.size for one in missing))
        place = Bucket(bucket=self._bucket, key=wanted.object.key)

        def one(piece: Part) -> None:
            md5 = wanted.sent.md5s[piece.number - 1] if wanted.sent is not None else None
            began = time.perf_counter()
            data = self._store.get(
                place, piece.offset, piece.size, wanted.object.etag, draw=self._tally.take, md5=md5
            )
            self._tally.part(time.perf_counter() - began)
            view, offset = memoryview(data), piece.offset
            while view:
                count = os.pwrite(descriptor, view, offset)
                view, offset = view[count:], offset + count
            os.fdatasync(descriptor) if hasattr(os, "fdatasync") else os.fsync(descriptor)
            journal.add(piece.number, hashlib.md5(data, usedforsecurity=False).hexdigest())
            self._tally.done(piece.size)

        all_done([self._pool.submit(one, piece) for piece in missing])

    def _check(self, wanted: Wanted, whole: Path, part: Path, journal: PieceJournal) -> None:
        if not _equal(wanted, whole):
            whole.unlink()
            part.unlink(missing_ok=True)
            journal.end()
            raise _other_bytes(wanted)


def _expand(part: Path, wanted: Wanted, journal: PieceJournal) -> Path:
    """Write the file that was made smaller beside what came; return where it lies.

    Raises:
        StorageError: it cannot be written, or what came is no gzip file. Then it is fetched anew next time.
    """
    plain = part.with_name(f"{part.name}-plain")
    try:
        with part.open("rb") as file, plain.open("wb") as out:
            for piece in expanded(file):
                if out.tell() + len(piece) > wanted.bytes_here:
                    raise EOFError  # it would fill the disk
                out.write(piece)
            out.flush()
            os.fsync(out.fileno())
    except (zlib.error, EOFError, gzip.BadGzipFile) as error:
        plain.unlink()
        part.unlink()
        journal.end()
        raise _other_bytes(wanted) from error
    except OSError as error:
        raise _not_written(plain, error) from error
    return plain


def _other_bytes(wanted: Wanted) -> StorageError:
    return StorageError(
        _("{key} came with other bytes than were sent").format(key=wanted.object.key),
        hint=_("type the same again, or fetch it from another copy"),
    )


def _equal(wanted: Wanted, path: Path) -> bool:
    """Say whether a file is what was sent, as far as that can be told."""
    if wanted.sent is not None:
        return sha256_file(path) == wanted.sent.sha256
    if wanted.level is Level.MD5:
        digest = hashlib.md5(usedforsecurity=False)
        with path.open("rb") as file:
            while piece := file.read(1 << 20):
                digest.update(piece)
        return digest.hexdigest() == wanted.object.etag
    return path.stat().st_size == wanted.object.bytes


def _still_there(descriptor: int, pieces: Sequence[Part], told: dict[int, str]) -> dict[int, str]:
    """Return the pieces that a record tells of and that the file holds."""
    found = {}
    for piece in pieces:
        if piece.number in told:
            data = os.pread(descriptor, piece.size, piece.offset)
            if hashlib.md5(data, usedforsecurity=False).hexdigest() == told[piece.number]:
                found[piece.number] = told[piece.number]
    return found


def _not_written(path: Path, error: OSError) -> StorageError:
    if isinstance(error, FileNotFoundError):
        return StorageError(
            _("{place} went away while it was being fetched").format(place=error.args[0]),
            hint=_("fetch it from another copy"),
        )
    return StorageError(
        _("{path} cannot be written: {error}").format(path=path, error=error.strerror or error),
        hint=_("check room and permissions, and type the same again: what has come is not fetched again"),
    )
