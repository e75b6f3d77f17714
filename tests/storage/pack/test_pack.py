from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import numpy as np
import pytest

from lastro.errors import StorageError, UsageError
from lastro.storage.pack.layout import MANIFEST, WORK, PackManifest
from lastro.storage.pack.pack import pack
from lastro.storage.pack.source import remove_source
from lastro.storage.pack.unpack import unpack
from lastro.storage.pack.verify import verify_pack
from tests.storage.pack.trees import content, plant, plant_awkward


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_what_comes_back_is_what_was_packed_whatever_its_name(tmp_path: Path) -> None:
    source = plant_awkward(plant(tmp_path / "source"))

    pack(source, tmp_path / "packed", shard_bytes=50_000)
    unpack(tmp_path / "packed", tmp_path / "back")

    assert content(tmp_path / "back") == content(source)
    assert os.access(tmp_path / "back" / "run.sh", os.X_OK)


def test_tar_lists_every_file_and_gives_its_content(tmp_path: Path) -> None:
    source = plant_awkward(plant(tmp_path / "source"))
    packed = pack(source, tmp_path / "packed", shard_bytes=50_000)

    (tmp_path / "back").mkdir()
    for shard in packed.manifest.shards:
        command = ["tar", "xf", str(tmp_path / "packed" / shard.name), "-C", str(tmp_path / "back")]
        subprocess.run(command, check=True, capture_output=True)

    assert len(packed.manifest.shards) > 1
    assert content(tmp_path / "back") == content(source)


def test_pythons_tarfile_reads_the_same_names(tmp_path: Path) -> None:
    source = plant_awkward(tmp_path / "source")
    packed = pack(source, tmp_path / "packed")

    with tarfile.open(tmp_path / "packed" / packed.manifest.shards[0].name) as tar:
        names = {os.fsencode(member.name) for member in tar}

    assert names == set(content(source))


def test_the_index_opens_as_an_array_of_numpy(tmp_path: Path) -> None:
    source = plant(tmp_path / "source")
    pack(source, tmp_path / "packed", shard_bytes=50_000)

    rows = np.load(tmp_path / "packed" / "index.npy", mmap_mode="r")
    names = (tmp_path / "packed" / "names").read_bytes().split(b"\0")[:-1]

    row = rows[names.index(b"1/0001.jpg")]
    with (tmp_path / "packed" / f"shard-{row['shard']:06d}.tar").open("rb") as shard:
        shard.seek(int(row["offset"]))
        assert shard.read(int(row["size"])) == (source / "1" / "0001.jpg").read_bytes()


def test_the_same_tree_gives_the_same_bytes_with_any_number_of_workers(tmp_path: Path) -> None:
    source = plant_awkward(plant(tmp_path / "source"))
    os.utime(source / "0" / "0000.jpg", (1, 1))

    pack(source, tmp_path / "one", shard_bytes=20_000, workers=1)
    os.utime(source / "0" / "0000.jpg", (2, 2))
    pack(source, tmp_path / "three", shard_bytes=20_000, workers=3)

    assert bytes_of(tmp_path / "one") == bytes_of(tmp_path / "three")


def test_files_of_one_sample_lie_in_one_shard(tmp_path: Path) -> None:
    plant(tmp_path / "source")

    packed = pack(tmp_path / "source", tmp_path / "packed", shard_bytes=3_000)

    rows = np.load(tmp_path / "packed" / "index.npy")
    assert packed.manifest.samples == 40
    assert all(len(set(rows["shard"][rows["sample"] == sample])) == 1 for sample in range(40))


