"""Files in slices, past the page cache: on a real file system, and on one that refuses that."""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path

import pytest

from lastro.checkpoint import bulk
from lastro.checkpoint.arena import Arena

SIZES = (0, 1, 4095, 4096, 4097, 3 * 4096 + 11)


def _memory(size: int) -> memoryview:
    memory = Arena().reserve(size)
    memory[:] = os.urandom(size)
    return memory


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("slice_bytes", [4096, 1 << 24])
@pytest.mark.parametrize("direct", [True, False])
def test_what_is_written_is_read_from_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, slice_bytes: int, direct: bool
) -> None:
    monkeypatch.setattr(bulk, "SLICE", slice_bytes)
    if not direct:
        monkeypatch.setattr(bulk, "_DIRECT", 0)
    memory, heeded = _memory(size), []

    bulk.write(tmp_path / "file", memory, lambda piece: heeded.append(bytes(piece)))

    assert (tmp_path / "file").read_bytes() == bytes(memory) == b"".join(heeded)
    assert b"".join(bytes(piece) for piece in bulk.from_disk(tmp_path / "file")) == bytes(memory)


def test_a_file_system_without_direct_transfers_takes_the_way_through_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some refuse to open a file for them, others refuse the transfer itself: both say EINVAL."""
    memory = _memory(10_000)
    real_open, real_write = os.open, os.pwrite

    def refuse_open(path: Path, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_DIRECT:
            raise OSError(22, "Invalid argument")
        return real_open(path, flags, mode)

    def refuse_write(descriptor: int, data: memoryview, offset: int) -> int:
        if fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_DIRECT:
            raise OSError(22, "Invalid argument")
        return real_write(descriptor, data, offset)

    for name, refuse in (("open", refuse_open), ("pwrite", refuse_write)):
        with monkeypatch.context() as refusing:
            refusing.setattr(os, name, refuse)
            bulk.write(tmp_path / name, memory, len)
        assert (tmp_path / name).read_bytes() == bytes(memory)


def test_an_error_of_the_disk_is_not_taken_for_a_refusal(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(FileExistsError):
        bulk.write(tmp_path / "file", _memory(10), len)
    with pytest.raises(FileNotFoundError):
        bulk.write(tmp_path / "gone" / "file", _memory(10), len)


@pytest.mark.parametrize("size", [*SIZES, 9 * 4096])
@pytest.mark.parametrize("way", ["past the cache", "from the cache", "no direct transfers"])
def test_a_reader_gives_every_byte_once_and_heeds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, way: str
) -> None:
    """Pieces of odd sizes, out of slices of one block: more slices than are read ahead."""
    monkeypatch.setattr(bulk, "SLICE", 4096)
    if way == "no direct transfers":
        monkeypatch.setattr(bulk, "_DIRECT", 0)
    if way == "past the cache":
        monkeypatch.setattr(bulk, "_is_cached", lambda _descriptor, _size: False)
    memory, heeded, found = _memory(size), [], bytearray(size)
    bulk.write(tmp_path / "file", memory, len)
    if way == "from the cache":
        assert (tmp_path / "file").read_bytes() == bytes(memory)

    with bulk.Reader(tmp_path / "file", lambda piece: heeded.append(bytes(piece))) as reader:
        assert reader.size == size
        for start in range(0, size, 1001):
            reader.into(memoryview(found)[start : start + 1001])
        with pytest.raises(EOFError):
            reader.into(memoryview(bytearray(1)))

    assert bytes(found) == b"".join(heeded) == bytes(memory)


def test_a_reader_that_is_left_early_leaves_no_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "SLICE", 4096)
    (tmp_path / "file").write_bytes(bytes(100 * 4096))
    before = threading.active_count()

    with bulk.Reader(tmp_path / "file", len) as reader:
        assert reader.bytes(8) == bytes(8)

    assert threading.active_count() == before


def test_what_the_disk_says_in_the_middle_reaches_who_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "SLICE", 4096)
    (tmp_path / "file").write_bytes(bytes(10 * 4096))
    real = bulk._read

    def broken(descriptor: int, buffer: memoryview, offset: int) -> int:
        if offset >= 5 * 4096:
            raise OSError(5, "Input/output error")
        return real(descriptor, buffer, offset)

    monkeypatch.setattr(bulk, "_read", broken)

    with bulk.Reader(tmp_path / "file", len) as reader, pytest.raises(OSError, match="Input/output error"):
        reader.into(memoryview(bytearray(10 * 4096)))


def test_a_file_that_is_cached_is_known_by_its_beginning_middle_and_end(tmp_path: Path) -> None:
    path = tmp_path / "file"
    bulk.write(path, _memory(64 * 4096), len)
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        cold = bulk._is_cached(file.fileno(), 64 * 4096)
        file.read()
        warm = bulk._is_cached(file.fileno(), 64 * 4096)

    assert (cold, warm) in {(False, True), (False, False)}  # some file systems do not tell
