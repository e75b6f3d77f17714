"""Random numbers without chance: the same name, seed and count give the same number on every machine."""

from __future__ import annotations

import hashlib
from math import sqrt

from lastro.plan.parts import Span

# SplitMix64: G. L. Steele, D. Lea, C. H. Flood, OOPSLA 2014. Its state grows by GOLDEN each time, so that its
# number k is found without those before it.
MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
FIRST, SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
#: 53 bits fill the fraction of a float.
UNIT = 2.0**-53


def stream(seed: int, name: str) -> int:
    """Return where the numbers of `name` begin: 64 bits of a digest, so that no two streams are alike."""
    return int.from_bytes(hashlib.sha256(f"{seed}:{name}".encode()).digest()[:8], "big")


def uniform(begin: int, count: int) -> float:
    """Return number `count` (0, 1, ...) of the stream that begins at `begin`: in [0, 1), 53 bits."""
    z = (begin + (count + 1) * GOLDEN) & MASK
    z = ((z ^ (z >> 30)) * FIRST) & MASK
    z = ((z ^ (z >> 27)) * SECOND) & MASK
    return ((z ^ (z >> 31)) >> 11) * UNIT


def triangular(span: Span, share: float) -> float:
    """Return the hours below which `share` of the triangular distribution of a span lies.

    Source: the inverse of its distribution function, with its mode at `likely`.
    """
    width, left = span.high - span.low, span.likely - span.low
    right = width - left
    if width <= 0:
        return span.low
    if share < left / width:
        return span.low + sqrt(share * (width * left))
    return span.high - sqrt((1.0 - share) * (width * right))
