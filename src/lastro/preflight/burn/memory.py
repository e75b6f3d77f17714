"""Memory that does not hold what was written: patterns over nearly all of it, read back after that."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

_WORD = 8
_CHUNK_WORDS = 8 * 2**20
#: Each bit is once 0 and once 1, beside equal and beside other neighbours; the last pattern is a word's own
#: number, which shows an address line that reaches the wrong cell.
PATTERNS: tuple[tuple[str, int | None], ...] = (
    ("0101", 0x5555555555555555),
    ("1010", -0x5555555555555556),
    ("0000", 0),
    ("1111", -1),
    ("addresses", None),
)


def check_memory(
    torch: Any, device: str, size: int, seconds: float, *, back: Callable[[Any], Any] = lambda chunk: chunk
) -> dict[str, Any]:
    """Write each pattern into `size` bytes of a device, then read all of it.

    Args:
        torch: the library.
        device: as torch names it.
        size: bytes; as much as can be had of it is taken.
        seconds: after so long no further pattern is begun.
        back: what reads a chunk back.

    Returns:
        `bytes`, `patterns` (those that were done), `wrong` (words) and the `first` wrong one.
    """
    chunks = list(_allocate(torch, device, size))
    deadline = time.monotonic() + seconds
    done: list[str] = []
    found: dict[str, Any] = {"bytes": sum(len(one) for one in chunks) * _WORD, "wrong": 0, "first": None}
    for name, value in PATTERNS:
        if done and time.monotonic() > deadline:
            break
        for number, chunk in enumerate(chunks):
            chunk.copy_(_expected(torch, chunk, value, number))
        for number, chunk in enumerate(chunks):
            _compare(torch, name, number, (back(chunk), _expected(torch, chunk, value, number)), found)
        done.append(name)
    return {**found, "patterns": done}


def _allocate(torch: Any, device: str, size: int) -> Iterator[Any]:
    left = size // _WORD
    while left > 0:
        try:
            yield torch.empty(min(left, _CHUNK_WORDS), dtype=torch.int64, device=device)
        except RuntimeError:  # no more to be had: what there is is looked at
            return
        left -= _CHUNK_WORDS


def _expected(torch: Any, chunk: Any, value: int | None, number: int) -> Any:
    if value is None:
        first = number * _CHUNK_WORDS
        return torch.arange(first, first + len(chunk), dtype=torch.int64, device=chunk.device)
    return torch.full_like(chunk, value)


def _compare(torch: Any, pattern: str, number: int, pair: tuple[Any, Any], found: dict[str, Any]) -> None:
    got, expected = pair
    wrong = got != expected
    count = int(wrong.sum())
    if not count:
        return
    found["wrong"] += count
    if found["first"] is None:
        word = int(wrong.nonzero()[0])
        found["first"] = {
            "pattern": pattern,
            "byte": (number * _CHUNK_WORDS + word) * _WORD,
            "expected": _hex(int(expected[word])),
            "found": _hex(int(got[word])),
        }


def _hex(word: int) -> str:
    return f"{word & 0xFFFFFFFFFFFFFFFF:016x}"
