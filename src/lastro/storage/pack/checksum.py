"""Sums of single items, against accidents: XXH3-64, or CRC-32 where xxhash is not installed."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import TypeAlias

from lastro.errors import StorageError
from lastro.locale import _

try:
    import xxhash
except ImportError:  # the machine side needs the standard library only
    xxhash = None  # type: ignore[assignment]

XXH3, CRC32 = "xxh3_64", "crc32"

Buffer: TypeAlias = "bytes | bytearray | memoryview"


_SUMS: dict[str, Callable[[Buffer], int]] = {CRC32: zlib.crc32}
if xxhash is not None:
    _SUMS[XXH3] = xxhash.xxh3_64_intdigest


def best() -> str:
    """Return the name of the sum that new packs are made with here: the faster one that there is."""
    return XXH3 if XXH3 in _SUMS else CRC32


def summer(name: str) -> Callable[[Buffer], int]:
    """Return the function of this name: from bytes to an unsigned number of 64 bits or fewer.

    Raises:
        StorageError: it cannot be computed here.
    """
    if name in _SUMS:
        return _SUMS[name]
    raise StorageError(
        _("the sums of these items are {name}, which cannot be computed here").format(name=name),
        hint=_("install xxhash: pip install xxhash"),
    )


class Running:
    """The same sum over bytes that come in pieces."""

    def __init__(self, name: str) -> None:
        summer(name)
        self._crc = 0
        self._xxh3 = xxhash.xxh3_64() if name == XXH3 else None

    def update(self, piece: Buffer) -> None:
        """Take the next bytes."""
        if self._xxh3 is not None:
            self._xxh3.update(piece)
        else:
            self._crc = zlib.crc32(piece, self._crc)

    def value(self) -> int:
        """Return the sum over all that came."""
        return self._crc if self._xxh3 is None else self._xxh3.intdigest()
