"""Whether a file is made smaller before it leaves the machine: a sample and the rate of the way out say it.

What is sent then is a gzip file of several members, which `gzip -d` reads, under a name that says so. Not a
Content-Encoding: some clients undo that without a word and others do not, so a name would hold one thing or
another by who asks.
"""

from __future__ import annotations

import gzip
import os
import time
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO

from lastro import atomic
from lastro.locale import _
from lastro.records import dataclass
from lastro.units import show_bytes

#: What a name is ended by, and the fastest of zlib's levels: a slower one makes text a tenth smaller.
SUFFIX, _LEVEL = ".gz", 1
#: A member holds so much of a file, so several are made at once; by RFC 1952, with no time in it.
_MEMBER, _WBITS = 4 << 20, 31
#: A sample is so many pieces of so many bytes, from the beginning to the end of a file.
_PIECES, _PIECE = 4, 256 << 10
#: Smaller files cost a call and little else. To save less than a tenth of the time is not worth a new name.
LEAST_BYTES, _WORTH = 64 << 10, 0.9


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Some of a file: its bytes, what is left of them, and how long one thread took, in seconds."""

    bytes: int
    left: int
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Choice:
    """Whether a file is compressed, and why."""

    compress: bool
    why: str


def hopeless(sample: Sample) -> bool:
    """Say whether so little is saved that no rate of the way out would make it worth while."""
    return sample.left >= _WORTH * sample.bytes


def choose(sample: Sample, rate: float, threads: int) -> Choice:
    """Decide from what compressing a sample took, and left.

    It is done before the first byte goes, so both times count: to make it smaller, and to send what is left.

    Args:
        sample: of the file.
        rate: bytes a second that go out.
        threads: how many of them compress at once.
    """
    share = sample.left / sample.bytes if sample.bytes else 1.0
    seconds = sample.seconds / sample.bytes / threads if sample.bytes else 0.0
    plain, smaller = 1 / rate, seconds + share / rate
    told = {"share": f"{share:.0%}", "rate": show_bytes(int(rate)), "time": f"{smaller / plain:.0%}"}
    if smaller < _WORTH * plain:
        why = _("a sample keeps {share}; at {rate}/s it is there in {time} of the time").format(**told)
        return Choice(compress=True, why=why)
    why = _("a sample keeps {share}; at {rate}/s it would take {time} of the time").format(**told)
    return Choice(compress=False, why=why)


def take_sample(path: Path, size: int) -> Sample:
    """Compress a few pieces of a file. Raises OSError."""
    pieces = []
    with path.open("rb") as file:
        for number in range(_PIECES):
            file.seek(max(size - _PIECE, 0) * number // (_PIECES - 1))
            pieces.append(file.read(_PIECE))
    began = time.thread_time()
    left = sum(len(compressed(piece)) for piece in pieces)
    return Sample(bytes=sum(map(len, pieces)), left=left, seconds=time.thread_time() - began)


def compressed(data: bytes) -> bytes:
    """Return one gzip member; the same bytes give the same member."""
    engine = zlib.compressobj(_LEVEL, zlib.DEFLATED, _WBITS)
    return engine.compress(data) + engine.flush()


def compress_file(source: Path, target: Path, pool: ThreadPoolExecutor) -> None:
    """Write a file compressed, whole or not at all. Raises OSError and StorageError.

    It gets the time of the source, so whoever goes on after a kill knows it again.
    """
    changed = source.stat().st_mtime_ns
    atomic.make_folder(target.parent)
    with atomic.publish_file(target) as aside, source.open("rb") as file:
        with aside.open("wb") as out:
            # Not all of them at once, or a large file would lie in memory.
            batch = [file.read(_MEMBER) for _number in range(_AT_ONCE)]
            while batch[0] or not out.tell():
                for member in pool.map(compressed, [piece for piece in batch if piece] or [b""]):
                    out.write(member)
                batch = [file.read(_MEMBER) for _number in range(_AT_ONCE)]
        os.utime(aside, ns=(changed, changed))


#: Members that are made at once.
_AT_ONCE = 8


def expanded(file: BinaryIO) -> Iterator[bytes]:
    """Yield what a gzip file of any number of members holds, in pieces of at most a member.

    Raises:
        zlib.error, EOFError, gzip.BadGzipFile: it is none, or was cut.
    """
    with gzip.GzipFile(fileobj=file) as whole:
        while piece := whole.read(_MEMBER):
            yield piece
