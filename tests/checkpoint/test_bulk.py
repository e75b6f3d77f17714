"""Files in slices, past the page cache: on a real file system, and on one that refuses that."""

from __future__ import annotations

import fcntl
import os
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
