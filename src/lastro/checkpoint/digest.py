"""Digests of checkpoint files: XXH3-128 against accidents; SHA-256 where xxhash is not installed.

The manifest names the algorithm that was used, so the weaker level (slower, as far as speed goes) shows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Protocol

try:
    import xxhash
except ImportError:  # pragma: no cover - a core dependency, but the machine side lives without it
    xxhash = None  # type: ignore[assignment]

XXH3_128 = "xxh3_128"
SHA_256 = "sha256"


class Hasher(Protocol):
    """What both algorithms have in common."""

    def update(self, data: bytes | memoryview, /) -> None:
        """Take more bytes."""
        ...

    def hexdigest(self) -> str:
        """Return the digest of all bytes taken, in lower-case hex."""
        ...


def _makers() -> dict[str, Callable[[], Hasher]]:
    makers: dict[str, Callable[[], Hasher]] = {SHA_256: hashlib.sha256}
    if xxhash is not None:
        makers[XXH3_128] = xxhash.xxh3_128
    return makers


_MAKERS = _makers()

#: What this machine writes.
ALGORITHM = XXH3_128 if XXH3_128 in _MAKERS else SHA_256

#: Every algorithm that a manifest may name.
KNOWN = (XXH3_128, SHA_256)


def hasher(algorithm: str) -> Hasher | None:
    """Return a fresh hasher; None when this machine cannot compute that algorithm."""
    maker = _MAKERS.get(algorithm)
    return maker() if maker else None
