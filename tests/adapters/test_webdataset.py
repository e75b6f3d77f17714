"""The shards of a pack are what WebDataset reads, by itself, without anything of lastro."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import webdataset

from lastro.data import PackedDataset
from lastro.storage.pack.pack import pack


def plant(root: Path) -> None:
    """Make samples of an image and a class, in folders, some without one of them, some names not ASCII."""
    chance = random.Random(3)
    for number in range(200):
        folder = root / f"{number % 7}"
        folder.mkdir(parents=True, exist_ok=True)
        name = f"{number:04d}" if number % 20 else f"café {number}"
        (folder / f"{name}.jpg").write_bytes(chance.randbytes(chance.randrange(3000)))
        if number % 11:
            (folder / f"{name}.cls").write_bytes(b"%d" % (number % 7))
        if number % 13 == 0:
            (folder / f"{name}.seg.png").write_bytes(chance.randbytes(700))


@pytest.mark.parametrize("shuffled", [False, True])
def test_webdataset_reads_every_sample_of_a_pack_to_the_byte(tmp_path: Path, shuffled: bool) -> None:
    plant(tmp_path / "source")
    folder = pack(tmp_path / "source", tmp_path / "packed", shard_bytes=60_000, workers=2).folder
    shards = sorted(map(str, folder.glob("shard-*.tar")))
    ours = {sample.pop("__key__"): sample for sample in PackedDataset(folder)}

    feed = webdataset.WebDataset(shards, shardshuffle=len(shards) if shuffled else False)
    theirs = {}
    for sample in feed.shuffle(50) if shuffled else feed:
        key = sample.pop("__key__")
        assert key not in theirs
        theirs[key] = {name: data for name, data in sample.items() if not name.startswith("__")}

    assert len(shards) > 3
    assert len(theirs) == 200
    assert theirs == ours
    assert shuffled or list(theirs) == list(ours)
