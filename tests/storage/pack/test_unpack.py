from __future__ import annotations

import hashlib
import io
import tarfile
from pathlib import Path

import pytest

from lastro.errors import StorageError, UsageError
from lastro.storage.pack.checksum import CRC32, summer
from lastro.storage.pack.index import index_bytes
from lastro.storage.pack.layout import INDEX, NAMES, PackManifest, Row, Sealed, shard_name
from lastro.storage.pack.pack import pack
from lastro.storage.pack.unpack import unpack
from tests.storage.pack.trees import content, plant


def forge(folder: Path, members: list[tuple[str, bytes, bytes]]) -> None:
    """Make a pack, right in every sum, of what lastro would never pack: (name, type, content or target)."""
    folder.mkdir()
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, kind, data in members:
            info = tarfile.TarInfo(name)
            info.type = kind
            if kind == tarfile.REGTYPE:
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
            else:
                info.linkname = data.decode()
                tar.addfile(info)
    (folder / shard_name(0)).write_bytes(buffer.getvalue())
    buffer.seek(0)
    rows: list[Row] = []
    names = b""
    with tarfile.open(fileobj=buffer) as tar:
        for member, (name, _kind, data) in zip(tar, members, strict=True):
            if member.isreg():
                names += name.encode() + b"\0"
                rows.append(
                    Row(member.offset_data, member.size, summer(CRC32)(data), len(names), 0, len(rows))
                )
    index = index_bytes(rows, len(rows))
    (folder / INDEX).write_bytes(index)
    (folder / NAMES).write_bytes(names)

    def sealed(name: str) -> Sealed:
        data = (folder / name).read_bytes()
        return Sealed(name, len(data), hashlib.sha256(data).hexdigest())

    PackManifest(
        checksum=CRC32,
        files=len(rows),
        samples=len(rows),
        bytes=sum(row.size for row in rows),
        links=0,
        empty_folders=0,
        shards=(sealed(shard_name(0)),),
        index=sealed(INDEX),
        names=sealed(NAMES),
    ).write(folder)


FILE, LINK = tarfile.REGTYPE, tarfile.SYMTYPE


@pytest.mark.parametrize(
    "members",
    [
        [("../outside/file", FILE, b"bad")],
        [("/tmp/lastro-absolute", FILE, b"bad")],
        [("a/../../outside/file", FILE, b"bad")],
        [("link", LINK, b"../outside"), ("link/file", FILE, b"bad")],
        [("link", LINK, b"/etc/passwd")],
        [("hard", tarfile.LNKTYPE, b"../outside/secret")],
        [("device", tarfile.CHRTYPE, b"")],
        [("a/b/c", FILE, b"x"), ("a/b/up", LINK, b"../.."), ("out", LINK, b"a/b/up/../outside/secret")],
    ],
    ids=[
        "climbs",
        "absolute",
        "climbs later",
        "through a link",
        "absolute link",
        "hard link",
        "device",
        "chain",
    ],
)
def test_nothing_is_written_outside_whoever_made_the_shards(
    tmp_path: Path, members: list[tuple[str, bytes, bytes]]
) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_bytes(b"kept")
    forge(tmp_path / "packed", members)
    before = content(tmp_path)

    with pytest.raises(StorageError):
        unpack(tmp_path / "packed", tmp_path / "back")

    assert content(tmp_path) == before
    assert not Path("/tmp/lastro-absolute").exists()


def test_a_forged_pack_of_good_files_unpacks(tmp_path: Path) -> None:
    """The forger itself is right, or the test above could not fail for the reason that it names."""
    forge(tmp_path / "packed", [("a/file", FILE, b"good"), ("a/link", LINK, b"file")])

    unpack(tmp_path / "packed", tmp_path / "back")

    assert (tmp_path / "back" / "a" / "link").read_bytes() == b"good"


def test_two_names_that_are_one_on_the_target_are_told(tmp_path: Path) -> None:
    """The same name twice stands for a file system that folds case: the second finds the first there."""
    forge(tmp_path / "packed", [("Photo.jpg", FILE, b"1"), ("Photo.jpg", FILE, b"2")])

    with pytest.raises(StorageError, match="one with another name"):
        unpack(tmp_path / "packed", tmp_path / "back")

    assert not (tmp_path / "back").exists()


def test_what_is_there_is_not_written_over(tmp_path: Path) -> None:
    source = plant(tmp_path / "source", count=1)
    pack(source, tmp_path / "packed")
    before = content(source)

    with pytest.raises(UsageError, match="there already"):
        unpack(tmp_path / "packed", source)

    assert content(source) == before


def test_a_damaged_item_leaves_nothing_at_the_target(tmp_path: Path) -> None:
    source = plant(tmp_path / "source", count=5)
    pack(source, tmp_path / "packed")
    shard = tmp_path / "packed" / shard_name(0)
    data = bytearray(shard.read_bytes())
    content_at = data.index((source / "1" / "0001.jpg").read_bytes())
    data[content_at + 5] ^= 1
    shard.write_bytes(data)

    with pytest.raises(StorageError, match=r"1/0001\.jpg"):
        unpack(tmp_path / "packed", tmp_path / "back")

    assert not (tmp_path / "back").exists()
