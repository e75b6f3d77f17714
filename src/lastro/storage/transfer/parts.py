"""How a file is cut into parts, and what a store says of a file that came in parts. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from lastro.locale import _
from lastro.records import dataclass

MIB = 2**20
#: A part is the least that is sent again. Source: the limits of Amazon S3 (2026-11): 5 MiB to 5 GiB a part,
#: 10,000 parts.
PART_BYTES = 16 * MIB
_MOST_PARTS = 10_000


@dataclass(frozen=True, kw_only=True)
class Part:
    """Bytes `offset` to `offset + size` of a file; numbers begin at 1."""

    number: int
    offset: int
    size: int


def part_bytes(size: int, wanted: int = PART_BYTES) -> int:
    """Return the size of the parts of a file: as wanted, or larger where there would be too many."""
    least = -(-size // _MOST_PARTS)
    return max(wanted, -(-least // MIB) * MIB)


def parts_of(size: int, each: int) -> list[Part]:
    """Return the parts of a file; one that is empty has one."""
    starts = range(0, size, each) if size else (0,)
    return [
        Part(number=number, offset=offset, size=min(each, size - offset))
        for number, offset in enumerate(starts, start=1)
    ]


def composite(md5s: Sequence[bytes]) -> str:
    """Return what a store calls a file: its MD5, or that of the MD5s of several parts, and their count."""
    if len(md5s) == 1:
        return md5s[0].hex()
    return f"{hashlib.md5(b''.join(md5s), usedforsecurity=False).hexdigest()}-{len(md5s)}"


@dataclass(frozen=True, kw_only=True)
class There:
    """A part that the store holds."""

    number: int
    size: int
    etag: str


@dataclass(frozen=True, kw_only=True)
class Begun:
    """An upload that was begun before, as its journal tells."""

    upload: str | None
    size: int
    changed_ns: int
    part_bytes: int


@dataclass(frozen=True, kw_only=True)
class GoOn:
    """What to do with an upload: `upload` None begins anew, `abort` names an own one to give up first."""

    upload: str | None
    abort: str | None
    why: str


def go_on(begun: Begun | None, size: int, changed_ns: int, there: Sequence[There] | None) -> GoOn:
    """Decide what becomes of an earlier upload of a file.

    Args:
        begun: what the journal tells; None without one.
        size: of the file now, in bytes.
        changed_ns: when it was changed.
        there: the parts that the store lists; None when it knows of no such upload.
    """
    if begun is None or begun.upload is None:
        return GoOn(upload=None, abort=None, why=_("nothing of it was sent before"))
    if (begun.size, begun.changed_ns) != (size, changed_ns):
        why = _("the file has changed since it was begun")
        return GoOn(upload=None, abort=begun.upload if there is not None else None, why=why)
    if there is None:
        return GoOn(upload=None, abort=None, why=_("the store knows no more of what was begun"))
    why = _("{count} parts are there from before").format(count=len(there))
    return GoOn(upload=begun.upload, abort=None, why=why)


def usable(there: Sequence[There], parts: Sequence[Part]) -> Mapping[int, There]:
    """Return by number the listed parts that have the size that they should have; their sums come later."""
    sizes = {part.number: part.size for part in parts}
    return {one.number: one for one in there if sizes.get(one.number) == one.size}


def percentiles(seconds: Sequence[float]) -> tuple[float, float] | None:
    """Return the median and the 99th percentile, each a value that was measured; None without one."""
    if not seconds:
        return None
    ordered = sorted(seconds)
    last = len(ordered) - 1
    return ordered[last // 2], ordered[-(-last * 99 // 100)]
