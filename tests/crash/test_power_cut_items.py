"""A power cut while items are published: what the index lists is there, and what was announced is listed."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lastro.errors import StorageError
from lastro.storage.digest import digest_of
from tests.crash.power_cut import TRACER, Call, Disk, parse_calls
from tests.job.hand import ROOT

ITEMS = 3 + 6 + 12
OUTPUTS = Path("runs/r1/outputs")

pytestmark = pytest.mark.skipif(
    shutil.which("strace") is None and "CI" not in os.environ, reason="needs strace (`make system`)"
)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[Call]]:
    place = tmp_path_factory.mktemp("recorded")
    root, trace = place / "disk", place / "trace"
    root.mkdir()
    done = subprocess.run(
        [*TRACER, "-o", str(trace), sys.executable, "-m", "tests.crash.announcing_items", str(root)],
        cwd=ROOT, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    return str(root), list(parse_calls(trace.read_text()))


def _listed(image: Path) -> int:
    """Return how many items the index lists; each of them has to be there, whole."""
    index = image / OUTPUTS / "items.jsonl"
    lines = index.read_bytes().split(b"\n")[:-1] if index.exists() else []
    count = 0
    for line in lines:
        try:
            told = json.loads(line)
        except ValueError:
            continue  # a line that the cut has left without its middle counts for nothing
        assert digest_of(image / OUTPUTS / told["path"]) == told["sha256"], told["path"]
        count += 1
    return count


def _walk(calls: list[Call], disk: Disk, tmp_path: Path, leave_out: str = "") -> int:
    promised, images = -1, 0
    draw = random.Random(2)
    for call in calls:
        if call.name == leave_out:
            continue
        disk.apply(call)
        if call.descriptor == 1 and call.data.startswith(b"ANNOUNCED items "):
            promised = int(call.data.split()[2])
        if promised < 0 or call.name == "close":
            continue
        for chance, share in ((None, 0.0), (draw, 0.5), (draw, 0.8)):
            image = tmp_path / "image"
            image.mkdir()
            disk.image(image, chance, share)
            assert _listed(image) >= promised, f"{call.name} {call.paths} {share}"
            shutil.rmtree(image)
            images += 1
    assert promised == ITEMS
    return images


def test_after_a_power_cut_at_any_call_every_item_that_is_listed_is_whole(
    recorded: tuple[str, list[Call]], tmp_path: Path
) -> None:
    root, calls = recorded

    assert _walk(calls, Disk(root), tmp_path) > 200


@pytest.mark.parametrize("left_out", ["fsync", "syncfs"])
def test_without_its_syncs_an_item_would_be_listed_and_not_be_there(
    recorded: tuple[str, list[Call]], tmp_path: Path, left_out: str
) -> None:
    root, calls = recorded
    if all(call.name != left_out for call in calls):
        pytest.skip("this file system is not known to heed syncfs, so each file was synced by itself")

    with pytest.raises((AssertionError, StorageError)):
        _walk(calls, Disk(root), tmp_path, left_out)
