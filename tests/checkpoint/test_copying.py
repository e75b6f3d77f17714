"""Bytes that lie anywhere in memory come to their places in another one, whichever thread takes them."""

from __future__ import annotations

import ctypes
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastro.checkpoint import copying
from lastro.checkpoint.copying import Piece, copy


def pieces_of(source: bytearray, sizes: list[int], gap: int) -> list[Piece]:
    """Cut a source into pieces that follow each other there, with gaps between them in the target."""
    start = ctypes.addressof(ctypes.c_char.from_buffer(source))
    pieces: list[Piece] = []
    done = 0
    for size in sizes:
        pieces.append(Piece(start + done, size, done + gap * len(pieces)))
        done += size
    return pieces


@given(
    sizes=st.lists(st.integers(1, 300), max_size=20), gap=st.integers(0, 5), most=st.sampled_from([7, 10**9])
)
def test_every_byte_comes_to_its_place_and_nothing_between(sizes: list[int], gap: int, most: int) -> None:
    """Cut into pieces of 7 bytes too, and by three threads, as if these were many."""
    source = bytearray(os.urandom(sum(sizes) + 1))
    target = bytearray(b"\xee" * (sum(sizes) + gap * (len(sizes) + 1)))
    expected, done = bytearray(target), 0
    pieces = pieces_of(source, sizes, gap)
    for piece in pieces:
        expected[piece.offset : piece.offset + piece.size] = source[done : done + piece.size]
        done += piece.size

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(copying, "_PIECE", most)
        patch.setattr(copying, "_threads", lambda _size: 3)
        copy(pieces, memoryview(target))

    assert target == expected


def test_little_is_copied_by_this_thread_and_never_by_more_than_there_are_processors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """16 MiB are worth a thread: 40 MiB are two of them, 4 GiB four where there are so many processors."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: range(16))

    assert [copying._threads(size << 20) for size in (0, 31, 40, 4096)] == [1, 1, 2, 4]

    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: range(1))
    assert copying._threads(4096 << 20) == 1
