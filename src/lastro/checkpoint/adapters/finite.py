"""Whether bytes of numbers hold NaN or an infinity: by their exponents, for every floating type alike.

Both have all exponent bits set and nothing else has, so without its sign such a number is, as an integer, at
least the pattern of infinity. The work is done in pieces that stay in the processor's cache, by one thread
that holds no lock of the interpreter: it happens beside training.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_PIECE = 1 << 18

#: Element type in safetensors -> integer of the same width, all bits but the sign, least pattern that is no
#: number. The float8 type without infinities has one NaN, with every bit set.
_PATTERNS: dict[str, tuple[Any, int, int]] = {
    "F64": (np.uint64, 0x7FFF_FFFF_FFFF_FFFF, 0x7FF0_0000_0000_0000),
    "F32": (np.uint32, 0x7FFF_FFFF, 0x7F80_0000),
    "C64": (np.uint32, 0x7FFF_FFFF, 0x7F80_0000),
    "F16": (np.uint16, 0x7FFF, 0x7C00),
    "BF16": (np.uint16, 0x7FFF, 0x7F80),
    "F8_E5M2": (np.uint8, 0x7F, 0x7C),
    "F8_E4M3": (np.uint8, 0x7F, 0x7F),
}
#: Types of a byte without infinities and without a negative zero: its place is that of their only NaN.
_ONE_NAN = {"F8_E4M3FNUZ": 0x80, "F8_E5M2FNUZ": 0x80}


def is_finite(memory: memoryview, dtype: str) -> bool:
    """Tell whether every number is finite. Integers and truth values always are.

    Args:
        memory: whole elements, aligned as their type asks.
        dtype: its name in the safetensors format.
    """
    if dtype in _ONE_NAN:
        return not _has_byte(memory, _ONE_NAN[dtype])
    if dtype not in _PATTERNS or not len(memory):
        return True
    kind, no_sign, infinity = _PATTERNS[dtype]
    numbers = np.frombuffer(memory, dtype=kind)
    piece = _PIECE // numbers.itemsize
    plain = np.empty(min(piece, len(numbers)), dtype=kind)
    for start in range(0, len(numbers), piece):
        part = numbers[start : start + piece]
        without_sign = np.bitwise_and(part, kind(no_sign), out=plain[: len(part)])
        if without_sign.max() >= infinity:
            return False
    return True


def _has_byte(memory: memoryview, byte: int) -> bool:
    numbers = np.frombuffer(memory, dtype=np.uint8)
    return any((numbers[start : start + _PIECE] == byte).any() for start in range(0, len(numbers), _PIECE))