def test_a_pack_that_was_killed_goes_on_and_ends_the_same(tmp_path: Path) -> None:
    """Killed when the first shards are whole: these are kept, the rest is made, the bytes are equal."""
    source = plant(tmp_path / "source", count=1500)
    program = (
        "from pathlib import Path\nfrom lastro.storage.pack.pack import pack\n"
        f"pack(Path({str(source)!r}), Path({str(tmp_path / 'killed')!r}), shard_bytes=30_000, workers=1)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program])
    work = tmp_path / "killed" / WORK
    deadline = time.monotonic() + 60
    while not (work.is_dir() and len(list(work.iterdir())) >= 3) and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (tmp_path / "killed" / MANIFEST).exists()

    again = pack(source, tmp_path / "killed", shard_bytes=30_000, workers=2)
    whole = pack(source, tmp_path / "whole", shard_bytes=30_000, workers=2)

    assert 3 <= again.kept < len(again.manifest.shards)
    assert whole.kept == 0
    assert bytes_of(tmp_path / "killed") == bytes_of(tmp_path / "whole")


def test_a_file_that_changed_since_the_kill_is_packed_anew(tmp_path: Path) -> None:
    source = plant(tmp_path / "source")
    pack(source, tmp_path / "packed", shard_bytes=20_000)
    (source / "0" / "0000.jpg").write_bytes(b"new")

    pack(source, tmp_path / "packed", shard_bytes=20_000)
    unpack(tmp_path / "packed", tmp_path / "back")

    assert content(tmp_path / "back") == content(source)


def test_what_cannot_be_packed_is_told_and_stays(tmp_path: Path) -> None:
    source = plant(tmp_path / "source", count=2)
    (tmp_path / "outside").write_bytes(b"x")
    (source / "leaves").symlink_to("../outside")
    os.mkfifo(source / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(source / "sock"))
        packed = pack(source, tmp_path / "packed")

    removed = remove_source(source, tmp_path / "packed")

    assert [one["path"] for one in packed.manifest.left_out] == ["leaves", "pipe", "sock"]
    assert sorted(removed.kept) == ["leaves", "pipe", "sock"]
    assert removed.files == 4
    assert {path.name for path in source.iterdir()} == {"leaves", "pipe", "sock"}
    assert (tmp_path / "outside").read_bytes() == b"x"


def test_a_source_goes_only_as_far_as_the_pack_holds_it(tmp_path: Path) -> None:
    source = plant(tmp_path / "source")
    pack(source, tmp_path / "packed")
    (source / "0" / "0000.jpg").write_bytes(b"changed")
    (source / "new").write_bytes(b"came later")

    removed = remove_source(source, tmp_path / "packed")

    assert set(removed.kept) == {"0/0000.jpg", "new"}
    assert content(source) == {b"0/0000.jpg": b"changed", b"new": b"came later"}


def test_a_source_that_is_packed_whole_goes_whole(tmp_path: Path) -> None:
    source = plant_awkward(tmp_path / "source")
    pack(source, tmp_path / "packed")

    assert remove_source(source, tmp_path / "packed").kept == ()

    assert not source.exists()


def test_a_sparse_file_is_packed_as_what_it_reads_as(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    with (source / "sparse").open("wb") as file:
        file.truncate(20 * 2**20)
        file.write(b"head")

    packed = pack(source, tmp_path / "packed")
    unpack(tmp_path / "packed", tmp_path / "back")

    assert packed.holes >= 19 * 2**20
    assert (tmp_path / "back" / "sparse").read_bytes() == (source / "sparse").read_bytes()


def test_a_file_that_changes_while_it_is_packed_ends_it(tmp_path: Path) -> None:
    """The file is read as it was told by the tree, and the tree was read before it grew."""
    from lastro.storage.pack.shard import write_shard
    from lastro.storage.pack.tree import read_tree

    source = plant(tmp_path / "source", count=1)
    tree = read_tree(source)
    (source / "0" / "0000.jpg").write_bytes(b"longer" * 1000)

    with pytest.raises(StorageError, match=r"0/0000\.jpg changed while"):
        write_shard(source, tree.entries, tmp_path / "shard.tar", "crc32", lambda _count: None)

    assert [path.name for path in tmp_path.iterdir()] == ["source"]


def test_an_empty_folder_makes_an_empty_pack(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()

    packed = pack(tmp_path / "source", tmp_path / "packed")
    unpack(tmp_path / "packed", tmp_path / "back")

    assert packed.manifest.files == 0
    assert list((tmp_path / "back").iterdir()) == []


@pytest.mark.parametrize(
    "place", ["file", "missing", "inside", "around", "same", "other", "target is a file"]
)
def test_a_place_that_cannot_be_is_told_and_nothing_is_touched(tmp_path: Path, place: str) -> None:
    source = plant(tmp_path / "source", count=2)
    (tmp_path / "file").write_bytes(b"x")
    other = plant(tmp_path / "other", count=1)
    before = content(tmp_path)
    places = {
        "file": (tmp_path / "file", tmp_path / "packed"),
        "missing": (tmp_path / "nowhere", tmp_path / "packed"),
        "inside": (source, source / "packed"),
        "around": (source, tmp_path),
        "same": (source, source),
        "other": (source, other),
        "target is a file": (source, tmp_path / "file"),
    }

    with pytest.raises((UsageError, StorageError)):
        pack(*places[place])

    assert content(tmp_path) == before


@pytest.mark.parametrize("part", ["shard-000000.tar", "shard-000001.tar", "index.npy", "names"])
def test_a_flipped_byte_is_found_wherever_it_lies(tmp_path: Path, part: str) -> None:
    plant(tmp_path / "source")
    pack(tmp_path / "source", tmp_path / "packed", shard_bytes=50_000)
    path = tmp_path / "packed" / part
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)

    assert part in " ".join(verify_pack(tmp_path / "packed").wrong)


def test_an_index_of_other_shards_is_told(tmp_path: Path) -> None:
    plant(tmp_path / "source", seed=1)
    plant(tmp_path / "second", seed=2)
    pack(tmp_path / "source", tmp_path / "packed")
    pack(tmp_path / "second", tmp_path / "others")
    for name in ("index.npy", "names", MANIFEST):
        (tmp_path / "packed" / name).write_bytes((tmp_path / "others" / name).read_bytes())

    assert verify_pack(tmp_path / "packed").wrong
    with pytest.raises(StorageError):
        unpack(tmp_path / "packed", tmp_path / "back")
    assert not (tmp_path / "back").exists()


def test_a_manifest_that_was_changed_is_not_believed(tmp_path: Path) -> None:
    plant(tmp_path / "source", count=1)
    pack(tmp_path / "source", tmp_path / "packed")
    path = tmp_path / "packed" / MANIFEST
    path.write_text(
        path.read_text().replace('"files": 2', '"files": 3').replace('"sha256": "', '"sha256": "0')
    )

    with pytest.raises(StorageError, match="not the manifest"):
        PackManifest.read(tmp_path / "packed")
