"""A power cut at any moment: in every disk that it may leave, what was announced as durable is there."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from lastro.checkpoint import store
from lastro.journal.streams import read_stream
from tests.crash.announcing import CHECKPOINTS
from tests.crash.power_cut import TRACER, Call, Disk, parse_calls

pytestmark = pytest.mark.skipif(
    shutil.which("strace") is None and "CI" not in os.environ, reason="needs strace (`make system`)"
)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[Call]]:
    """Return the folder in which everything was done once, and the calls by which it was done."""
    place = tmp_path_factory.mktemp("recorded")
    root, trace = place / "disk", place / "trace"
    root.mkdir()
    script = Path(__file__).with_name("announcing.py")
    done = subprocess.run(
        [*TRACER, "-o", str(trace), sys.executable, str(script), str(root)], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return str(root), list(parse_calls(trace.read_text()))


def _announced(call: Call) -> tuple[str, int] | None:
    if call.descriptor == 1 and call.data.startswith(b"ANNOUNCED "):
        _word, what, value = call.data.split()
        return what.decode(), int(value)
    return None


def _assert_kept(image: Path, promised: Mapping[str, int], where: str) -> None:
    """Check one disk against what was announced before the cut."""
    if "stream" in promised:
        reading = read_stream(image / "journal" / "r-1.jsonl")
        assert reading.head.seq >= promised["stream"], where
    if "checkpoint" in promised:
        found = store.latest(image / "runs" / "r" / "checkpoints")
        assert found.manifest is not None, f"{where}: {found.passed_over}"
        assert found.manifest.step >= promised["checkpoint"], f"{where}: {found.passed_over}"
    if "file" in promised:
        version = int((image / "order.json").read_text().split()[1])
        assert version >= promised["file"], where
    for number in range(1, promised.get("claim", 0) + 1):
        assert (image / f"{number}.json").read_bytes() == b"mine", where


def test_everything_was_recorded(recorded: tuple[str, list[Call]], tmp_path: Path) -> None:
    """The model is only worth something if the disk that it computes is the real one when nothing is cut."""
    root, calls = recorded
    disk = Disk(root)
    for call in calls:
        disk.apply(call)
    disk.image(tmp_path, None, 1.0)

    def files(folder: Path) -> dict[str, bytes]:
        return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}

    assert files(tmp_path) == files(Path(root))
    assert sum(_announced(call) is not None for call in calls) == 4 * CHECKPOINTS


def test_after_a_power_cut_at_any_call_everything_announced_is_there(
    recorded: tuple[str, list[Call]], tmp_path: Path
) -> None:
    root, calls = recorded
    disk = Disk(root)
    promised: dict[str, int] = {}
    draw = random.Random(1)
    images = 0
    for index, call in enumerate(calls):
        disk.apply(call)
        told = _announced(call)
        if told is not None:
            promised[told[0]] = told[1]
        if not promised or call.name == "close":
            continue
        for chance, share in ((None, 0.0), (None, 1.0), (draw, 0.3), (draw, 0.7)):
            image = tmp_path / "image"
            image.mkdir()
            disk.image(image, chance, share)
            _assert_kept(image, promised, f"cut after call {index} ({call.name} {call.paths}), {share}")
            shutil.rmtree(image)
            images += 1

    assert images > 400


@pytest.mark.parametrize("left_out", ["file", "folder"])
def test_without_its_fsync_the_same_sequence_would_lose_what_it_announced(
    recorded: tuple[str, list[Call]], tmp_path: Path, left_out: str
) -> None:
    """The model can see: leave out the fsyncs of files, or of folders, and an announced thing is missing."""
    root, calls = recorded
    folders = {path for call in calls for path in call.paths if "O_DIRECTORY" in call.flags}
    disk, promised = Disk(root), dict[str, int]()
    opened: dict[int, bool] = {}
    with pytest.raises((AssertionError, FileNotFoundError, IndexError, ValueError)):
        for call in calls:
            if call.name == "openat" and call.descriptor is not None:
                opened[call.descriptor] = call.paths[0] in folders
            is_folder = opened.get(call.descriptor or -1, False)
            if call.name == "fsync" and is_folder == (left_out == "folder"):
                continue
            disk.apply(call)
            told = _announced(call)
            if told is not None:
                promised[told[0]] = told[1]
                image = tmp_path / str(len(list(tmp_path.iterdir())))
                image.mkdir()
                disk.image(image, None, 0.0)
                _assert_kept(image, promised, "cut")
