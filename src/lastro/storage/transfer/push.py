"""Files are sent to a bucket: in parts, several at once, and only those that are not there yet."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from lastro.errors import StorageError, UsageError
from lastro.locale import _
from lastro.records import dataclass
from lastro.storage.digest import sha256_file
from lastro.storage.pack.names import shown
from lastro.storage.pack.tree import Kind, LeftOut, read_tree
from lastro.storage.transfer.compress import SUFFIX, compressed
from lastro.storage.transfer.journal import UploadJournal
from lastro.storage.transfer.manifest import NAME, Files, SentFile, read_files
from lastro.storage.transfer.parts import (
    PART_BYTES,
    Begun,
    Part,
    composite,
    go_on,
    part_bytes,
    parts_of,
    usable,
)
from lastro.storage.transfer.place import Bucket
from lastro.storage.transfer.s3 import S3, Object
from lastro.storage.transfer.shrink import Chosen, Shrinker
from lastro.storage.transfer.told import Tally


@dataclass(frozen=True, kw_only=True)
class Sent:
    """What lies at a place now.

    `left_out`: what cannot be an object, and why. `chosen`: what was compressed or not, and why.
    """

    files: Files
    left_out: tuple[LeftOut, ...]
    chosen: tuple[Chosen, ...] = ()


@dataclass(frozen=True, kw_only=True)
class _File:
    """One file to be sent, or its smaller copy, which has the same name and a suffix at the place."""

    name: str
    path: Path
    size: int
    changed_ns: int
    executable: bool
    suffix: str = ""


def push(
    source: Path,
    place: Bucket,
    store: S3,
    records: Path,
    tally: Tally,
    *,
    workers: int = 8,
    part_size: int = PART_BYTES,
    compress: bool = False,
) -> Sent:
    """Send a file, or all files of a folder, and a list of them with their sums; skip what is there already.

    After a kill the same call goes on: of a file in parts, the parts that the store lists, and that equal the
    file's, are not sent again. An own upload of a file that has changed is given up.

    Args:
        source: a file or a folder; links in it are left out.
        place: the key of the file, or what the keys of the folder's files begin with.
        store: where to.
        records: folder of the records of uploads that are not complete.
        tally: counts, and draws from the budget before anything moves.
        workers: parts that are sent at once.
        part_size: of files that are larger than this.
        compress: make those files smaller of which a sample says that it pays; see `compress`.

    Raises:
        UsageError: source is neither.
        StorageError: it cannot be read, changes, or the store does not take it; what was sent stays.
    """
    files, left_out = _files(source)
    if not place.key and not source.is_dir():
        raise UsageError(
            _("{place} is a bucket, and a file needs a key in it").format(place=place),
            hint=_("write s3://{bucket}/{name}").format(bucket=place.bucket, name=source.name),
        )
    tally.files, tally.bytes = len(files), sum(one.size for one in files)
    tally.total = tally.bytes
    there = _there(store, place, files)
    beside = _beside(source, place)
    with ThreadPoolExecutor(max_workers=workers) as pool:
        shrinker = None
        if compress:
            before = read_list(store, beside, tally)
            shrinker = Shrinker(
                place,
                records,
                store,
                tally,
                pool,
                names=[one.name for one in files],
                before={one.name: one for one in before.files} if before is not None else {},
                total=tally.bytes,
            )
        sender = _Sender(place, store, records, tally, pool, part_size, shrinker)
        sent = sender.send(files, there)
    listed = Files(files=tuple(sorted(sent, key=lambda one: os.fsencode(one.name))))
    store.put(beside, listed.as_bytes(), tally.take)
    tally.retried = store.retried
    chosen = tuple(shrinker.chosen) if shrinker is not None else ()
    return Sent(files=listed, left_out=left_out, chosen=chosen)


def _beside(source: Path, place: Bucket) -> Bucket:
    """Return where the list of what is sent lies."""
    return place.below(NAME) if source.is_dir() else Bucket(bucket=place.bucket, key=place.key + NAME)


def read_list(store: S3, beside: Bucket, tally: Tally) -> Files | None:
    """Return the list that lies beside what was sent; None when there is none. Raises StorageError."""
    found = store.head(beside)
    if found is None:
        return None
    return read_files(store.get(beside, 0, found.bytes, found.etag, draw=tally.take), str(beside))


@dataclass(frozen=True, kw_only=True)
class Ahead:
    """What a push would move: bytes, and calls that a store may bill."""

    bytes: int
    requests: int


def ahead(
    source: Path,
    place: Bucket,
    store: S3,
    records: Path,
    *,
    part_size: int = PART_BYTES,
    compress: bool = False,
) -> Ahead:
    """Return what is missing at a place, by sizes alone: what has the right size there is taken to be right.

    What is going to be compressed counts as it is: nobody has looked into it yet.

    Raises:
        UsageError, StorageError: as `push`.
    """
    files, _left_out = _files(source)
    there = _there(store, place, files)
    listed_before = read_list(store, _beside(source, place), Tally()) if compress else None
    before = {one.name: one for one in listed_before.files} if listed_before is not None else {}
    moved, requests = 0, 1
    for file in files:
        key = place.below(file.name) if file.name else place
        as_sent = before.get(file.name)
        packed = as_sent is not None and as_sent.packed_bytes is not None and as_sent.bytes == file.size
        known = there.get(key.key + SUFFIX if packed else key.key)
        if known is not None and known.bytes == (as_sent.stored_bytes if as_sent and packed else file.size):
            continue
        parts = parts_of(file.size, part_bytes(file.size, part_size))
        begun = UploadJournal(records, file.path, str(key)).read() if len(parts) > 1 else None
        listed = store.parts(key, begun.upload) if begun is not None and begun.upload else None
        if listed and begun is not None and (begun.size, begun.changed_ns) == (file.size, file.changed_ns):
            parts = parts_of(file.size, begun.part_bytes)
            done = usable(listed, parts)
            parts = [part for part in parts if part.number not in done]
        moved += sum(part.size for part in parts)
        requests += len(parts) + (2 if file.size > part_size else 0)
    return Ahead(bytes=moved, requests=requests)


def _files(source: Path) -> tuple[list[_File], tuple[LeftOut, ...]]:
    if source.is_file():
        facts = source.stat()
        single = _File(
            name="",
            path=source,
            size=facts.st_size,
            changed_ns=facts.st_mtime_ns,
            executable=bool(facts.st_mode & 0o100),
        )
        return [single], ()
    tree = read_tree(source)
    files, left_out = [], list(tree.left_out)
    for entry in tree.entries:
        if entry.kind is Kind.LINK:
            left_out.append(LeftOut(name=entry.name, why=_("a link cannot be an object")))
        elif entry.kind is Kind.FILE and not _is_text(entry.name):
            raise UsageError(
                _("{name} is not UTF-8, and a key has to be").format(name=shown(entry.name)),
                hint=_("pack the folder first: lastro disk pack; a pack keeps any name"),
            )
        elif entry.kind is Kind.FILE and entry.name != NAME.encode():
            name = entry.name.decode()
            files.append(
                _File(
                    name=name,
                    path=source / name,
                    size=entry.size,
                    changed_ns=entry.changed_ns,
                    executable=bool(entry.mode & 0o100),
                )
            )
    return files, tuple(left_out)


def _is_text(name: bytes) -> bool:
    try:
        name.decode()
    except UnicodeDecodeError:
        return False
    return True


def _there(store: S3, place: Bucket, files: Sequence[_File]) -> Mapping[str, Object]:
    """Return what lies at the place already, by key."""
    if len(files) == 1 and not files[0].name:
        keys = (place, Bucket(bucket=place.bucket, key=place.key + SUFFIX))
        return {one.key: one for one in map(store.head, keys) if one is not None}
    return {one.key: one for one in store.list(place.below("") if place.key else place)}


def all_done(futures: Iterable[Future[Any]]) -> None:
    """Wait for all; at the first error let what has not begun go, and raise it."""
    waiting = list(futures)
    try:
        for future in waiting:
            future.result()
    except BaseException:
        for future in waiting:
            future.cancel()
        raise


class _Sender:
    def __init__(
        self,
        place: Bucket,
        store: S3,
        records: Path,
        tally: Tally,
        pool: ThreadPoolExecutor,
        part_size: int,
        shrinker: Shrinker | None,
    ) -> None:
        self._place, self._store, self._records, self._shrinker = place, store, records, shrinker
        self._tally, self._pool, self._part_size = tally, pool, part_size

    def send(self, files: Sequence[_File], there: Mapping[str, Object]) -> list[SentFile]:
        """Send small files side by side, then large ones one by one with their parts side by side."""
        small = [one for one in files if one.size <= self._part_size]
        large = [one for one in files if one.size > self._part_size]
        sums = {one.name: self._pool.submit(sha256_file, one.path) for one in large}
        # Decided here, one by one: to ask for the rate of the way out takes workers of its own.
        shrunk = {one.name for one in small if self._shrinks(one)}
        futures = [self._pool.submit(self._small, one, one.name in shrunk, there) for one in small]
        all_done(futures)
        sent = [future.result() for future in futures]
        for one in large:
            as_sent = self._as_sent(one)
            known = there.get(self._key(as_sent).key)
            if as_sent.size > self._part_size:
                md5s = self._large(as_sent, known)
            else:
                md5s = [self._whole(as_sent, _read_all(as_sent), known)]
            sent.append(self._sent(one, as_sent, sums[one.name].result(), md5s))
            if as_sent is not one:
                _unchanged(one)
                as_sent.path.unlink()
        return sent

    def _shrinks(self, file: _File) -> bool:
        return self._shrinker is not None and self._shrinker.wants(file.name, file.path, file.size)

    def _as_sent(self, file: _File) -> _File:
        """Return the file as it goes: itself, or its smaller copy."""
        if self._shrinker is None or not self._shrinks(file):
            return file
        copy = self._shrinker.smaller(file.path, file.changed_ns)
        _unchanged(file)
        return _File(
            name=file.name,
            path=copy,
            size=copy.stat().st_size,
            changed_ns=file.changed_ns,
            executable=file.executable,
            suffix=SUFFIX,
        )

    def _key(self, file: _File) -> Bucket:
        place = self._place.below(file.name) if file.name else self._place
        return Bucket(bucket=place.bucket, key=place.key + file.suffix)

    def _sent(self, file: _File, as_sent: _File, sha256: str, md5s: Sequence[bytes]) -> SentFile:
        return SentFile(
            name=file.name,
            bytes=file.size,
            sha256=sha256,
            part_bytes=part_bytes(as_sent.size, self._part_size),
            md5s=tuple(md5.hex() for md5 in md5s),
            executable=file.executable,
            packed_bytes=as_sent.size if as_sent.suffix else None,
        )

    def _small(self, file: _File, shrink: bool, there: Mapping[str, Object]) -> SentFile:
        data = _read_all(file)
        sha256 = hashlib.sha256(data).hexdigest()
        as_sent = file
        if shrink:
            data = compressed(data)
            as_sent = dataclasses.replace(file, size=len(data), suffix=SUFFIX)
        md5 = self._whole(as_sent, data, there.get(self._key(as_sent).key))
        return self._sent(file, as_sent, sha256, [md5])

    def _whole(self, file: _File, data: bytes, there: Object | None) -> bytes:
        """Send a file in one piece; return its MD5."""
        md5 = hashlib.md5(data, usedforsecurity=False).digest()
        if there is not None and (there.bytes, there.etag) == (file.size, md5.hex()):
            self._was_there(file)
        else:
            began = time.perf_counter()
            self._store.put(self._key(file), data, self._tally.take)
            self._tally.part(time.perf_counter() - began)
        self._tally.done(file.size)
        return md5

    def _was_there(self, file: _File) -> None:
        self._tally.there_files += 1
        self._tally.there_bytes += file.size

    def _large(self, file: _File, there: Object | None) -> list[bytes]:
        """Send a file in parts; return the MD5 of each."""
        key = self._key(file)
        journal = UploadJournal(self._records, file.path, str(key))
        begun = journal.read()
        listed = self._store.parts(key, begun.upload) if begun is not None and begun.upload else None
        decided = go_on(begun, file.size, file.changed_ns, listed)
        if decided.abort is not None:
            self._store.abort(key, decided.abort)
        each = begun.part_bytes if decided.upload and begun else part_bytes(file.size, self._part_size)
        parts = parts_of(file.size, each)
        if decided.upload is None and there is not None and there.bytes == file.size:
            md5s = self._md5s(file, parts)
            if composite(md5s) == there.etag:
                journal.end()
                self._was_there(file)
                self._tally.done(file.size)
                return md5s
        upload = decided.upload or self._begin(file, key, journal, each)
        sent = self._parts(file, key, upload, parts, usable(listed or (), parts) if decided.upload else {})
        return self._complete(file, key, upload, sent, journal)

    def _begin(self, file: _File, key: Bucket, journal: UploadJournal, each: int) -> str:
        upload = self._store.begin(key)
        journal.write(Begun(upload=upload, size=file.size, changed_ns=file.changed_ns, part_bytes=each))
        return upload

    def _md5s(self, file: _File, parts: Sequence[Part]) -> list[bytes]:
        def md5(part: Part) -> bytes:
            return hashlib.md5(_read(file, part), usedforsecurity=False).digest()

        return list(self._pool.map(md5, parts))

    def _parts(
        self, file: _File, key: Bucket, upload: str, parts: Sequence[Part], there: Mapping[int, Any]
    ) -> list[tuple[int, str, bytes]]:
        """Return number, name in the store and MD5 of each part; send those that are not there, or differ."""

        def one(part: Part) -> tuple[int, str, bytes]:
            data = _read(file, part)
            md5 = hashlib.md5(data, usedforsecurity=False).digest()
            known = there.get(part.number)
            if known is not None and known.etag == md5.hex():
                self._tally.there_bytes += part.size
                etag = md5.hex()
            else:
                began = time.perf_counter()
                etag = self._store.put_part(key, upload, part.number, data, md5, self._tally.take)
                self._tally.part(time.perf_counter() - began)
            self._tally.done(part.size)
            return part.number, etag, md5

        futures = [self._pool.submit(one, part) for part in parts]
        all_done(futures)
        return [future.result() for future in futures]

    def _complete(
        self,
        file: _File,
        key: Bucket,
        upload: str,
        sent: Sequence[tuple[int, str, bytes]],
        journal: UploadJournal,
    ) -> list[bytes]:
        _unchanged(file)
        with contextlib.suppress(FileNotFoundError):  # a try whose answer was lost has completed it
            self._store.complete(key, upload, {number: etag for number, etag, _md5 in sent})
        md5s = [md5 for _number, _etag, md5 in sent]
        found = self._store.head(key)
        plain = all(etag == md5.hex() for _number, etag, md5 in sent)
        if found is None or found.bytes != file.size or (plain and found.etag != composite(md5s)):
            raise StorageError(
                _("{place} is not what was sent: {found}").format(
                    place=key, found=_("it is not there") if found is None else found.etag
                ),
                hint=_("type the same again; {file} is untouched").format(file=file.path),
            )
        journal.end()
        return md5s


def _read(file: _File, part: Part) -> bytes:
    try:
        with file.path.open("rb", buffering=0) as opened:
            data = os.pread(opened.fileno(), part.size, part.offset)
            after = os.fstat(opened.fileno())
    except OSError as error:
        raise StorageError(
            _("{path} cannot be read: {error}").format(path=file.path, error=error.strerror),
            hint=_("check its permissions and the disk; what was sent stays there"),
        ) from error
    if len(data) != part.size or (after.st_size, after.st_mtime_ns) != (file.size, file.changed_ns):
        raise _changed(file)
    return data


def _read_all(file: _File) -> bytes:
    return _read(file, Part(number=1, offset=0, size=file.size))


def _unchanged(file: _File) -> None:
    facts = file.path.stat()
    if (facts.st_size, facts.st_mtime_ns) != (file.size, file.changed_ns):
        raise _changed(file)


def _changed(file: _File) -> StorageError:
    return StorageError(
        _("{path} changed while it was being sent").format(path=file.path),
        hint=_("let what writes it finish, and type the same again"),
    )
