"""The render example: POV-Ray knows nothing of lastro, and no frame is rendered twice."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import sys
import time
import zlib
from pathlib import Path

import pytest

from lastro.procs.killtree import end_tree
from tests.job.hand import ROOT

EXAMPLE = ROOT / "examples" / "render"
FRAMES = [f"{number:02}" for number in range(1, 13)]
ITEMS = [
    sys.executable,
    "-m",
    "lastro.cli",
    "items",
    "--from",
    "frames.txt",
    "--out",
    "frames/{id}.png",
    "--",
]
POVRAY = [
    "povray", "-GA", "Display=off", "Verbose=off", "+WT1", "+Iscene.pov", "+W96", "+H72",
    "Declare=Frame={id}", "Declare=Frames=12", "+O{path}",
]  # fmt: skip

pytestmark = pytest.mark.skipif(
    shutil.which("povray") is None and "CI" not in os.environ,
    reason="POV-Ray is not installed; `make system` brings it",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(EXAMPLE, tmp_path / "render", ignore=shutil.ignore_patterns("disk", "lastro-*"))
    return tmp_path / "render"


def pixels(png: Path) -> bytes:
    """Return what a PNG shows; raises for a file that was cut. Its other chunks hold the time of day."""
    data = png.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n"), png
    place, packed, kind = 8, b"", b""
    while kind != b"IEND":
        length, kind = struct.unpack_from(">I4s", data, place)
        packed += data[place + 8 : place + 8 + length] if kind == b"IDAT" else b""
        place += length + 12
    return zlib.decompress(packed)


def index(outputs: Path) -> list[str]:
    return [json.loads(line)["id"] for line in (outputs / "items.jsonl").read_text().splitlines()]


def test_by_hand_a_frame_that_was_cut_in_half_is_rendered_again_and_no_other(folder: Path) -> None:
    outputs = folder / "lastro-run" / "outputs"
    environment = {**os.environ, "MARK": str(folder)}
    job = subprocess.Popen([*ITEMS, *POVRAY], cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not (outputs / "items.jsonl").exists() or len(index(outputs)) < 4:
        assert time.monotonic() < deadline and job.poll() is None
        time.sleep(0.01)
    job.kill()
    job.wait()
    end_tree(("MARK", str(folder)))
    rendered = index(outputs)
    whole = pixels(outputs / "frames" / "02.png")
    before = {item: (outputs / "frames" / f"{item}.png").read_bytes() for item in rendered}
    os.truncate(outputs / "frames" / "02.png", len(before["02"]) // 2)

    done = subprocess.run(
        [*ITEMS, *POVRAY], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    assert "item 02 is done again" in done.stderr
    assert sorted(index(outputs)) == sorted([*FRAMES, "02"])
    assert pixels(outputs / "frames" / "02.png") == whole
    for item in set(rendered) - {"02"}:
        assert (outputs / "frames" / f"{item}.png").read_bytes() == before[item]
    assert sorted(path.name for path in (outputs / "frames").iterdir()) == [f"{item}.png" for item in FRAMES]
    assert len({pixels(path) for path in (outputs / "frames").iterdir()}) == 12


def test_as_a_campaign_a_machine_that_vanishes_costs_the_frame_in_hand(folder: Path, tmp_path: Path) -> None:
    programs = Path(sys.executable).parent
    environment = {
        **os.environ,
        "LASTRO_HOME": str(tmp_path / "home"),
        "PATH": os.pathsep.join([str(programs), os.environ["PATH"]]),
    }

    done = subprocess.run(
        [sys.executable, "-m", "lastro.cli", "run", "--faults", "faults.yaml", "--json"],
        cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=110,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
    run = json.loads(done.stdout)["runs"][0]
    first, last = run["attempts"]
    assert (run["status"], first["end"], last["end"]) == ("completed", "lost", "done")
    assert (first["lost_steps"], last["items_done"], last["items_total"]) == (1, 12, 12)
    outputs = next((folder / "disk" / "campaigns" / "render" / "runs").iterdir()) / "outputs"
    assert index(outputs) == FRAMES
    assert [len(pixels(outputs / "frames" / f"{item}.png")) for item in FRAMES] == [72 * (96 * 3 + 1)] * 12
    manifest = json.loads((folder / "disk" / "campaigns" / "render" / "close" / "manifest.json").read_text())
    listed = {entry["path"].rpartition("/")[2] for entry in manifest["files"]}
    assert {f"{item}.png" for item in FRAMES} | {"items.jsonl"} <= listed
