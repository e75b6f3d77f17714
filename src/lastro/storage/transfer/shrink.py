"""Which files of a push are made smaller on their way, and the smaller copies of the large ones."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import time
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from lastro.locale import _
from lastro.records import dataclass
from lastro.storage.pack.names import shown
from lastro.storage.system import processors
from lastro.storage.transfer.compress import (
    LEAST_BYTES,
    SUFFIX,
    Choice,
    choose,
    compress_file,
    hopeless,
    take_sample,
)
from lastro.storage.transfer.journal import UploadJournal
from lastro.storage.transfer.manifest import SentFile
from lastro.storage.transfer.place import Bucket
from lastro.storage.transfer.s3 import S3
from lastro.storage.transfer.told import Tally

#: The rate is measured with a sixteenth of what is sent, within these; it goes in so many pieces at once.
_LEAST_REHEARSAL, _MOST_REHEARSAL, _PIECES = 1 << 20, 16 << 20, 4
#: Kept free beside a smaller copy.
_SLACK = 64 << 20


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """What was decided of a file, and why."""

    name: str
    compress: bool
    why: str

    def as_json(self) -> dict[str, Any]:
        return {"path": shown(os.fsencode(self.name)), "compressed": self.compress, "why": self.why}


class Shrinker:
    """Decides for the files of one push.

    Args:
        place: where they go.
        records: where smaller copies lie while they are sent, beside the records of uploads.
        store, tally, pool: of the push; the rate of the way out is measured with them, when it is asked for.
        names: of all files that are sent.
        before: what was sent to this place before, by name.
        total: bytes of all files.
    """

    def __init__(
        self,
        place: Bucket,
        records: Path,
        store: S3,
        tally: Tally,
        pool: ThreadPoolExecutor,
        *,
        names: Collection[str],
        before: Mapping[str, SentFile],
        total: int,
    ) -> None:
        self._place, self._records, self._store, self._tally, self._pool = place, records, store, tally, pool
        self._names, self._before, self._total = frozenset(names), before, total
        self._rate: float | None = None
        self.chosen: list[Chosen] = []

    def wants(self, name: str, path: Path, size: int) -> bool:
        """Say whether a file is to be made smaller, and keep why.

        Raises:
            OSError: it cannot be read.
            StorageError, StoppedByRule: the rate of the way out could not be measured.
        """
        if size < LEAST_BYTES:
            return False
        choice = self._choose(name, path, size)
        self.chosen.append(Chosen(name=name, compress=choice.compress, why=choice.why))
        return choice.compress

    def _choose(self, name: str, path: Path, size: int) -> Choice:
        if name + SUFFIX in self._names:
            return Choice(compress=False, why=_("another file has the name that it would get"))
        known = self._before.get(name)
        if known is not None and known.bytes == size:
            return Choice(compress=known.packed_bytes is not None, why=_("it was sent so before"))
        for compress, origin in ((True, self.copy_of(path)), (False, path)):
            key = self._key(name, SUFFIX if compress else "")
            if UploadJournal(self._records, origin, str(key)).read() is not None:
                return Choice(compress=compress, why=_("it was begun so"))
        sample = take_sample(path, size)
        if hopeless(sample):
            share = f"{sample.left / sample.bytes:.0%}"
            return Choice(compress=False, why=_("a sample keeps {share}").format(share=share))
        if shutil.disk_usage(path.parent).free < size + _SLACK:
            return Choice(compress=False, why=_("there is no room for a smaller copy"))
        return choose(sample, self._way_out(), processors())

    def copy_of(self, path: Path) -> Path:
        """Return where the smaller copy of a file lies while it is sent."""
        key = hashlib.sha256(os.fsencode(f"{path.absolute()}\0{self._place}")).hexdigest()
        return self._records / f"{key[:32]}{SUFFIX}"

    def smaller(self, path: Path, changed_ns: int) -> Path:
        """Return the smaller copy of a file; one that is there from before a kill is used again."""
        copy = self.copy_of(path)
        if not copy.exists() or copy.stat().st_mtime_ns != changed_ns:
            compress_file(path, copy, self._pool)
        return copy

    def _key(self, name: str, suffix: str) -> Bucket:
        place = self._place.below(name) if name else self._place
        return Bucket(bucket=place.bucket, key=place.key + suffix)

    def _way_out(self) -> float:
        """Return how many bytes a second go out, measured once with random bytes that are removed again."""
        if self._rate is None:
            size = min(max(self._total // 16, _LEAST_REHEARSAL), _MOST_REHEARSAL) // _PIECES
            key = f"{self._place.key}.lastro-rehearsal-{secrets.token_hex(4)}"
            places = [Bucket(bucket=self._place.bucket, key=f"{key}-{number}") for number in range(_PIECES)]
            data = os.urandom(size)
            began = time.perf_counter()
            try:
                list(self._pool.map(lambda place: self._store.put(place, data, self._tally.take), places))
                self._rate = size * _PIECES / (time.perf_counter() - began)
            finally:
                for place in places:
                    self._store.remove(place)
        return self._rate
