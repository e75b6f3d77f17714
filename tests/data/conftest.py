from __future__ import annotations

from pathlib import Path

import pytest

from lastro.storage.pack.pack import pack


@pytest.fixture(scope="session")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pack of 103 samples of two files each, in several shards."""
    folder = tmp_path_factory.mktemp("corpus")
    for number in range(103):
        path = folder / "source" / f"{number % 7}" / f"{number:03d}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"%d" % number * 50)
        path.with_suffix(".cls").write_bytes(b"%d" % number)
    return pack(folder / "source", folder / "packed", shard_bytes=30_000, workers=1).folder
