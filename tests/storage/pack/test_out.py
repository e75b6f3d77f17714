"""An archive holds the same bytes whichever way they go to the disk."""

from __future__ import annotations

import errno
import hashlib
import os
import random
from pathlib import Path

import pytest
import xxhash

from lastro.storage.pack.out import Out

MIB = 2**20
#: Around the ends of blocks and of the buffer of 4 MiB.
SIZES = (0, 1, 4095, 4096, 4097, 3 * MIB, 4 * MIB - 1, 4 * MIB, 9 * MIB + 5, 17)


def write(path: Path, folder: Path) -> tuple[bytes, str]:
    """Write files of all sizes, with some bytes between them; return what it has to be, and its SHA-256."""
    chance, whole = random.Random(1), b""
    out = Out(path, "xxh3_64")
    for number, size in enumerate(SIZES):
        data = chance.randbytes(size)
        (folder / str(number)).write_bytes(data)
        out.put(b"head")
        assert out.position == len(whole) + 4
        descriptor = os.open(folder / str(number), os.O_RDONLY)
        assert out.put_file(descriptor, size) == (size, xxhash.xxh3_64_intdigest(data))
        os.close(descriptor)
        whole += b"head" + data
    sha256 = out.finish()
    out.close()
    assert out.position == len(whole)
    return whole, sha256


@pytest.mark.parametrize("way", ["direct", "no flag", "refused at opening", "refused at writing"])
def test_every_size_is_written_and_summed_whichever_way_it_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    opened, written, refused = os.open, os.write, []

    def refuse_opening(path: object, flags: int, *rest: int, **more: int) -> int:
        if flags & os.O_DIRECT:
            refused.append(way)
            raise OSError(errno.EINVAL, "no direct writes here")
        return opened(path, flags, *rest, **more)  # type: ignore[arg-type]

    def refuse_writing(descriptor: int, piece: bytes) -> int:
        if not refused:
            refused.append(way)
            raise OSError(errno.EINVAL, "no direct writes here")
        return written(descriptor, piece)

    if way == "no flag":
        monkeypatch.delattr(os, "O_DIRECT")
    elif way == "refused at opening":
        monkeypatch.setattr(os, "open", refuse_opening)
    elif way == "refused at writing":
        monkeypatch.setattr(os, "write", refuse_writing)

    whole, sha256 = write(tmp_path / "out", tmp_path)

    assert (tmp_path / "out").read_bytes() == whole
    assert sha256 == hashlib.sha256(whole).hexdigest()
    assert refused == ([way] if way.startswith("refused") else [])


def test_a_full_disk_is_an_error_and_no_other_way_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_descriptor: int, _piece: bytes) -> int:
        raise OSError(errno.ENOSPC, "full")

    out = Out(tmp_path / "out", "crc32")
    out.put(bytes(5000))
    monkeypatch.setattr(os, "write", full)

    with pytest.raises(OSError, match="full"):
        out.finish()
    out.close()
